"""Other packages as methods of a benchmark: each is a function of a `Question`, called in a separate process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edhie.search.base import Budget

Answer = tuple[str, int | None]
"""A formula over x0, x1, …, and the number of evaluations, if the package reports it."""


@dataclass(frozen=True)
class Question:
    """A problem as it is passed to another package."""

    X: NDArray[np.float64]  # (rows, variables)
    y: NDArray[np.float64]
    symbols: tuple[str, ...]
    """The problem's own operators and functions, such as +, ^2 and sin."""
    has_constants: bool
    """True if the problem's symbols include fitted constants."""
    budget: Budget
    """Evaluations, seconds and the error at which to stop."""
    seed: int

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Question:
        """Return the question that `asdict` wrote, with lists for its arrays."""
        numbers = {name: np.array(row[name], dtype=np.float64) for name in ("X", "y")}
        return cls(**{**row, **numbers, "symbols": tuple(row["symbols"]), "budget": Budget(**row["budget"])})

    @property
    def names(self) -> list[str]:
        """Names of the variables in formulas."""
        return [f"x{k}" for k in range(self.X.shape[1])]

    def known(self, names: Mapping[str, str]) -> list[str]:
        """Return a package's names of the symbols, without those that it lacks."""
        return [names[symbol] for symbol in self.symbols if symbol in names]


def from_prefix(parts: Sequence[str]) -> str:
    """Return parts in prefix order as one formula; {} marks the places of their operands.

    >>> from_prefix(["({} / {})", "x0", "sin({})", "x1"])
    '(x0 / sin(x1))'
    """
    stack: list[str] = []
    for part in reversed(parts):
        operands = [stack.pop() for _ in range(part.count("{}"))]
        stack.append(part.format(*operands))
    return stack.pop() if stack else ""
