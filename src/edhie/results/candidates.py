"""Scored expressions: one of them, and all of them as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
