"""Free columns: basis functions fitted along with every piece. Monomials of the variables, or their logarithms."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np

from edhie.search.arrays import LARGEST_VALUE, Indices, Mask, Numbers
from edhie.search.mosaic.config import Columns


@dataclass(frozen=True, eq=False)
class FreeColumns:
    """Columns that are fitted along with every piece: products of powers of the variables, or their logarithms."""

    is_product: bool
    """True in a model of logarithms: a column is the logarithm of a variable, and pieces may be factors."""
    exponents: Indices
    """(columns, variables): exponents; the first column is the constant, with zeros."""
    columns: Numbers
    """(columns, rows): values, or logarithms."""
    row_scale: Numbers
    """The square root of each row's weight."""
    variables: Numbers
    """(variables, rows): the values of the variables."""

    @property
    def is_constant(self) -> bool:
        """True if the constant is the only column."""
        return len(self.exponents) == 1

    @cached_property
    def basis(self) -> Numbers:
        """(rows, rank): an orthonormal basis of the scaled columns."""
        return orthonormal((self.columns * self.row_scale).T)

    def without(self, target: Numbers) -> Numbers:
        """Return the residuals of a scaled target, or of several, after least squares on the columns."""
        once = target - (target @ self.basis) @ self.basis.T
        return once - (once @ self.basis) @ self.basis.T  # repeated because of rounding

    def regressors(self, pieces: Numbers) -> tuple[Numbers, Indices, Mask]:
        """Return the scaled values of pieces and, in a product, their logarithms where these are finite.

        Also return, for each regressor, the index of its piece, and whether it is the logarithm.
        """
        which = np.arange(len(pieces))
        if not self.is_product:
            return pieces * self.row_scale, which, np.zeros(len(pieces), np.bool_)
        with np.errstate(all="ignore"):
            logs = np.log(np.abs(pieces))
        finite = np.flatnonzero(np.isfinite(logs).all(axis=1))
        is_log = np.repeat([False, True], [len(pieces), len(finite)])
        both = np.concatenate([pieces, logs[finite]]) * self.row_scale
        return both, np.concatenate([which, finite]), is_log

    def residuals(self, regressors: Numbers) -> tuple[Numbers, Numbers]:
        """Return the residuals of each regressor, and their squared norm; 0 where the norm is only rounding."""
        found, squares = np.empty_like(regressors), np.empty(len(regressors))
        for block in blocks(*regressors.shape):
            its, before = found[block], regressors[block]
            np.subtract(before, (before @ self.basis) @ self.basis.T, out=its)
            left = np.einsum("ij,ij->i", its, its)
            is_new = left > Columns.NEW * np.einsum("ij,ij->i", before, before)
            squares[block] = np.where(is_new, left, 0.0)
        return found, squares


def blocks(n: int, n_rows: int) -> Iterator[slice]:
    """Yield slices of `n` pieces such that the values of each slice fit into a core's cache."""
    size = max(1, Columns.IN_CACHE // n_rows)
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def orthonormal(columns: Numbers) -> Numbers:
    """Return an orthonormal basis of the span of columns, of shape (rows, columns); its rank may be lower."""
    norms = np.linalg.norm(columns, axis=0)
    kept = columns[:, norms > 0] / norms[norms > 0]
    q, r = np.linalg.qr(kept)
    if len(r) and np.abs(np.diag(r)).min() <= Columns.INDEPENDENT:  # without pivoting, later columns would lose a part
        import scipy.linalg

        q, r, _ = scipy.linalg.qr(kept, mode="economic", pivoting=True)
    return np.ascontiguousarray(q[:, np.abs(np.diag(r)) > Columns.INDEPENDENT])


def polynomial_columns(variables: Numbers, row_scale: Numbers, *, most: int = Columns.MOST) -> FreeColumns:
    """Return all monomials up to the highest degree that has at most `most` of them, and enough rows for each."""
    n, rows = variables.shape
    most = min(most, max(1, rows // Columns.ROWS_A_COLUMN))
    highest = Columns.HIGHEST_DEGREE if n == 1 else Columns.HIGHEST_JOINT_DEGREE
    degree = max(d for d in range(highest + 1) if math.comb(n + d, d) <= most)
    return polynomial_of_degree(variables, degree, row_scale)


def polynomial_of_degree(variables: Numbers, degree: int, row_scale: Numbers | None = None) -> FreeColumns:
    """Return all monomials up to a degree, without those whose squares overflow."""
    n, rows = variables.shape
    exponents = np.array(
        [
            np.bincount(np.array(chosen, np.int64), minlength=n)
            for d in range(degree + 1)
            for chosen in combinations_with_replacement(range(n), d)
        ]
    ).reshape(-1, n)
    with np.errstate(all="ignore"):
        columns = np.prod(variables[np.newaxis] ** exponents[:, :, np.newaxis], axis=1)
    usable = (np.abs(columns) < LARGEST_VALUE).all(axis=1)
    scale = np.ones(rows) if row_scale is None else row_scale
    return FreeColumns(False, exponents[usable], columns[usable], scale, variables)


def logarithm_columns(variables: Numbers, row_scale: Numbers, *, is_rich: bool = True) -> FreeColumns:
    """Return the logarithms of the variables that are nowhere 0, so that their powers are fitted as factors.

    Without `is_rich`, return the constant only.
    """
    n, rows = variables.shape
    usable = np.flatnonzero((variables != 0).all(axis=1)) if is_rich else np.zeros(0, np.int64)
    usable = usable[: max(0, rows // Columns.ROWS_A_COLUMN - 1)]
    exponents = np.concatenate([np.zeros((1, n), np.int64), np.eye(n, dtype=np.int64)[usable]])
    columns = np.concatenate([np.ones((1, rows)), np.log(np.abs(variables[usable]))])
    return FreeColumns(True, exponents, columns, row_scale, variables)
