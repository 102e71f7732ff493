"""`TiedConstants`: constants that are one parameter in several places of an expression."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edhie.errors import ExpressionError

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class TiedConstants:
    """The parameter that each constant of an expression is."""

    of: tuple[int, ...]
    """By constant, in prefix order: (0, 1, 0) for a constant, another, and the first again."""

    @property
    def n_different(self) -> int:
        """The number of parameters."""
        return max(self.of, default=-1) + 1

    def different(self, values: Numbers) -> Numbers:
        """Return the values of the parameters, given those of all constants."""
        found = np.zeros(self.n_different)
        found[np.array(self.of, np.int64)] = values
        return found

    def together(self, slopes: Numbers) -> Numbers:
        """Return slopes by parameter, given slopes by constant, (constants, rows): those of copies add up.

        >>> TiedConstants((0, 1, 0)).together(np.array([[5.0], [2.0], [1.0]])).tolist()
        [[6.0], [2.0]]
        """
        if len(slopes) != len(self.of):
            raise ExpressionError(f"there are ties for {len(self.of)} constants, and the expression has {len(slopes)}")
        found = np.zeros((self.n_different, slopes.shape[1]))
        np.add.at(found, np.array(self.of, np.int64), slopes)
        return found

    def constants_of(self, parameters: tuple[int, ...]) -> tuple[int, ...]:
        """Return the constants that are among some parameters."""
        return tuple(k for k, parameter in enumerate(self.of) if parameter in parameters)
