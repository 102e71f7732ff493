"""A rival as a strategy: its package runs in a process that is killed if it takes too long or too much memory.

Run as a module, this is the process: JSON lines in and out, and a time limit that holds whatever the package does.
"""

from __future__ import annotations

import atexit
import faulthandler
import math
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np

from edhie.bench.methods import Method, problem_symbols
from edhie.bench.own_methods import Answering
from edhie.bench.problem import BenchmarkProblem
from edhie.bench.problem_files import ProblemError
from edhie.bench.rivals import Question
from edhie.errors import EdhieError, MissingExtraError, SearchError, UnavailableError
from edhie.expr import SymbolLibrary
from edhie.processes import ask_process, end_process, kill, killed_after, serve, start_process
from edhie.safe_text import printable
from edhie.search.base import Budget
from edhie.search.strategies import imported
from edhie.worker_processes import ONE_THREAD

LIMIT = 600.0
"""Time limit in seconds of a run whose settings have none."""
GRACE = 10.0
"""Seconds that a package may take beyond its time limit; then its process is killed."""
PREPARATION = 3600.0
"""Seconds that training a package's model, or installing its parts, may take."""
MEMORY = 8 << 30
"""Memory limit of its process in bytes; enforced on Linux."""
ENDING = 2.0  # seconds to wait for the exit code of a process that closed its output
LONGEST = 300  # characters of a reason
PREPARE = "prepare_"
"""Prefix of a function in the rival's module that prepares what all of its runs share, such as a model."""
PACKAGES = "PACKAGES"
"""Name of a tuple in the rival's module: what is imported before its first run."""

_here = threading.local()  # the process of this thread: it serves one run after another


class RivalError(ProblemError, UnavailableError):
    """A rival's package is installed but cannot be used, for example since it has no Julia."""


class Rival(Answering):
    """A strategy of one step: ask another package, and score its formula; a failure is recorded, not raised."""

    name: ClassVar[str] = "rival"

    def __init__(self, method: Method, library: SymbolLibrary) -> None:
        super().__init__(self._formula)
        self._method, self._library = method, library
        self.seconds: float | None = None
        """Seconds that the package took, without its import."""
        self.reason = ""
        """Why there is no formula with finite values; empty if there is one."""

    def step(self, rng: np.random.Generator) -> bool:
        """Ask the package and score its formula."""
        self.reason, self.seconds = "", None
        try:
            super().step(rng)
            if not math.isfinite(self.error):
                self.reason = "its formula has no finite value in some row"
        except EdhieError as error:
            self.reason = printable(" ".join(str(error).split())[:LONGEST])
        return False

    def _formula(self, X: Any, y: Any, budget: Budget, rng: np.random.Generator) -> Any:  # noqa: N803
        question = _message(
            self._method, self._library, X=X.tolist(), y=y.tolist(), budget=budget, seed=self._task.seed
        )
        limit = LIMIT if budget.seconds is None else budget.seconds
        answer = _process_of(self._method, self._library).ask(question, limit + GRACE)
        self.seconds = answer["seconds"]
        return answer["formula"], answer["evaluated"]


def check_installed(method: Method) -> None:
    """Raise an error if a rival's package is missing."""
    if method.package and find_spec(method.package) is None:
        name = method.name if method.name == method.package else f"{method.name} ({method.package})"
        raise MissingExtraError(name, "peers")


def prepare_rival(method: Method, problems: Iterable[BenchmarkProblem]) -> None:
    """Import a rival's package in a process, and prepare what its runs share; raise an error if that fails."""
    check_installed(method)
    try:
        for library in dict.fromkeys(map(problem_symbols, problems)):
            _process_of(method, library)
    except SearchError as error:
        raise RivalError(f"{method.name} cannot be run here: {printable(str(error))}") from error
    finally:
        kept: Process | None = vars(_here).pop("process", None)
        if kept is not None:  # the runs have processes of their own
            kept.end()


def _message(method: Method, library: SymbolLibrary, **question: Any) -> dict[str, Any]:
    symbols = tuple(each.name for each in library.symbols if each.arity)
    asked = Question(symbols=symbols, has_constants=library.constant is not None, **question)
    return {"rival": method.strategy, "is_preparation": False, "question": asdict(asked)}


def _process_of(method: Method, library: SymbolLibrary) -> Process:
    """Return the process of this thread for a rival, with its package imported and its model, if any, trained.

    A new process is started if the last was killed, or belongs to another rival.
    """
    kept: Process | None = getattr(_here, "process", None)
    if kept is None or kept.rival != method.strategy or not kept.is_alive:
        if kept is not None:
            kept.end()
        kept = _here.process = Process(method.strategy)
    if library not in kept.prepared_for:
        question = _message(method, library, X=[[1.0] * len(library.variables)], y=[1.0], budget=Budget(), seed=0)
        kept.ask(question | {"is_preparation": True}, PREPARATION)
        kept.prepared_for.append(library)
    return kept


class Process:
    """A child process that runs one rival."""

    def __init__(self, rival: str) -> None:
        self.rival = rival
        self.prepared_for: list[SymbolLibrary] = []
        self._process = start_process("edhie.bench.rivals.isolated", ONE_THREAD, is_group=True)
        atexit.register(self.end)

    @property
    def is_alive(self) -> bool:
        """False once the process has ended."""
        return self._process.poll() is None

    def end(self) -> None:
        """End the process, even in the middle of a run."""
        atexit.unregister(self.end)
        if self.is_alive:
            kill(self._process, is_group=True)
        end_process(self._process)

    def ask(self, question: dict[str, Any], limit: float) -> dict[str, Any]:
        """Return the answer to a question; raise an error if there is none within `limit` seconds."""
        with killed_after(limit, self._process, memory=MEMORY, is_group=True) as reasons:
            answer = ask_process(self._process, question | {"limit": limit + GRACE})
        if answer is None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(ENDING)
            kill(self._process, is_group=True)
            raise SearchError(reasons[0] if reasons else _ended(self._process.wait()))
        if "error" in answer:
            raise SearchError(answer["error"])
        return answer


def _ended(code: int) -> str:
    """Return how a process ended, in words."""
    if code >= 0:
        return f"its process ended with code {code}"
    known = {each.value: each.name for each in signal.Signals}  # real-time signals have no names
    return f"its process crashed ({known.get(-code, f'signal {-code}')})"


# -- in the process -----------------------------------------------------------------------


def _answered(message: dict[str, Any]) -> dict[str, Any]:
    """Return a rival's formula, its evaluations and its seconds, or the error that it raised."""
    # ends the process even if the package holds the GIL
    faulthandler.dump_traceback_later(message["limit"], exit=True, file=sys.stderr)
    warnings.simplefilter("ignore")
    try:
        fit = imported(message["rival"])
        question = Question.from_json(message["question"])
        if message["is_preparation"]:
            fit.__globals__.get(f"{PREPARE}{fit.__name__}", lambda question: None)(question)
            for package in fit.__globals__.get(PACKAGES, ()):
                import_module(package)
            return {}
        began = time.perf_counter()
        with np.errstate(all="ignore"):
            found = fit(question)
        seconds = time.perf_counter() - began
        if not (isinstance(found, tuple) and len(found) == 2 and isinstance(found[0], str)):
            return {"error": f"its answer is {found!r}, not a formula and a number of evaluations"}
        return {"formula": found[0], "evaluated": None if found[1] is None else int(found[1]), "seconds": seconds}
    except MemoryError:
        return {"error": "there is too little memory for it"}
    except BaseException as error:  # packages in other languages raise more than Exception
        return {"error": f"{type(error).__name__}: {error}"}
    finally:
        faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    serve(_answered)
