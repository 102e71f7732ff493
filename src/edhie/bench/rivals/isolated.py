"""A rival as a function of the data: its package runs in a process that is killed if it takes too long, or much memory.

Run as a module, this is the process: JSON lines in and out, and a time limit that holds whatever the package does.
"""

from __future__ import annotations

import atexit
import faulthandler
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict
from importlib.util import find_spec
from typing import Any

import numpy as np

from edhie.bench.methods import Method, problem_symbols
from edhie.bench.problem import BenchmarkProblem
from edhie.bench.problem_files import ProblemError
from edhie.bench.rivals import Question
from edhie.errors import MissingExtraError, SearchError, UnavailableError
from edhie.expr import SymbolLibrary
from edhie.processes import ONE_THREAD, ask_process, end_process, kill, killed_after, serve, start_process
from edhie.safe_text import printable
from edhie.search.base import Budget
from edhie.search.strategies import imported

LIMIT = 600.0
"""Time limit in seconds of a run whose settings have none."""
GRACE = 10.0
"""Seconds that a package may take beyond its time limit; then its process is killed."""
PREPARATION = 3600.0
"""Seconds that training a package's model, or installing its parts, may take."""
MEMORY = 8 << 30
"""Memory limit of its process in bytes; enforced on Linux."""
ENDING = 2.0  # seconds to wait for the exit code of a process that closed its output
PREPARE = "prepare_"
"""Prefix of a function in the rival's module: it imports the package, and prepares what all runs share."""

_here = threading.local()  # the process of this thread: it serves one run after another


class RivalError(ProblemError, UnavailableError):
    """A rival's package is installed but cannot be used, for example since it has no Julia."""


def asking(method: Method, library: SymbolLibrary, seed: int) -> Callable[..., tuple[str, int | None, float]]:
    """Return a function of the data that asks another package: for a formula, its evaluations and its seconds."""

    def ask(X: Any, y: Any, budget: Budget, rng: object) -> tuple[str, int | None, float]:  # noqa: N803
        question = _message(method, library, X=X.tolist(), y=y.tolist(), budget=budget, seed=seed)
        limit = LIMIT if budget.seconds is None else budget.seconds
        answer = _process_of(method, library).ask(question, limit + GRACE)
        return answer["formula"], answer["evaluated"], answer["seconds"]

    return ask


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
