"""The first search on a machine compiles; with more than one core, several processes share that work.

Compiled code is cached on disk, so any process may compile it. Run as a module, this compiles the
given parts.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import numpy as np

from edhie.evaluate import Data, Evaluator, fit_constants, read_data
from edhie.evaluate.parallel import core_count
from edhie.expr import Forest, SymbolLibrary, parse
from edhie.expr.standard_libraries import feynman
from edhie.fit.settings import Settings
from edhie.generators import Generator, load
from edhie.search import Budget, Strategy, run

BUDGET = Budget(evaluations=600)  # enough for each part of a search to have been there once
ROWS = 32
TEXTS = ("c*x0 + c", "x0*exp(c*x0)", "sin(x0)/(x0 + c)")
_warm: set[tuple[str, str]] = set()  # searches and generators that this process has warmed up


def warm_up(generator: Generator, library: SymbolLibrary, strategy: str | Strategy) -> None:
    """Run a small search on random numbers, so that compiling does not count as search time.

    A process does this once for each search and kind of generator.
    """
    from edhie.expr.jit import note_compiled  # loads numba

    kinds = strategy if isinstance(strategy, str) else strategy.name, type(generator).__name__
    if kinds in _warm:
        return
    helpers = _helpers()
    try:
        noise = np.random.default_rng(0).uniform(1, 2, (ROWS, len(library.variables) + 1))
        evaluator = Evaluator(library, noise[:, :-1], noise[:, -1])
        if run(generator, evaluator, strategy=strategy, budget=BUDGET).stopped == "interrupted":
            raise KeyboardInterrupt
        note_compiled()
        _warm.add(kinds)
    finally:
        for each in helpers:
            each.terminate()
            each.wait()


def warm_up_if_timed(
    settings: Settings, generator: Generator, library: SymbolLibrary, strategy: str | Strategy
) -> None:
    """Compile first if the fit has a time limit, or nothing has been compiled on this machine yet."""
    from edhie.expr.jit import is_compiled  # loads numba

    if settings.max_time is not None or not is_compiled():
        warm_up(generator, library, strategy)


def _helpers() -> list[subprocess.Popen[bytes]]:
    """Start processes that compile what this one needs later; none if all is compiled or there is one core."""
    from edhie.expr.jit import is_compiled  # loads numba

    count = min(core_count(), 3) - 1
    if is_compiled() or count < 1 or not sys.executable:
        return []
    shares = [list(PARTS)[k::count] for k in range(count)]
    command = [sys.executable, "-m", "edhie.fit.warm_up"]
    try:
        nowhere = subprocess.DEVNULL
        return [subprocess.Popen([*command, *share], stdout=nowhere, stderr=nowhere) for share in shares]
    except OSError:  # then this process compiles alone
        return []


def _fitting() -> None:
    fit_constants(*_forest_and_data())


def _generator() -> None:
    model = load("general-1")
    rng = np.random.default_rng(0)
    mean, _ = model.encode(model.sample(20, rng))
    model.decode(mean)


def _scoring() -> None:
    forest, data = _forest_and_data()
    Evaluator(forest.library, data).score(forest)


PARTS: dict[str, Callable[[], None]] = {"fitting": _fitting, "generator": _generator, "scoring": _scoring}
"""Parts that take long to compile; those that a search needs last come first."""


def _forest_and_data() -> tuple[Forest, Data]:
    noise = np.random.default_rng(0).uniform(1, 2, (ROWS, 2))
    library = feynman(1)
    data = read_data(noise[:, :1], noise[:, 1], names=library.variables)
    return Forest.from_exprs([parse(text, library) for text in TEXTS]), data


if __name__ == "__main__":
    for part in sys.argv[1:]:
        PARTS[part]()
