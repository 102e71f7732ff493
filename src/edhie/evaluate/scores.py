"""What an evaluator answers, and what it has counted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest


@dataclass(frozen=True, eq=False)
class Scores:
    """What the expressions of a forest came to, in its order."""

    forest: Forest
    """The expressions with their constants fitted; for an equivalent of an earlier one, the simpler writing of both."""
    errors: NDArray[np.float64]
    """By expression: the loss; infinite where a value is not finite, and where it was not needed exactly."""
    complexities: NDArray[np.float64]
    """By expression: the complexity."""
    is_scored: NDArray[np.bool_]
    """By expression: False where the budget ended before it, and where constraints forbid it."""
    forms: NDArray[np.uint64]
    """By expression: 64 bits of its canonical form, the same for all that count as one expression; 0 if forbidden."""

    def __len__(self) -> int:
        return len(self.errors)


@dataclass(frozen=True)
class Counts:
    """What was done so far; each of these is a different cost, so they are told apart."""

    asked: int = 0
    """Expressions that were given to be scored, repetitions included."""
    executed: int = 0
    """Distinct expressions (by canonical form) that were executed against data: what a budget is of."""
    again: int = 0
    """Executed once more: a bound had cut it short, or another writing is simpler, or may be defined in more places."""
    bounded: int = 0
    """Of those executed, how many were only found to be worse than a bound."""
    invalid: int = 0
    """Of those executed, how many have no finite error."""
    forbidden: int = 0
    """Of those asked, how many are not allowed by the constraints, and were left alone."""
