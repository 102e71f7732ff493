"""Data at the door: numbers become columns, and what is no finite number gets an error that says where it is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edhie.errors import DataError, shortened, suggestion
from edhie.evaluate.numbers import array_of, is_plain, numbers_of, shown
from edhie.evaluate.resolution import Resolution, resolution_of, rounding_of
from edhie.evaluate.row_values import check_finite, read_row, read_sigma, read_weights, weights_of
from edhie.expr.library import variable_names

Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Data:
    """Measurements to be explained: finite float64 numbers, each variable's values lying together."""

    columns: Values
    """Of shape (variables, rows), C-contiguous."""
    y: Values
    """The target, one value a row."""
    weights: Values | None
    """How much each row counts: none negative, not all zero; None where all count the same."""
    names: tuple[str, ...]
    """The variables' names, in the order of `columns`."""
    sigma: Values | None = None
    """The standard error of the target in each row, all above 0; None where they are not known."""
    step: float = 0.0
    """The resolution of the target, such as 0.01 where it was written with two decimals; 0 for full precision."""
    digits: int = 0
    """The significant digits of the target, where it was rounded to as many in all rows; 0 if not."""

    @property
    def n_rows(self) -> int:
        """How many measurements there are."""
        return len(self.y)

    @property
    def n_variables(self) -> int:
        """How many variables were measured."""
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

    @property
    def resolution(self) -> Resolution:
        """The step and the significant digits of the target."""
        return Resolution(self.step, self.digits)

    @cached_property
    def rounding(self) -> Values:
        """The standard deviation of the target's rounding in each row; 0 for full precision."""
        return rounding_of(self.y, self.resolution)

    def take(self, rows: slice | NDArray[Any] | Sequence[int]) -> Data:
        """The data of these rows, in that order, or of a mask."""
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


def squares_about_mean(y: Values, weights: Values | None) -> float:
    """The weighted sum of squared distances from the weighted mean; exactly 0 where all values are the same."""
    with np.errstate(all="ignore"):
        # from a value that counts: the mean of zeros is exact, that of 0.1 three times is not
        shifted = y - y[0 if weights is None else int(np.argmax(weights > 0))]
        squares = np.square(shifted - np.average(shifted, weights=weights))
        return float(squares.sum() if weights is None else np.dot(weights, squares))


def squares_about_zero(y: Values, weights: Values | None) -> float:
    """The weighted sum of squares."""
    with np.errstate(all="ignore"):
        return float(np.dot(y, y) if weights is None else np.dot(weights, np.square(y)))


# -- reading --------------------------------------------------------------------------


def read_data(
    X: Any,  # noqa: N803 -- as scikit-learn calls it
    y: Any,
    *,
    weights: Any = None,
    sigma: Any = None,
    names: Sequence[str] | None = None,
    resolution: Resolution | None = None,
    allow_constant_target: bool = False,
) -> Data:
    """Data from a table of variables and a target, checked once; a `DataError` says what is wrong and where.

    `X` is an array or nested list (rows × variables; one dimension is one variable), a pandas
    or polars DataFrame, or a mapping from names to columns. `names` are the variables wanted,
    in order: columns that have names are chosen by them, others stand for them in order.
    `sigma` are the standard errors of the target: the weights are then 1/sigma², divided by their mean. `resolution`
    is that of the target; None to judge it from its values.

    >>> read_data({"t": [0, 1, 2], "note": ["a", "b", "c"]}, [1.0, 3.0, 5.0], names=["t"]).columns
    array([[0., 1., 2.]])
    """
    columns, chosen = _read_table(X, names)
    target = read_row(y, "y", rows=columns.shape[1], transposed=len(columns))
    if sigma is not None and weights is not None:
        raise DataError(
            "weights and sigma are both given, and sigma alone sets the weights to 1/sigma²; give one of them"
        )
    errors = None if sigma is None else read_sigma(sigma, rows=len(target))
    row_weights = None if weights is None else read_weights(weights, rows=len(target))
    row_weights = row_weights if errors is None else weights_of(errors)
    data = with_resolution(Data(columns, target, row_weights, chosen, errors), resolution)
    _check_target(data, allow_constant_target)
    return data


def with_resolution(data: Data, resolution: Resolution | None = None) -> Data:
    """Return the same data with the resolution of the target; None to judge it from its values."""
    found = resolution_of(data.y) if resolution is None else resolution
    return replace(data, step=found.step, digits=found.digits)


def read_columns(X: Any, *, names: Sequence[str] | None = None) -> Values:  # noqa: N803 -- as scikit-learn calls it
    """The columns of `X`, of shape (variables, rows), read and checked as `read_data` does."""
    return _read_table(X, names)[0]


def _read_table(table: Any, names: Sequence[str] | None) -> tuple[Values, tuple[str, ...]]:
    """Finite columns, and the variables that they are."""
    wanted = None if names is None else _checked_names(names)
    labelled = _labelled_columns(table)
    if labelled is None:
        columns, chosen = _from_array(array_of(table, "X"), wanted)
    else:
        columns, chosen = _from_labelled(*labelled, wanted)
    if columns.shape[1] == 0:
        raise DataError("X has no rows; give at least one")
    check_finite(columns, [_place(name) for name in chosen])
    return columns, chosen


def _from_array(array: NDArray[Any], wanted: tuple[str, ...] | None) -> tuple[Values, tuple[str, ...]]:
    if array.ndim not in (1, 2):
        what = f"has {array.ndim} dimensions, shape {array.shape}" if array.ndim else f"is {shown(array[()])}"
        raise DataError(f"X {what}; give a table of numbers: an array (rows, variables), a DataFrame or a mapping")
    if len(array) == 0:
        raise DataError("X has no rows; give at least one")
    across = (array[:, np.newaxis] if array.ndim == 1 else array).T
    chosen = _names_by_position(len(across), wanted)
    if is_plain(array):
        return np.array(across, dtype=np.float64, order="C"), chosen
    columns = np.empty(across.shape)
    for k, name in enumerate(chosen):
        columns[k] = numbers_of(across[k], _place(name))
    return columns, chosen


def _labelled_columns(table: Any) -> tuple[list[Hashable], Callable[[Any], Any]] | None:
    """The labels of a table that has some, and what gives a label's column."""
    if isinstance(table, Mapping):
        return list(table), table.__getitem__
    if isinstance(table, np.ndarray) and table.dtype.names is not None:
        return list(table.dtype.names), table.__getitem__
    if hasattr(table, "columns") and hasattr(table, "to_numpy"):  # a DataFrame, of pandas or polars
        return list(table.columns), table.__getitem__
    return None


def _from_labelled(
    labels: list[Hashable], column_of: Callable[[Any], Any], wanted: tuple[str, ...] | None
) -> tuple[Values, tuple[str, ...]]:
    counts = Counter(labels)
    if any(isinstance(label, str) for label in labels):
        chosen = tuple(str(label) for label in labels) if wanted is None else wanted
        picked = labels if wanted is None else [_known_label(name, counts) for name in wanted]
    else:  # pandas numbers the columns of a frame that was given no names
        chosen, picked = _names_by_position(len(labels), wanted), labels
    for label in picked:
        if counts[label] > 1:
            raise DataError(f"X has {counts[label]} columns named {label!r}; rename them or leave all but one out")
    read = [numbers_of(column_of(label), _place(name)) for label, name in zip(picked, chosen, strict=True)]
    if not read:
        return np.empty((0, len(column_of(labels[0])) if labels else 0)), chosen
    for column, name in zip(read, chosen, strict=True):
        if len(column) != len(read[0]):
            both = f"{_place(chosen[0])} has {len(read[0])} rows and {_place(name)} has {len(column)}"
            raise DataError(f"{both}; columns must be equally long")
    return np.stack(read), chosen


# -- checks ---------------------------------------------------------------------------


def _checked_names(names: Sequence[str]) -> tuple[str, ...]:
    if isinstance(names, str):
        raise DataError(f"names={names!r} is one text; give a list of names, such as [{names!r}]")
    for name, count in Counter(names).items():
        if count > 1:
            raise DataError(f"the name {name!r} is given to {count} variables; rename all but one of them")
    return tuple(names)


def _names_by_position(count: int, wanted: tuple[str, ...] | None) -> tuple[str, ...]:
    if wanted is None:
        if count == 0:
            raise DataError("X has no columns; give at least one variable")
        return tuple(variable_names(count))
    if count != len(wanted):
        variables = f"{len(wanted)} variables ({shortened(', '.join(wanted))})" if wanted else "no variables"
        raise DataError(
            f"X has {count} columns and there are {variables}; "
            "give one column for each, in that order, or a DataFrame with these names"
        )
    return wanted


def _known_label(name: str, labels: Counter[Hashable]) -> str:
    if name not in labels:
        known = [str(label) for label in labels]
        raise DataError(f"X has no column {name!r}, only: {shortened(', '.join(known))}{suggestion(name, known)}")
    return name


def what_is_alike(data: Data) -> str | None:
    """Return "rows" if the rows that count are all the same, "columns" if all but the target is; None otherwise.

    One row is different from all others.
    """
    counting = np.arange(data.n_rows) if data.weights is None else np.flatnonzero(data.weights)
    if len(counting) < 2 or any(_varies(column[counting]) for column in data.columns):
        return None
    return "columns" if _varies(data.y[counting]) else "rows"


def _varies(values: Values) -> bool:
    return bool((values != values[0]).any())


def _check_target(data: Data, allow_constant: bool) -> None:
    counting = data.y if data.weights is None else data.y[data.weights > 0]
    low, high = float(counting.min()), float(counting.max())
    if low == high and not allow_constant:
        rows = "every row" if data.weights is None else "every row with a weight above 0"
        raise DataError(
            f"y is {low} in {rows}, so there is nothing to explain; "
            "give a target that varies, or pass allow_constant_target=True"
        )
    is_small = low != high and data.squares_about_mean == 0
    if is_small or not math.isfinite(squares_about_zero(counting, None) + squares_about_zero(data.y, data.weights)):
        unit = "smaller" if is_small else "larger"
        raise DataError(
            f"y lies between {low} and {high}, where squared errors leave float64; measure it in a {unit} unit"
        )


def _place(name: str) -> str:
    return f"column {name!r} of X"
