"""A search in the reduced variables of a symmetry; its results are written as expressions for the target itself.

Symmetries depend only on the data and the seed, so they are detected in a worker process, if the search may use another
core, and the search continues until it needs them. A thread would not help, because it and the search would share one
global interpreter lock.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from edhie.evaluate.data import Data
from edhie.evaluate.parallel import thread_count
from edhie.evaluate.values import values
from edhie.expr import Expr, Forest, SymbolLibrary
from edhie.processes import submit
from edhie.search.arrays import LARGEST_VALUE, read, written
from edhie.search.base import State, Strategy, Task
from edhie.search.mosaic.config import Symmetry
from edhie.search.mosaic.symmetry.symmetries import Reduction, Tokens, find_reduction, may_be_reduced
from edhie.search.within import SearchWithin


class ReducedSearch:
    """A search for the target divided by its scale, as a function of derived variables."""

    def __init__(self, task: Task, reduction: Reduction, search: Strategy, data: Data) -> None:
        """`data` are the reduced data, and `search` is the strategy to use on them."""
        self._library, self._reduction = task.evaluator.library, reduction
        own = self._library.with_variables(self._library.variables[: len(reduction.variables)])
        self._within = SearchWithin(task, search, own, data, loss=task.evaluator.loss)

    @classmethod
    def of(cls, task: Task, reduction: Reduction, search: Strategy) -> ReducedSearch | None:
        """Return a reduced search on all rows of a task; None if the reduced data overflow or are not finite."""
        data = _reduced_data(task, reduction)
        largest = np.maximum(np.abs(data.columns).max(), np.abs(data.y).max())  # NaN if one of them is
        return cls(task, reduction, search, data) if largest < LARGEST_VALUE else None

    @property
    def is_over(self) -> bool:
        """True once the search has ended."""
        return self._within.is_over

    def step(self, rng: np.random.Generator) -> list[Expr]:
        """Do one round; return the best new expressions, written for the target itself."""
        return [self._written(each) for each in self._within.step(rng, Symmetry.WRITTEN)]

    def _written(self, expr: Expr) -> Expr:
        """Return an expression of the derived variables as one for the target."""
        derived = dict(zip(expr.library.variables, self._reduction.variables, strict=True))
        tokens = tuple(t for token in expr.tokens for t in derived.get(token, (token,)))
        for factor, power in self._reduction.scale:
            for _ in range(abs(power)):
                tokens = ("*" if power > 0 else "/", *tokens, *factor)
        return Expr(self._library, tokens, expr.constants)

    # -- checkpoints ----------------------------------------------------------------------

    def state(self) -> State:
        """Return the reduction and its search as arrays."""
        text = json.dumps([self._reduction.variables, self._reduction.scale])
        return written({"text": text, "within": self._within})

    @classmethod
    def restored(cls, task: Task, search: Strategy, state: State) -> ReducedSearch:
        """Return a reduced search restored from a snapshot."""
        variables, scale = json.loads(str(state["text"]))
        reduction = Reduction(tuple(map(tuple, variables)), tuple((tuple(each), power) for each, power in scale))
        found = cls(task, reduction, search, _reduced_data(task, reduction))
        read(found._within, "within", state)
        return found


def _reduced_data(task: Task, reduction: Reduction) -> Data:
    """Return data with the derived variables as columns, and the target divided by its scale."""
    data, library = task.evaluator.data, task.evaluator.library

    def computed(each: Sequence[Tokens]) -> Any:
        return values(Forest.from_exprs([Expr(library, tokens) for tokens in each], library), data.columns)

    with np.errstate(all="ignore"):  # `of` rejects values that are not finite
        scale = np.ones(data.n_rows)
        if reduction.scale:
            factors = computed([tokens for tokens, _ in reduction.scale])
            scale = np.prod([each**power for each, (_, power) in zip(factors, reduction.scale, strict=True)], axis=0)
        names = data.names[: len(reduction.variables)]
        columns = np.ascontiguousarray(computed(reduction.variables))
        return replace(data.with_target(data.y / scale, divided_by=scale), columns=columns, names=names)


# -- detection of symmetries -----------------------------------------------------------

WORKER = -1  # islands use workers from 0


def begin_reduction(data: Data, library: SymbolLibrary, seed: int) -> Callable[[], Reduction | None]:
    """Start `find_reduction`, and return a function that waits for its result.

    Without a free core, or where the worker fails, that function runs `find_reduction` itself.
    """

    def find_here() -> Reduction | None:
        return find_reduction(data, library, np.random.default_rng(seed))

    if thread_count() == 1 or not may_be_reduced(data, library):
        return find_here
    try:
        future = submit(WORKER, find_reduction, data, library, np.random.default_rng(seed))
    except Exception:  # the limit of processes is reached, or this one may not start any
        return find_here

    def wait() -> Reduction | None:
        try:
            found: Reduction | None = future.result()
        except Exception:  # the worker was killed, or a user's functions cannot be sent to it
            return find_here()
        return found

    return wait
