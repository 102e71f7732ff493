"""How a formula is revised."""

from __future__ import annotations

import math
from dataclasses import dataclass

from edhie.errors import SearchError
from edhie.evaluate.numbers import check_whole


@dataclass(frozen=True)
class ReviseConfig:
    """Where a revision starts, and how far it looks around."""

    formula: str = ""
    """The formula to revise, over the variables of the data; c for a constant that is not known."""
    radii: tuple[float, ...] = (1.0, 1.5, 2.0, 3.0, 4.0)
    """How far around a code neighbours are decoded, in its own deviations: one after the other, then from the first."""
    neighbours: int = 100
    """Codes decoded a step; 0 for edits of trees alone."""
    edits: int = 300
    """Edited trees scored a step."""
    revisions: int = 200
    """How many of the best are remembered, to be revised further."""
    growth: int = 12
    """By how many symbols a formula may grow."""

    def __post_init__(self) -> None:
        if not isinstance(self.formula, str):
            raise SearchError(f"formula is a text such as 'c*x0 + c', not {self.formula!r}")
        for name, least in (("neighbours", 0), ("edits", 1), ("revisions", 1), ("growth", 1)):
            check_whole(name, getattr(self, name), least)
        if not self.radii or not all(0 < radius < math.inf for radius in self.radii):
            raise SearchError(f"radii are positive numbers, at least one; they are {self.radii!r}")
