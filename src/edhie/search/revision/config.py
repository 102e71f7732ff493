"""Settings of a revision."""

from __future__ import annotations

import math
from dataclasses import dataclass

from edhie.errors import SearchError
from edhie.evaluate.numbers import check_whole


@dataclass(frozen=True)
class ReviseConfig:
    """The formula to start from, and how far around it to look."""

    formula: str = ""
    """The formula to revise, over the variables of the data; c for a constant that is not known."""
    radii: tuple[float, ...] = (1.0, 1.5, 2.0, 3.0, 4.0)
    """Distances around a code at which neighbours are decoded, in its own deviations: in turn, over and over."""
    neighbours: int = 100
    """Codes decoded in a step; 0 for edits of trees alone."""
    edits: int = 300
    """Edited trees scored in a step."""
    revisions: int = 200
    """The best expressions that are kept, to be revised further."""
    growth: int = 12
    """Symbols by which a formula may grow."""

    def __post_init__(self) -> None:
        if not isinstance(self.formula, str):
            raise SearchError(f"formula is a text such as 'c*x0 + c', not {self.formula!r}")
        for name, least in (("neighbours", 0), ("edits", 1), ("revisions", 1), ("growth", 1)):
            check_whole(name, getattr(self, name), least)
        if not self.radii or not all(0 < radius < math.inf for radius in self.radii):
            raise SearchError(f"radii are positive numbers, at least one; they are {self.radii!r}")
