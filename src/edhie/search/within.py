"""A search within a search: another strategy on data that were derived from those of the task."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from edhie.evaluate.data import Data
from edhie.evaluate.evaluator import Evaluator
from edhie.evaluate.losses import DEFAULT_LOSS, Loss
from edhie.expr import Forest, SymbolLibrary
from edhie.results.candidates import front_of
from edhie.search.arrays import Kept
from edhie.search.base import Strategy, Task


class SearchWithin(Kept):
    """A strategy on derived data, which spends the evaluations of the task."""

    KEPT = ("is_over", "_n_seen", "_evaluator", "_search")

    def __init__(
        self, task: Task, search: Strategy, library: SymbolLibrary, data: Data, *, loss: str | Loss = DEFAULT_LOSS
    ) -> None:
        """`library` has the variables of the data."""
        self._task, self._search, self._n_seen = task, search, 0
        constants = task.evaluator.constants
        self._evaluator = Evaluator(library, data, loss=loss, constants=constants, allow_constant_target=True)
        self.is_over = False
        """True once the search has ended."""
        search.begin(replace(task, evaluator=self._evaluator))

    def step(self, rng: np.random.Generator, most: int) -> Forest:
        """Do one round; return the best new expressions, at most `most`, the smallest error first."""
        before, remaining = self._evaluator.counts, self._task.evaluator.remaining
        with self._evaluator.limited(None if math.isinf(remaining) else before.executed + int(remaining)):
            self.is_over = not self._search.step(rng)
        more = self._evaluator.counts - before
        self._task.evaluator.spend(more.executed)
        self._task.tally.add(screened=more.screened, refits=more.refits, undecodable=more.undecodable)
        explored = self._evaluator.explored
        front = front_of(explored.errors, explored.complexities)
        new = front[explored.ages[front] >= self._n_seen]
        self._n_seen = explored.n_seen
        return explored.take(new[::-1][:most])
