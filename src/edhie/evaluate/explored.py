"""`Explored`: every expression that an evaluator has scored, in bounded memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edhie.errors import ExpressionError
from edhie.evaluate.growing import GrowingArray, GrowingForest
from edhie.expr import Forest, SymbolLibrary

Numbers = NDArray[np.float64]
Indices = NDArray[np.int64]
FORGOTTEN_AT_ONCE = 4  # a quarter of the capacity, so that it happens rarely

ExploredMark = tuple[int, GrowingForest, tuple[GrowingArray, ...]]
"""A moment that `Explored.undo` can go back to."""


class Explored:
    """Scored expressions in the order in which they came; the oldest and worst go first when there are too many.

    An expression's place is what `add` returned for it; `forget` renumbers places.
    """

    capacity = 1_000_000
    """The number of expressions that are kept at most."""

    def __init__(self, library: SymbolLibrary) -> None:
        self.library = library
        self.n_seen = 0
        """The number of expressions ever added, those forgotten included."""
        self._clear()

    def _clear(self) -> None:
        self._trees = GrowingForest(self.library)
        self._errors, self._complexities = GrowingArray(np.float64), GrowingArray(np.float64)
        self._ages, self._executed_at = GrowingArray(np.int64), GrowingArray(np.int64)

    def __len__(self) -> int:
        return len(self._trees)

    def add(self, forest: Forest, errors: Numbers, complexities: NDArray[Any], executed_at: Indices) -> Indices:
        """Keep scored expressions; return their places."""
        first = len(self)
        ages = np.arange(self.n_seen, self.n_seen + len(forest))
        self._append(forest, errors, complexities, ages, executed_at)
        self.n_seen += len(forest)
        return np.arange(first, len(self))

    def _append(
        self, forest: Forest, errors: Numbers, complexities: NDArray[Any], ages: Indices, executed_at: Indices
    ) -> None:
        self._trees.append(forest)
        self._errors.append(errors)
        self._complexities.append(complexities)
        self._ages.append(ages)
        self._executed_at.append(executed_at)

    @property
    def forest(self) -> Forest:
        """The expressions, with their constants."""
        return self._trees.forest

    def take(self, places: Indices) -> Forest:
        """Return the expressions at these places."""
        return self._trees.take(places)

    @property
    def errors(self) -> Numbers:
        """Error at each place; infinite without finite predictions, and where a bound cut the expression short."""
        return self._errors.array

    @property
    def complexities(self) -> Numbers:
        """Complexity at each place."""
        return self._complexities.array

    @property
    def ages(self) -> Indices:
        """Number of expressions added before that at each place."""
        return self._ages.array

    @property
    def executed_at(self) -> Indices:
        """Number of distinct expressions executed when the error at each place became known, itself included."""
        return self._executed_at.array

    @property
    def n_forgotten(self) -> int:
        """The number of expressions that were forgotten."""
        return self.n_seen - len(self)

    def forget(self) -> Indices | None:
        """Drop the worst of the older half if there are too many expressions, but never the best of all.

        Return the new place for each old one, or -1; None if nothing is dropped.
        """
        count = len(self)
        if count <= self.capacity:
            return None
        surplus = max(count - self.capacity, self.capacity // FORGOTTEN_AT_ONCE)
        older = max(count // 2, surplus + 1)
        worst_first = np.lexsort((self.ages[:older], -self.errors[:older]))
        keep = np.ones(count, np.bool_)
        keep[worst_first[:surplus]] = False
        kept = self.take(np.flatnonzero(keep))
        rows = self.errors[keep], self.complexities[keep], self.ages[keep], self.executed_at[keep]
        self._clear()
        self._append(kept, *rows)
        return np.where(keep, np.cumsum(keep) - 1, -1)

    def mark(self) -> ExploredMark:
        """Return this moment, for `undo`; it costs next to nothing."""
        rows = self._errors, self._complexities, self._ages, self._executed_at
        return self.n_seen, self._trees.copied(), tuple(row.copied() for row in rows)

    def undo(self, mark: ExploredMark) -> None:
        """Go back to the mark."""
        self.n_seen, trees, rows = mark
        self._trees = trees.copied()
        self._errors, self._complexities, self._ages, self._executed_at = (row.copied() for row in rows)

    # -- as arrays ------------------------------------------------------------------------

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the state as arrays, which stay unchanged when more is added."""
        forest = self.forest
        return {
            "tokens": forest.tokens,
            "offsets": forest.offsets,
            "values": forest.values,
            "errors": self.errors,
            "complexities": self.complexities,
            "ages": self.ages,
            "executed_at": self.executed_at,
            "n_seen": np.array(self.n_seen),
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Replace the state by that which `state` returned."""
        forest = Forest.checked(self.library, state["tokens"], state["offsets"], state["values"])
        rows = [state[name] for name in ("errors", "complexities", "ages", "executed_at")]
        if {len(row) for row in rows} != {len(forest)}:
            raise ExpressionError(f"a state with {len(forest)} expressions and other numbers of errors is damaged")
        self._clear()
        self._append(forest, *rows)
        self.n_seen = int(state["n_seen"])

    def __repr__(self) -> str:
        forgotten = f", {self.n_forgotten} forgotten" if self.n_forgotten else ""
        return f"Explored({len(self)} expressions{forgotten})"
