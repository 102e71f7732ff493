"""Slopes of constants: their singular value decomposition, and `Triangle`, a problem on any number of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from edhie.arrays import Numbers

MOST_WHOLE = 1e6  # a larger number is whole by chance
SHARE_IN_GROUP = 1e-8  # share of a constant's direction below which it is rounding


@dataclass(frozen=True, eq=False)
class SlopeSVD:
    """Slopes J, one row for each constant, as scales · axes · singular_values · patterns."""

    scales: Numbers
    """Length of each constant's slopes, 1 where they are all 0."""
    axes: Numbers
    """Directions in the space of the scaled constants, of shape (constants, directions)."""
    singular_values: Numbers
    """Change of the values by a unit step along each direction, in descending order."""
    patterns: Numbers
    """Changes of the values along each direction, of shape (directions, rows)."""

    @classmethod
    def of(cls, slopes: Numbers, weights: Numbers | None = None) -> SlopeSVD:
        """Decompose slopes, of shape (constants, rows), on weighted rows.

        Slopes that are not finite, such as that of sqrt at 0, count as 0.
        """
        with np.errstate(all="ignore"):
            weighted = slopes if weights is None else slopes * np.sqrt(weights)
            finite = np.where(np.isfinite(weighted), weighted, 0.0)
            largest = np.abs(finite).max(axis=1, initial=0.0)
            largest[largest == 0] = 1.0
            scaled = finite / largest[:, np.newaxis]
            lengths = np.sqrt(np.square(scaled).sum(axis=1))
            lengths[lengths == 0] = 1.0
            scaled /= lengths[:, np.newaxis]
        if len(slopes) == 0:
            return cls(np.ones(0), np.empty((0, 0)), np.empty(0), np.empty((0, slopes.shape[1])))
        axes, singular_values, patterns = np.linalg.svd(scaled, full_matrices=False)
        return cls(largest * lengths, axes, singular_values, patterns)

    def rank(self, precision: float) -> int:
        """Return the number of directions that change the values by more than rounding."""
        return int(np.count_nonzero(self.singular_values > precision * self.singular_values.max(initial=0.0)))

    def step(self, residuals: Numbers, *, damping: float, precision: float) -> Numbers:
        """Return the step of the constants that changes the values by the residuals, damped along weak directions."""
        rank = self.rank(precision)
        s = self.singular_values[:rank]
        with np.errstate(all="ignore"):
            along = (self.patterns[:rank] @ residuals) * s / (np.square(s) + damping)
            return np.asarray((self.axes[:, :rank] @ along) / self.scales)

    def gain(self, residuals: Numbers, *, precision: float) -> float:
        """Return the decrease of the sum of squares by a full step, if values were linear in the constants."""
        with np.errstate(all="ignore"):
            along = self.patterns[: self.rank(precision)] @ residuals
            return float(along @ along)

    def inverse(self, precision: float) -> Numbers:
        """Return (J Jᵀ)⁻¹, the covariance of the constants for noise of variance 1; infinite for undetermined ones."""
        rank = self.rank(precision)
        with np.errstate(all="ignore"):
            half = self.axes[:, :rank] / self.singular_values[:rank] / self.scales[:, np.newaxis]
            whole = half @ half.T
        whole[np.isnan(whole)] = np.inf
        lost = np.diag(self._lost(precision)) > SHARE_IN_GROUP
        whole[lost, :] = np.inf
        whole[:, lost] = np.inf
        return whole

    def held(self, precision: float, values: Numbers) -> tuple[int, ...]:
        """Return the fewest constants that have to be fixed for the data to determine the others.

        There are many choices. By convention, whole numbers are fixed before others, and then the first ones. Constants
        without any effect are not among them.
        """
        lost = [k for group in self.unidentified(precision) if len(group) > 1 for k in group]
        known = self.axes * self.singular_values  # (constants, directions): ranks are those of the slopes
        least = precision * self.singular_values.max(initial=0.0)
        free = [k for k in range(len(self.scales)) if k not in lost]
        is_whole = [abs(value) < MOST_WHOLE and value == round(value) for value in values.tolist()]
        held = []
        for k in sorted(lost, key=lambda k: (is_whole[k], -k)):
            singular_values = np.linalg.svd(known[[*free, k]], compute_uv=False)
            if np.count_nonzero(singular_values > least) > len(free):
                free.append(k)
            else:
                held.append(k)
        return tuple(sorted(held))

    def unidentified(self, precision: float) -> tuple[tuple[int, ...], ...]:
        """Return the groups of constants that can be changed, together or alone, without changing the values."""
        from scipy.sparse.csgraph import connected_components

        together = np.abs(self._lost(precision)) > SHARE_IN_GROUP
        lost = np.flatnonzero(np.diag(together))
        if not len(lost):
            return ()
        n_groups, group_of = connected_components(together[np.ix_(lost, lost)], directed=False)
        return tuple(tuple(lost[group_of == k].tolist()) for k in range(n_groups))

    def _lost(self, precision: float) -> Numbers:
        """Return the projection of the scaled constants onto directions that do not change the values."""
        known = self.axes[:, : self.rank(precision)]
        return np.asarray(np.eye(len(self.scales)) - known @ known.T)


@dataclass(frozen=True, eq=False)
class Triangle:
    """Weighted slopes and residuals of many rows, as the triangular factor of a QR decomposition.

    Rows are added batch by batch. Products of slopes and residuals are those of all rows; unlike normal equations, the
    factor does not square the condition number.
    """

    factor: Numbers
    """An upper triangle: a column for each parameter, and one for the residuals."""
    n_rows: int = 0
    """Rows of a weight above 0 that were added."""

    @classmethod
    def empty(cls, n_parameters: int) -> Triangle:
        """Return the triangle of no rows."""
        return cls(np.empty((0, n_parameters + 1)))

    def plus(self, slopes: Numbers, residuals: Numbers, weights: Numbers | None) -> Triangle:
        """Return the triangle with more rows; slopes are of shape (parameters, rows), and count as 0 if not finite."""
        rows = np.empty((len(self.factor) + len(residuals), len(slopes) + 1))
        rows[: len(self.factor)] = self.factor
        new = rows[len(self.factor) :]
        new[:, :-1], new[:, -1] = slopes.T, residuals
        count = len(residuals)
        with np.errstate(all="ignore"):
            if weights is not None:
                new *= np.sqrt(weights)[:, np.newaxis]
                count = int(np.count_nonzero(weights))
            if not np.isfinite(new.sum()):
                new[:, :-1][~np.isfinite(new[:, :-1])] = 0.0
        if not np.isfinite(new[:, -1]).all():
            return Triangle(np.full((len(slopes) + 1, len(slopes) + 1), np.nan), self.n_rows + count)
        factor: Numbers = np.asarray(np.linalg.qr(rows, mode="r"))
        return Triangle(factor, self.n_rows + count)

    def only(self, parameters: Sequence[int]) -> Triangle:
        """Return the problem with some of the parameters; its factor is no triangle."""
        return Triangle(self.factor[:, [*parameters, -1]], self.n_rows)

    @property
    def slopes(self) -> Numbers:
        """Slopes of shape (parameters, rows of the triangle)."""
        return np.ascontiguousarray(self.factor[:, :-1].T)

    @property
    def residuals(self) -> Numbers:
        """The residuals, in the coordinates of the slopes."""
        return np.ascontiguousarray(self.factor[:, -1])

    @property
    def squared_error(self) -> float:
        """The weighted sum of squared residuals; infinite if one is not finite."""
        total = float(self.residuals @ self.residuals)
        return total if np.isfinite(total) else np.inf
