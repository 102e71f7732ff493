"""A search in the reduced variables of a symmetry; its results are written as expressions for the target itself.

Symmetries depend only on the data and the seed, so they are detected in a worker process, if the search may use another
core, and the search continues until it needs them. A thread would not help, because it and the search would share one
global interpreter lock.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from edhie.evaluate.data import Data
from edhie.evaluate.evaluator import Evaluator
from edhie.evaluate.parallel import thread_count
from edhie.evaluate.values import values
from edhie.expr import Expr, Forest, SymbolLibrary
from edhie.processes import submit
from edhie.search.arrays import LARGEST_VALUE, Indices, under, written
from edhie.search.base import State, Strategy, Task
from edhie.search.mosaic.config import Symmetry
from edhie.search.mosaic.symmetry.symmetries import Reduction, Tokens, find_reduction, may_be_reduced


class ReducedSearch:
    """A search for the target divided by its scale, as a function of derived variables."""

    def __init__(self, task: Task, reduction: Reduction, search: Strategy, data: Data) -> None:
        """`data` are the reduced data, and `search` is the strategy to use on them."""
        self._task, self._reduction, self._search = task, reduction, search
        library, self._n_seen = task.evaluator.library, 0
        self._evaluator = Evaluator(
            library.with_variables(library.variables[: len(reduction.variables)]), data, loss=task.evaluator.loss,
            constants=task.evaluator.constants, allow_constant_target=True,
        )  # fmt: skip
        self.is_over = False
        """True once the search has ended."""
        search.begin(replace(task, evaluator=self._evaluator))

    @classmethod
    def of(cls, task: Task, reduction: Reduction, search: Strategy) -> ReducedSearch | None:
        """Return a reduced search on all rows of a task; None if the reduced data overflow or are not finite."""
        data = _reduced_data(task, reduction)
        largest = np.maximum(np.abs(data.columns).max(), np.abs(data.y).max())  # NaN if one of them is
        return cls(task, reduction, search, data) if largest < LARGEST_VALUE else None

    def step(self, rng: np.random.Generator) -> list[Expr]:
        """Do one round; return the best new expressions, written for the target itself."""
        before, remaining = self._evaluator.counts, self._task.evaluator.remaining
        with self._evaluator.limited(None if math.isinf(remaining) else before.executed + int(remaining)):
            self.is_over = not self._search.step(rng)
        more = self._evaluator.counts - before
        self._task.evaluator.spend(more.executed)
        self._task.tally.add(screened=more.screened, refits=more.refits, undecodable=more.undecodable)
        return [self._written(each) for each in self._evaluator.explored.take(self._best_new())]

    def _best_new(self) -> Indices:
        """Return the indices of new expressions on the Pareto front of size and error, the smallest error first."""
        explored = self._evaluator.explored
        order = np.lexsort((explored.ages, explored.errors, explored.complexities))
        least = np.minimum.accumulate(explored.errors[order])
        is_better = np.isfinite(least) & (least < np.concatenate([[np.inf], least[:-1]]))
        front = order[is_better]
        new = front[explored.ages[front] >= self._n_seen]
        self._n_seen = explored.n_seen
        return new[::-1][: Symmetry.WRITTEN]

    def _written(self, expr: Expr) -> Expr:
        """Return an expression of the derived variables as one for the target."""
        derived = dict(zip(expr.library.variables, self._reduction.variables, strict=True))
        tokens = tuple(t for token in expr.tokens for t in derived.get(token, (token,)))
        for factor, power in self._reduction.scale:
            for _ in range(abs(power)):
                tokens = ("*" if power > 0 else "/", *tokens, *factor)
        return Expr(self._task.evaluator.library, tokens, expr.constants)

    # -- checkpoints ----------------------------------------------------------------------

    def state(self) -> State:
        """Return the reduction and its search as arrays."""
        text = json.dumps([self._reduction.variables, self._reduction.scale])
        own = {"text": text, "over": self.is_over, "seen": self._n_seen}
        return written({**own, "search": self._search, "scored": self._evaluator})

    @classmethod
    def restored(cls, task: Task, search: Strategy, state: State) -> ReducedSearch:
        """Return a reduced search restored from a snapshot."""
        variables, scale = json.loads(str(state["text"]))
        reduction = Reduction(tuple(map(tuple, variables)), tuple((tuple(each), power) for each, power in scale))
        found = cls(task, reduction, search, _reduced_data(task, reduction))
        found._evaluator.restore(under("scored.", state))
        search.restore(under("search.", state))
        found._n_seen, found.is_over = int(state["seen"]), bool(state["over"])
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
