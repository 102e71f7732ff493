"""Every expression that an evaluator has scored, under a bound on memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.growing import GrowingArray, GrowingForest
from edhie.evaluate.numbers import check_whole
from edhie.expr import Forest, SymbolLibrary

Numbers = NDArray[np.float64]
Indices = NDArray[np.int64]
FORGOTTEN_AT_ONCE = 4  # a quarter of the capacity, so that it happens rarely


class Explored:
    """Scored expressions in the order in which they came; the oldest and worst go first when there are too many.

    An expression's place is what `add` returned for it; `forget` renumbers places.
    """

    def __init__(self, library: SymbolLibrary, capacity: int) -> None:
        check_whole("memory", capacity, 2)
        self.library = library
        self.capacity = capacity
        self.n_seen = 0
        """How many were ever added, those forgotten included."""
        self._clear()

    def _clear(self) -> None:
        self._trees = GrowingForest(self.library)
        self._errors, self._complexities, self._ages = (GrowingArray(t) for t in (np.float64, np.float64, np.int64))

    def __len__(self) -> int:
        return len(self._trees)

    def add(self, forest: Forest, errors: Numbers, complexities: NDArray[Any]) -> Indices:
        """Keep scored expressions; their places."""
        first = len(self)
        self._trees.append(forest)
        self._errors.append(errors)
        self._complexities.append(complexities)
        self._ages.append(np.arange(self.n_seen, self.n_seen + len(forest)))
        self.n_seen += len(forest)
        return np.arange(first, len(self))

    @property
    def forest(self) -> Forest:
        """The expressions, with their constants."""
        return self._trees.forest

    def take(self, places: Indices) -> Forest:
        """The expressions at these places."""
        return self._trees.take(places)

    @property
    def errors(self) -> Numbers:
        """By place: the error; infinite for what is no prediction, or was only found to be too bad."""
        return self._errors.array

    @property
    def complexities(self) -> Numbers:
        """By place: the complexity."""
        return self._complexities.array

    @property
    def ages(self) -> Indices:
        """By place: how many were added before it."""
        return self._ages.array

    @property
    def n_forgotten(self) -> int:
        """How many were seen and are no longer here."""
        return self.n_seen - len(self)

    def forget(self) -> Indices | None:
        """Where there are too many, drop the worst of the older half, but never the best of all.

        By old place the new one, or -1; None where nothing is dropped.
        """
        count = len(self)
        if count <= self.capacity:
            return None
        surplus = max(count - self.capacity, self.capacity // FORGOTTEN_AT_ONCE)
        older = max(count // 2, surplus + 1)
        worst_first = np.lexsort((self.ages[:older], -self.errors[:older]))
        keep = np.ones(count, np.bool_)
        keep[worst_first[:surplus]] = False
        kept = self.take(np.flatnonzero(keep)), self.errors[keep], self.complexities[keep], self.ages[keep]
        self._clear()
        self._trees.append(kept[0])
        for growing, numbers in zip((self._errors, self._complexities, self._ages), kept[1:], strict=True):
            growing.append(numbers)
        return np.where(keep, np.cumsum(keep) - 1, -1)

    def __repr__(self) -> str:
        forgotten = f", {self.n_forgotten} forgotten" if self.n_forgotten else ""
        return f"Explored({len(self)} expressions{forgotten})"
