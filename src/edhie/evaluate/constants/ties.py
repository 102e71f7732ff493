"""Tied constants: one constant in several places of an expression."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edhie.errors import ExpressionError

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Ties:
    """The different constant that each constant of an expression is, in prefix order, and its sign."""

    of: tuple[int, ...]
    signs: tuple[int, ...]

    @classmethod
    def none(cls, count: int) -> Ties:
        """Return ties for so many constants that are all different."""
        return cls(tuple(range(count)), (1,) * count)

    @property
    def n_different(self) -> int:
        """The number of different constants."""
        return max(self.of, default=-1) + 1

    def different(self, values: Numbers) -> Numbers:
        """Return the values of the different constants, given those of all."""
        found = np.zeros(self.n_different)
        found[np.array(self.of, np.int64)] = values * np.array(self.signs, np.float64)
        return found

    def together(self, slopes: Numbers) -> Numbers:
        """Return slopes by different constant, given slopes by constant, (constants, rows): those of copies add up.

        >>> Ties((0, 1, 0), (1, 1, -1)).together(np.array([[5.0], [2.0], [1.0]])).tolist()
        [[4.0], [2.0]]
        """
        if len(slopes) != len(self.of):
            raise ExpressionError(f"there are ties for {len(self.of)} constants, and the expression has {len(slopes)}")
        found = np.zeros((self.n_different, slopes.shape[1]))
        np.add.at(found, np.array(self.of, np.int64), slopes * np.array(self.signs, np.float64)[:, np.newaxis])
        return found

    def apart(self, covariance: Numbers) -> Numbers:
        """Return the covariance of all constants, given that of the different ones: copies vary as one."""
        at, signs = np.array(self.of, np.int64), np.array(self.signs, np.float64)
        return np.asarray(covariance[np.ix_(at, at)] * np.outer(signs, signs))

    def everywhere(self, groups: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
        """Return groups of all constants, given groups of different ones."""
        return tuple(tuple(k for k, which in enumerate(self.of) if which in group) for group in groups)
