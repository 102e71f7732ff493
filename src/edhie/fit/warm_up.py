"""Compilation before the first search on a machine; with more than one core, several processes share the work.

Compiled code is cached on disk, so any process can compile it. Run as a module, this file compiles the
parts that are given as arguments.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from subprocess import DEVNULL

import numpy as np

from edhie.evaluate import Data, Evaluator, fit_constants, read_data, squared_errors, values
from edhie.evaluate.counting import KeyTable
from edhie.evaluate.parallel import core_count
from edhie.expr import Forest, SymbolLibrary, parse
from edhie.expr.canonical import canonical
from edhie.expr.splicing import Stock
from edhie.expr.standard_libraries import feynman
from edhie.fit.settings import Settings
from edhie.generators import Generator, load
from edhie.processes import command_of, import_path
from edhie.search import Budget, Strategy, run
from edhie.selection.description import Criterion, description_bits
from edhie.selection.prior.structure_prior import StructurePrior

BUDGET = Budget(evaluations=600)  # enough for every part of a search to run once
ROWS = 32
TEXTS = ("c*x0 + c", "x0*exp(c*x0)", "sin(x0)/(x0 + c)")
_warm: set[tuple[str, str]] = set()  # searches and generators that this process has warmed up


def warm_up(generator: Generator, library: SymbolLibrary, strategy: str | Strategy) -> None:
    """Run a small search on random numbers, so that compiling does not count as search time.

    A process does this once for each search and kind of generator.
    """
    from edhie.expr.jit import is_compiled, note_compiled, say_compiling  # loads numba

    kinds = strategy if isinstance(strategy, str) else strategy.name, type(generator).__name__
    if kinds in _warm:
        return
    if not is_compiled():
        say_compiling()
        compile_parts(core_count())
    noise = np.random.default_rng(0).uniform(1, 2, (ROWS, len(library.variables) + 1))
    evaluator = Evaluator(library, noise[:, :-1], noise[:, -1])
    with _no_collection():
        if run(generator, evaluator, strategy=strategy, budget=BUDGET).stopped == "interrupted":
            raise KeyboardInterrupt
    note_compiled()
    _warm.add(kinds)


def warm_up_if_timed(
    settings: Settings, generator: Generator, library: SymbolLibrary, strategy: str | Strategy
) -> None:
    """Compile first if the fit has a time limit, or nothing has been compiled on this machine yet."""
    from edhie.expr.jit import is_compiled  # loads numba

    if settings.max_time is not None or not is_compiled():
        warm_up(generator, library, strategy)


def compile_parts(processes: int) -> None:
    """Compile the parts that take longest, in at most this many processes, including the current one."""
    from edhie.expr.jit import can_keep  # loads numba

    own, *others = SHARES[min(processes, max(SHARES)) if sys.executable and can_keep() else 1]
    command = command_of("edhie.fit.warm_up")
    helpers: list[subprocess.Popen[bytes]] = []
    try:
        for share in others:
            with suppress(OSError):  # then the search compiles that share
                helpers.append(subprocess.Popen([*command, *share], stdout=DEVNULL, stderr=DEVNULL, env=import_path()))
        _compile(own)
        for each in helpers:
            each.wait()
    finally:
        for each in helpers:
            each.terminate()
            each.wait()


def _compile(parts: Iterable[str]) -> None:
    with _no_collection():
        for part in parts:
            PARTS[part]()


@contextmanager
def _no_collection() -> Iterator[None]:
    """Disable the garbage collector, which takes an eighth of the time of compiling and frees little."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _generator() -> None:
    model = load("general-1")
    rng = np.random.default_rng(0)
    mean, _ = model.encode(model.sample(20, rng))
    model.decode(mean)


def _search() -> None:
    """Compile what only a search uses."""
    from edhie.search.mosaic.screening.pair_kernels import best_pairs_of, best_with_one_of_few

    forest, _ = _forest_and_data()
    table, keys = KeyTable(form=-1), np.arange(4, dtype=np.uint64).reshape(2, 2)
    table.add(keys)
    table.find(keys)
    stock = Stock(forest)
    stock.join([stock.trees(np.arange(len(forest)))])
    square, row = np.eye(ROWS), np.ones(ROWS)
    best_pairs_of(square, row, 1)
    best_with_one_of_few(row, row, row, square, row, row, 1)


def _scoring() -> None:
    forest, data = _forest_and_data("x0*x0", "sin(x0)")
    squared_errors(forest, data)
    values(forest, data.columns)


PARTS: dict[str, Callable[[], object]] = {
    "generator": _generator,
    "trees": lambda: canonical(_forest_and_data()[0]).unique(),
    "prior": lambda: StructurePrior.shipped().bits(_forest_and_data()[0]),
    "fitting": lambda: fit_constants(*_forest_and_data()),
    "scoring": _scoring,
    "search": _search,
    "description": lambda: description_bits(*_forest_and_data("x0*x0", "sin(x0)"), Criterion(StructurePrior.shipped())),
}
SHARES: dict[int, tuple[tuple[str, ...], ...]] = {
    1: (("generator", "trees", "prior", "fitting", "scoring", "search", "description"),),
    2: (("generator", "trees", "prior", "description"), ("fitting", "scoring", "search")),
    3: (("trees", "description"), ("fitting",), ("generator", "prior", "scoring", "search")),
}
"""Parts that each process compiles, by number of processes. Description uses what fitting compiles, so it is last."""


def _forest_and_data(*texts: str) -> tuple[Forest, Data]:
    noise = np.random.default_rng(0).uniform(1, 2, (ROWS, 2))
    library = feynman(1)
    data = read_data(noise[:, :1], noise[:, 1], names=library.variables)
    return Forest.from_exprs([parse(text, library) for text in texts or TEXTS]), data


if __name__ == "__main__":
    _compile(sys.argv[1:])
    os._exit(0)  # at once: a normal exit takes a second to free the compiler's data, and the search waits
