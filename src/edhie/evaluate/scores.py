"""`Scores` and `Counts`: the answers of an evaluator, and the work it has done."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of a forest's expressions, in its order."""

    forest: Forest
    """The expressions with their constants fitted; for an equivalent of an earlier one, the simpler writing of both."""
    errors: NDArray[np.float64]
    """Loss of each expression; infinite where a value is not finite, and where it was not needed exactly."""
    complexities: NDArray[np.float64]
    """Complexity of each expression."""
    is_scored: NDArray[np.bool_]
    """False for expressions beyond the budget, and for those that constraints forbid."""
    forms: NDArray[np.uint64]
    """64 bits of each canonical form, the same for all that count as one expression; 0 if forbidden."""

    def __len__(self) -> int:
        return len(self.errors)


@dataclass(frozen=True)
class Counts:
    """Numbers of expressions so far, each kind of work apart."""

    asked: int = 0
    """Expressions that were given to be scored, repetitions included."""
    executed: int = 0
    """Distinct expressions (by canonical form) that were executed against data; a budget limits these."""
    again: int = 0
    """Expressions executed once more: cut short by a bound before, or in a simpler or more widely valid writing."""
    bounded: int = 0
    """Executed expressions that were only found to be worse than a bound."""
    invalid: int = 0
    """Executed expressions without a finite error."""
    forbidden: int = 0
    """Expressions that constraints forbid, which were not scored."""
