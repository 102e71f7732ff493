"""`Data`: measurements to be explained, and the sums of squares that describe their target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from edhie.arrays import Indices, Numbers
from edhie.errors import DataError
from edhie.evaluate.resolution import FULL_PRECISION, Resolution, resolution_of, rounding_of, were_set

ROUNDING = 1e-18  # of the target's sum of squares: a fit to nine digits
SEPARATE_POINTS, SEPARATE_ROWS = 24, 1000  # points drawn from the values of that many rows
ROUNDING_OF_VALUES = (8 * float(np.finfo(np.float64).eps)) ** 2  # where the target varies little around a large mean


class Spread(Protocol):
    """The sums over rows that turn a sum of squared errors into a loss."""

    @property
    def total_weight(self) -> float:
        """The sum of the weights; without weights, the number of rows."""

    @property
    def squares_about_mean(self) -> float:
        """The weighted sum of squared distances of the target from its mean."""


@dataclass(frozen=True, eq=False)
class Data:
    """Measurements to be explained: finite float64 numbers, each variable contiguous."""

    columns: Numbers
    """Numbers of the variables, of shape (variables, rows), C-contiguous."""
    y: Numbers
    """The target, one value per row."""
    weights: Numbers | None
    """The weight of each row: none negative, not all zero; None if all are equal."""
    names: tuple[str, ...]
    """The variables' names, in the order of `columns`."""
    sigma: Numbers | None = None
    """The standard error of the target in each row, all above 0; None if they are unknown."""
    resolution: Resolution = FULL_PRECISION
    """The step and the significant digits to which the target was rounded."""

    @property
    def n_rows(self) -> int:
        """The number of measurements."""
        return len(self.y)

    @property
    def n_variables(self) -> int:
        """The number of variables."""
        return len(self.columns)

    @cached_property
    def total_weight(self) -> float:
        """The sum of the weights; without weights, the number of rows."""
        return float(self.n_rows if self.weights is None else self.weights.sum())

    @cached_property
    def squares_about_mean(self) -> float:
        """The weighted sum of squared distances of the target from its mean."""
        return squares_about_mean(self.y, self.weights)

    @cached_property
    def squares_to_explain(self) -> float:
        """The weighted sum of squares of the target about its mean, or about 0 where it is constant."""
        return self.squares_about_mean or squares_about_zero(self.y, self.weights)

    @cached_property
    def rounding(self) -> Numbers:
        """The standard deviation of the target's rounding in each row; 0 for full precision."""
        return rounding_of(self.y, self.resolution)

    @cached_property
    def column_roundings(self) -> Numbers:
        """The variance of each column's rounding in each row, (variables, rows).

        Whole numbers, and values that were set, not measured, count as exact. Without rows if no column is rounded.
        """
        variances = np.square([rounding_of(column, _measured(column)) for column in self.columns])
        return variances if variances.any() else np.empty((0, self.n_rows))

    @cached_property
    def separate_points(self) -> Numbers:
        """Points at which each column is drawn by itself from its values, interpolated, and some of the rows.

        On the rows, columns may depend on each other, and repeated values may hide how a function depends on a column.
        """
        few = few_rows(self, SEPARATE_ROWS).columns
        draws = np.random.default_rng(0).random((len(few), SEPARATE_POINTS))
        places = (few.shape[1] - 1) * draws
        drawn = [np.interp(at, np.arange(len(row)), np.sort(row)) for at, row in zip(places, few, strict=True)]
        some = few[:, np.linspace(0, few.shape[1] - 1, min(few.shape[1], SEPARATE_POINTS // 2)).round().astype(int)]
        return np.ascontiguousarray(np.concatenate([np.reshape(drawn, (len(few), SEPARATE_POINTS)), some], axis=1))

    @property
    def counting_rows(self) -> Indices:
        """The rows that have a weight above 0."""
        return np.arange(self.n_rows) if self.weights is None else np.flatnonzero(self.weights)

    def with_columns(self, places: Sequence[int] | Indices) -> Data:
        """Return the data with some of the variables, in this order."""
        chosen = [int(k) for k in places]
        return replace(self, columns=self.columns[chosen], names=tuple(self.names[k] for k in chosen))

    def with_target(self, y: Numbers, *, divided_by: Numbers | None = None) -> Data:
        """Return the data with a target that was made from this one: `target - known`, or `target / divided_by`.

        Standard errors, weights and resolution go with it. Those of a quotient are divided by its denominator too:
        weights are multiplied by its square. Of the resolution, a difference keeps the step and a quotient the number
        of digits.
        """
        if divided_by is None:
            return replace(self, y=y, resolution=Resolution(step=self.resolution.step))
        weights = np.square(divided_by) * (1.0 if self.weights is None else self.weights)
        sigma = None if self.sigma is None else self.sigma / np.abs(divided_by)
        return replace(self, y=y, weights=weights, sigma=sigma, resolution=Resolution(digits=self.resolution.digits))

    def take(self, rows: slice | NDArray[Any] | Sequence[int]) -> Data:
        """Return the data of these rows, in that order, or of a mask."""
        indices = np.arange(self.n_rows)[rows]
        if indices.ndim != 1:
            raise IndexError(f"rows are chosen by one list of indices, not by an array of shape {indices.shape}")
        if len(indices) == 0:
            raise DataError(f"none of the {self.n_rows} rows is chosen; choose at least one")
        weights = None if self.weights is None else self.weights[indices]
        if weights is not None and not weights.any():
            raise DataError(f"the {len(indices)} chosen rows all have weight 0; choose one that counts")
        sigma = None if self.sigma is None else self.sigma[indices]
        columns = np.take(self.columns, indices, axis=1)
        return replace(self, columns=columns, y=self.y[indices], weights=weights, sigma=sigma)


def _measured(column: Numbers) -> Resolution:
    """Return the resolution of a column; full precision for whole numbers and for values that were set."""
    found = resolution_of(column)
    is_whole = found.step >= 1 and not found.digits
    return FULL_PRECISION if is_whole or were_set(column, found) else found


def few_rows(data: Data, count: int) -> Data:
    """Return at most `count` rows of nonzero weight, evenly spaced in the order of the target, with its extremes."""
    if count >= data.n_rows:
        return data
    counting = data.counting_rows
    by_target = counting[np.argsort(data.y[counting], kind="stable")]
    chosen = np.linspace(0, len(counting) - 1, min(count, len(counting))).round().astype(np.int64)
    return data.take(np.sort(by_target[chosen]))


def with_resolution(data: Data, resolution: Resolution | None = None) -> Data:
    """Return the same data with the resolution of the target; None to infer it from its values."""
    return replace(data, resolution=resolution_of(data.y) if resolution is None else resolution)


def what_never_varies(data: Data) -> str | None:
    """Return "rows" if all of several rows are equal, "columns" if only their targets differ, None otherwise."""
    counting = data.counting_rows
    if len(counting) < 2 or any(_varies(column[counting]) for column in data.columns):
        return None
    return "columns" if _varies(data.y[counting]) else "rows"


def _varies(values: Numbers) -> bool:
    return bool((values != values[0]).any())


def squares_about_mean(y: Numbers, weights: Numbers | None) -> float:
    """Return the weighted sum of squared distances from the weighted mean; exactly 0 where all values are the same."""
    with np.errstate(all="ignore"):
        # shifted by a value, so that equal values give exactly 0: the mean of three 0.1 is not 0.1
        shifted = y - y[0 if weights is None else int(np.argmax(weights > 0))]
        mean = shifted.mean() if weights is None else (shifted * weights).sum() / weights.sum()
        squares = np.square(shifted - mean)
        return float(squares.sum() if weights is None else np.dot(weights, squares))


def squares_about_zero(y: Numbers, weights: Numbers | None) -> float:
    """Return the weighted sum of squares."""
    with np.errstate(all="ignore"):
        return float(np.dot(y, y) if weights is None else np.dot(weights, np.square(y)))


def error_limit(error: float, data: Data, *, slack: float) -> float:
    """Return the largest sum of squares that counts as equal to `error`: up to a relative `slack`, and rounding."""
    floor = ROUNDING * data.squares_to_explain + ROUNDING_OF_VALUES * squares_about_zero(data.y, data.weights)
    return error * (1.0 + slack) + floor
