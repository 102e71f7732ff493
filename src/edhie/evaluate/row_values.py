"""One number for each row: the target, weights, and standard errors, which become weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edhie.errors import DataError
from edhie.evaluate.numbers import array_of, numbers_of, rows_named

Values = NDArray[np.float64]


def read_row(values: Any, place: str, *, rows: int, transposed: int = -1) -> Values:
    """Finite numbers, one for each row of X."""
    read = numbers_of(values, place)
    if len(read) != rows:
        hint = "; X seems to be transposed, give X.T" if len(read) == transposed else ""
        raise DataError(f"X has {rows} rows and {place} has {len(read)}; give one value for each row of X{hint}")
    check_finite(read[np.newaxis], [place])
    return read


def read_weights(weights: Any, *, rows: int) -> Values:
    """Return how much each row counts: finite numbers, none below 0, not all 0."""
    read = read_row(weights, "weights", rows=rows)
    negative = np.flatnonzero(read < 0)
    if len(negative):
        raise DataError(f"weights is {read[negative[0]]} in {rows_named(negative)}; no weight may be below 0")
    if not read.any():
        raise DataError("all weights are 0; give a weight above 0 to the rows that count")
    with np.errstate(all="ignore"):
        if not np.isfinite(read.sum()):
            raise DataError(f"the weights, up to {read.max()}, sum to infinity; divide them by the largest")
    return read


def read_sigma(sigma: Any, *, rows: int, place: str = "sigma") -> Values:
    """Return the standard error of each row: finite numbers, all above 0."""
    read = read_row(sigma, place, rows=rows)
    bad = np.flatnonzero(read <= 0)
    if len(bad):
        must = "standard errors must be above 0; correct such rows or drop them"
        raise DataError(f"{place} is {read[bad[0]]} in {rows_named(bad)}; {must}")
    return read


def read_sigmas(sigma: Any, *, rows: int, targets: int) -> list[Values]:
    """Return the standard errors of several targets, one column for each."""
    array = array_of(sigma, "sigma")
    if array.ndim == 2 and array.shape[1] == targets > 1:
        columns = [sigma.iloc[:, k] if hasattr(sigma, "iloc") else array[:, k] for k in range(targets)]
        return [read_sigma(each, rows=rows, place=f"column {k} of sigma") for k, each in enumerate(columns)]
    if targets > 1:
        given = f"{array.shape[1]} columns" if array.ndim == 2 and array.shape[1] > 1 else "one column"
        raise DataError(
            f"y has {targets} targets and sigma has {given}; give one column of standard errors for each target"
        )
    return [read_sigma(sigma, rows=rows)]


def weights_of(sigma: Values) -> Values:
    """Return the weights that standard errors stand for: 1/sigma², divided by the mean of all."""
    weights = np.square(sigma.min() / sigma)  # at most 1, so that no square leaves float64
    return np.asarray(weights / weights.mean())


def check_finite(columns: Values, places: Sequence[str]) -> None:
    """Raise an error that says where a number is not finite; `places` are the names of the columns."""
    with np.errstate(all="ignore"):
        # a sum is finite only where all of its terms are: one pass, and no second array
        suspects = np.flatnonzero(~np.isfinite(columns.sum(axis=1)))
    for k in suspects.tolist():
        bad = np.flatnonzero(~np.isfinite(columns[k]))
        if len(bad):
            raise DataError(f"{places[k]} is {columns[k][bad[0]]} in {rows_named(bad)}; drop such rows or fill them")
