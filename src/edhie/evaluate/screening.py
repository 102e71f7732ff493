"""A first look at a few rows, so that hopeless expressions do not cost all of them."""

from __future__ import annotations

from dataclasses import dataclass

from edhie.errors import EdhieError
from edhie.evaluate.numbers import check_whole


@dataclass(frozen=True)
class Screening:
    """Which expressions are scored on all rows: those that are best on a few, spread over the target's range.

    What is dropped once stays dropped: asked for again, it is as bad as before.
    """

    rows: int = 256
    """How many rows the first look takes."""
    keep: float = 0.25
    """The share of the expressions of a call that goes on to all rows, the best by the first look."""

    def __post_init__(self) -> None:
        check_whole("rows", self.rows, 1)
        if not 0 < self.keep <= 1:
            raise EdhieError(f"keep is a share of the expressions, above 0 and up to 1, and is {self.keep}")
