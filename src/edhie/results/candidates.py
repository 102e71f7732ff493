"""Scored expressions: one of them, many as arrays, and the front: those that no other beats in error and complexity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from edhie.expr import Expr, Forest


@dataclass(frozen=True)
class Candidate:
    """One scored expression."""

    expr: Expr
    error: float
    complexity: float
    executed_at: int
    """Number of distinct expressions executed, itself included, when its error became known."""

    def __str__(self) -> str:
        return f"{self.expr}  (error {self.error:.6g}, complexity {self.complexity:g})"


@dataclass(frozen=True, eq=False)
class Candidates:
    """Scored expressions in the order in which they were executed."""

    forest: Forest
    """The expressions, with their constants fitted."""
    errors: NDArray[np.float64]
    """By expression: the loss; infinite where a value is not finite, and where it is only known to be too large."""
    complexities: NDArray[np.float64]
    """By expression: the complexity."""
    executed_at: NDArray[np.int64]
    """By expression: how many had been executed, itself included, when its error became known."""

    def __len__(self) -> int:
        return len(self.errors)

    def __getitem__(self, k: int) -> Candidate:
        return Candidate(self.forest[k], float(self.errors[k]), float(self.complexities[k]), int(self.executed_at[k]))

    def __iter__(self) -> Iterator[Candidate]:
        return (self[k] for k in range(len(self)))

    def take(self, chosen: slice | NDArray[Any] | Sequence[int]) -> Candidates:
        """Return the candidates at these indices, in that order, or those of a mask."""
        return Candidates(
            self.forest.take(chosen), self.errors[chosen], self.complexities[chosen], self.executed_at[chosen]
        )

    @classmethod
    def concatenate(cls, parts: Sequence[Candidates]) -> Candidates:
        """Return candidates over one library as one, in the order of the parts."""
        names = ("errors", "complexities", "executed_at")
        forest = Forest.concatenate([each.forest for each in parts])
        return cls(forest, *(np.concatenate([getattr(each, name) for each in parts]) for name in names))

    @classmethod
    def of(cls, one: Candidate) -> Candidates:
        """Return a single candidate."""
        numbers = np.array([one.error]), np.array([one.complexity]), np.array([one.executed_at])
        return cls(Forest.from_exprs([one.expr]), *numbers)

    def __repr__(self) -> str:
        return f"Candidates({len(self)} expressions)"


NO_BETTER = 1e-9  # the share by which an error has to be lower: less is rounding


def front_of(errors: ArrayLike, complexities: ArrayLike, *, negligible: float = 0.0) -> NDArray[np.int64]:
    """Return the indices of candidates that no other beats in both error and complexity, by rising complexity.

    Of equals the earlier one is kept. An error is lower only if rounding does not explain it; errors up to `negligible`
    are equal. Candidates without a finite error are left out.

    >>> front_of([3.0, 1.0, 1.0, 2.0], [1, 5, 3, 4]).tolist()
    [0, 2]
    """
    given = np.asarray(errors, np.float64)
    finite = np.flatnonzero(np.isfinite(given))
    order = finite[np.lexsort((finite, given[finite], np.asarray(complexities)[finite]))]
    before = np.minimum.accumulate(np.concatenate([[np.inf], given[order]]))[:-1]
    front: list[int] = []
    least = np.inf
    for k in order[given[order] < before].tolist():  # few: each is lower than all that are less complex
        if least == np.inf or given[k] < least - abs(least) * NO_BETTER - negligible:
            front.append(k)
            least = given[k]
    return np.array(front, np.int64)


@dataclass(frozen=True, eq=False)
class Front:
    """The best trade-offs between error and complexity, small to large."""

    candidates: Candidates
    negligible: float = 0.0
    """Errors up to this count as 0."""

    @classmethod
    def of(cls, candidates: Candidates, *, negligible: float = 0.0) -> Front:
        """Return the front of these candidates."""
        chosen = front_of(candidates.errors, candidates.complexities, negligible=negligible)
        return cls(candidates.take(chosen), negligible)

    @property
    def errors(self) -> NDArray[np.float64]:
        """Errors, falling, from the least complex member to the most complex."""
        return self.candidates.errors

    @property
    def complexities(self) -> NDArray[np.float64]:
        """Complexities, rising."""
        return self.candidates.complexities

    @property
    def best(self) -> Candidate | None:
        """The member with the lowest error; None for an empty front."""
        return self.candidates[len(self) - 1] if len(self) else None

    def __len__(self) -> int:
        return len(self.candidates)

    def __getitem__(self, k: int) -> Candidate:
        return self.candidates[k]

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.candidates)

    def __str__(self) -> str:
        lines = [f"{each.complexity:>10g}  {each.error:>12.6g}  {each.expr:.6g}" for each in self]
        return "\n".join([f"{'complexity':>10}  {'error':>12}  expression", *lines])

    def __repr__(self) -> str:
        return f"Front({len(self)} expressions)"
