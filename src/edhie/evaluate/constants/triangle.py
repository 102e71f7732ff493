"""`Triangle`: a least-squares problem on any number of rows, reduced to a triangular factor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from edhie.evaluate.arrays import Numbers


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
