"""`FitConfig`: the effort spent on fitting the constants of an expression."""

from __future__ import annotations

import math
from dataclasses import dataclass

from edhie.errors import EdhieError
from edhie.evaluate.numbers import check_whole


@dataclass(frozen=True)
class FitConfig:
    """Settings of a fit of constants by least squares."""

    points: int = 16
    """Points tried: all ones, the data's scales, then at random; linear expressions need one. 0: given values alone."""
    starts: int = 3
    """Points, the best of those tried, from which a descent starts."""
    rounds: int = 1
    """Rounds at most, each with other points; six rounds that end in the same error are enough."""
    iterations: int = 20
    """Steps at most from each start."""
    tolerance: float = 1e-8
    """A step that lowers the sum of squares by less than this share is the last."""
    enough: float = 1e-24
    """A sum of squares below this share of the target's ends the search: that is rounding."""
    rows: int | None = 2000
    """Rows that starts are tried on, spread over the target's range; the best goes on with all. None for all rows."""
    lower: float = -math.inf
    """The least that a constant may be."""
    upper: float = math.inf
    """The greatest that a constant may be."""
    seed: int = 0
    """Seed of the random points."""

    def __post_init__(self) -> None:
        for name, least in (("points", 0), ("starts", 1), ("rounds", 1), ("iterations", 1), ("seed", 0)):
            check_whole(name, getattr(self, name), least)
        if self.rows is not None:
            check_whole("rows", self.rows, 1, or_none="all rows")
        if not self.lower < self.upper:
            raise EdhieError(f"lower must be below upper: they are {self.lower} and {self.upper}")
        for name in ("tolerance", "enough"):
            if not 0 <= getattr(self, name) < math.inf:
                raise EdhieError(f"{name} is a share, 0 or more, not {getattr(self, name)}")


CHEAP = FitConfig()
"""A fit for the many expressions of a search."""
THOROUGH = FitConfig(points=500, starts=10, rounds=20, iterations=200, tolerance=1e-14)
"""A fit for the few expressions that matter."""
