"""The best revisions so far, each with its distance from the given formula."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from edhie.events import RevisedFormula
from edhie.expr import Forest, SymbolLibrary
from edhie.results.candidates import front_of
from edhie.search.arrays import Indices, Mask, Numbers

CLEARLY = 10.0  # bits by which a description has to be shorter: odds of a thousand to one
STAGES = 4  # of edits: see `Edits`
LATER = 10.0  # bits added to an expression's rank for each stage of its edits that was tried


@dataclass(frozen=True, eq=False)
class Revisions:
    """Expressions with their errors, distances and stages, some of which are revised further."""

    n_rows: int
    bits_per_edit: float
    forest: Forest
    errors: Numbers
    distances: Indices
    stages: Indices
    """By expression: the number of stages of its edits that were tried."""

    @classmethod
    def empty(cls, library: SymbolLibrary, n_rows: int, bits_per_edit: float) -> Revisions:
        """Return revisions without expressions."""
        none = np.zeros(0, np.int64)
        return cls(n_rows, bits_per_edit, Forest.from_exprs([], library), np.zeros(0), none, none)

    def __len__(self) -> int:
        return len(self.errors)

    @property
    def front(self) -> Indices:
        """The indices of the Pareto front of distance and error, the nearest first."""
        return front_of(self.errors, self.distances)

    @property
    def bits(self) -> Numbers:
        """The description length of each: of its edits, and of the residuals."""
        left = np.log2(np.maximum(self.errors, np.finfo(np.float64).tiny))
        return np.asarray(self.n_rows * left + self.bits_per_edit * self.distances, np.float64)

    def listed(self) -> tuple[RevisedFormula, ...]:
        """Return the front for progress reports; the nearest one whose description is not clearly longer is chosen."""
        front = self.front
        bits = self.bits[front]
        chosen = int(np.argmax(bits - CLEARLY <= bits.min())) if len(front) else 0
        return tuple(
            RevisedFormula(self.forest[k], float(self.errors[k]), int(self.distances[k]), place == chosen)
            for place, k in enumerate(front.tolist())
        )

    def with_more(self, forest: Forest, errors: Numbers, distances: Indices) -> Revisions:
        """Return these revisions and others, whose edits were not tried."""
        return replace(
            self,
            forest=Forest.concatenate([self.forest, forest]),
            errors=np.concatenate([self.errors, errors]),
            distances=np.concatenate([self.distances, distances]),
            stages=np.concatenate([self.stages, np.zeros(len(errors), np.int64)]),
        )

    def best(self, count: int) -> Revisions:
        """Return the front, then those with the shortest descriptions, up to `count` in all."""
        order, front = np.argsort(self.bits, kind="stable"), self.front
        others = order[~np.isin(order, front)][: max(0, count - len(front))]
        k = np.sort(np.concatenate([front, others]))
        errors, distances, stages = self.errors[k], self.distances[k], self.stages[k]
        return replace(self, forest=self.forest.take(k), errors=errors, distances=distances, stages=stages)

    def next(self, *, by_bits: bool) -> int | None:
        """Return the index of the expression to be edited next; None if all edits of all were tried.

        With `by_bits`, that is the one with the shortest description, with a penalty on stages tried; otherwise the
        member of the front with the fewest stages tried, the nearest first.
        """
        waiting = np.flatnonzero(self.stages < STAGES)
        front = self.front[self.stages[self.front] < STAGES]
        if len(waiting) == 0:
            return None
        if len(front) and not by_bits:
            return int(front[np.lexsort((self.distances[front], self.stages[front]))[0]])
        urgency = self.bits + LATER * self.stages
        return int(waiting[np.argmin(urgency[waiting])])

    def would_stay(self, errors: Numbers, distances: Indices, count: int) -> Mask:
        """Return, by expression, whether `best` may keep it, given lower bounds of the distances."""
        if len(self) < count:
            return np.ones(len(errors), np.bool_)
        new, front = replace(self, errors=errors, distances=distances).bits, self.front
        rivals = np.append(np.inf, self.errors[front])[np.searchsorted(self.distances[front], distances, side="right")]
        return np.asarray((errors < rivals) | (new < self.bits.max()), np.bool_)

    def tried(self, k: int) -> Revisions:
        """Return the same revisions, with one more stage of expression `k` tried."""
        stages = self.stages.copy()
        stages[k] += 1
        return replace(self, stages=stages)
