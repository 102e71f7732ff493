"""Read arrays, DataFrames and mappings as `Data`; an error says what is wrong and where. Files: see `tables`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edhie.arrays import Numbers
from edhie.errors import DataError, shortened, suggestion
from edhie.evaluate.data import Data, squares_about_zero, with_resolution
from edhie.evaluate.numbers import array_of, is_plain, numbers_of, rows_named, shown
from edhie.evaluate.resolution import Resolution
from edhie.expr.library import variable_names
from edhie.safe_text import warn_of_lookalikes


def read_data(
    X: Any,  # noqa: N803 -- as scikit-learn calls it
    y: Any,
    *,
    weights: Any = None,
    sigma: Any = None,
    names: Sequence[str] | None = None,
    resolution: Resolution | None = None,
    missing: Sequence[float] = (),
    drop_missing: bool = False,
    allow_constant_target: bool = False,
) -> Data:
    """Return data from a table of variables and a target, checked once; a `DataError` says what is wrong and where.

    `X` is an array or nested list (rows × variables; one dimension is one variable), a pandas
    or polars DataFrame, or a mapping from names to columns. `names` are the variables wanted,
    in order: named columns are chosen by name, others by position.
    `sigma` are the standard errors of the target: the weights are then 1/sigma², divided by their mean. `resolution`
    is that of the target; None to infer it from its values. `missing` are numbers that stand for a missing value, such
    as -999, in `X` and `y`; with `drop_missing`, rows that have one, NaN or None, or an infinite number are left out.

    >>> read_data({"t": [0, 1, 2], "note": ["a", "b", "c"]}, [1.0, 3.0, 5.0], names=["t"]).columns
    array([[0., 1., 2.]])
    """
    if sigma is not None and weights is not None:
        raise DataError(
            "weights and sigma are both given, and sigma alone sets the weights to 1/sigma²; give one of them"
        )
    columns, chosen = _read_table(X, names)
    n_rows = columns.shape[1]
    target = _numbers_by_row(y, "y", rows=n_rows, transposed=len(columns))
    weights = None if weights is None else _numbers_by_row(weights, "weights", rows=n_rows)
    sigma = None if sigma is None else _numbers_by_row(sigma, "sigma", rows=n_rows)
    for values in (columns, target) if len(missing) else ():
        values[np.isin(values, missing)] = np.nan
    if drop_missing:
        given = [values for values in (*columns, target, weights, sigma) if values is not None]
        whole = np.logical_and.reduce([np.isfinite(values) for values in given])
        if not whole.any():
            raise DataError(f"each of the {n_rows} rows has a missing value; choose columns that have fewer of them")
        columns, target = np.ascontiguousarray(columns[:, whole]), target[whole]
        weights, sigma = (None if values is None else values[whole] for values in (weights, sigma))
    check_finite(columns, [_place(name) for name in chosen])
    check_finite(target[np.newaxis], ["y"])
    errors = None if sigma is None else read_sigma(sigma, rows=len(target))
    row_weights = None if weights is None else read_weights(weights, rows=len(target))
    row_weights = row_weights if errors is None else weights_of(errors)
    data = with_resolution(Data(columns, target, row_weights, chosen, errors), resolution)
    _check_target(data, allow_constant_target)
    return data


def data_for(data: Data, names: Sequence[str], *, allow_constant_target: bool = False) -> Data:
    """Return a copy of data that was read already, with the variables of these names in this order; check its target.

    If there are standard errors, the weights follow from them, with a mean of 1. The arrays are copied as contiguous
    float64, which kernels need, so later changes of the given ones have no effect.
    """
    for name in names:
        if name not in data.names:
            known = shortened(", ".join(data.names))
            raise DataError(f"the data has no variable {name!r}, only: {known}{suggestion(name, data.names)}")
    data = data.with_columns([data.names.index(name) for name in names])
    weights = data.weights if data.sigma is None else weights_of(data.sigma)
    columns, y = (np.array(values, np.float64, order="C") for values in (data.columns, data.y))
    weights, sigma = (None if values is None else np.array(values, np.float64) for values in (weights, data.sigma))
    data = replace(data, columns=columns, y=y, weights=weights, sigma=sigma)
    _check_target(data, allow_constant_target)
    return data


def _check_target(data: Data, allow_constant: bool) -> None:
    counting = data.y[data.counting_rows]
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


def read_columns(X: Any, *, names: Sequence[str] | None = None) -> Numbers:  # noqa: N803 -- as scikit-learn calls it
    """Return the columns of `X`, of shape (variables, rows), read and checked as `read_data` does."""
    columns, chosen = _read_table(X, names)
    check_finite(columns, [_place(name) for name in chosen])
    return columns


def _read_table(table: Any, names: Sequence[str] | None) -> tuple[Numbers, tuple[str, ...]]:
    """Return the columns, NaN where a value is missing, and the names of the variables."""
    wanted = None if names is None else _checked_names(names)
    labels = _labels(table)
    if labels is None:
        columns, chosen = _from_array(array_of(table, "X"), wanted)
    else:
        columns, chosen = _from_labelled(table, labels, wanted)
    if columns.shape[1] == 0:
        raise DataError("X has no rows; give at least one")
    return columns, chosen


def _from_array(array: NDArray[Any], wanted: tuple[str, ...] | None) -> tuple[Numbers, tuple[str, ...]]:
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


def _labels(table: Any) -> list[Hashable] | None:
    """Return the labels of a table's columns, by which it can be indexed; None for a table without labels."""
    if isinstance(table, Mapping):
        return list(table)
    if isinstance(table, np.ndarray) and table.dtype.names is not None:
        return list(table.dtype.names)
    if hasattr(table, "columns") and hasattr(table, "to_numpy"):  # a DataFrame, of pandas or polars
        return list(table.columns)
    return None


def _from_labelled(
    table: Any, labels: list[Hashable], wanted: tuple[str, ...] | None
) -> tuple[Numbers, tuple[str, ...]]:
    counts = Counter(labels)
    if any(isinstance(label, str) for label in labels):
        chosen = tuple(str(label) for label in labels) if wanted is None else wanted
        picked = labels if wanted is None else list(wanted)
    else:  # pandas numbers the columns of a frame that was given no names
        chosen, picked = _names_by_position(len(labels), wanted), labels
    for label in picked:
        if label not in counts:
            known = [str(each) for each in labels]
            hint = suggestion(str(label), known)
            raise DataError(f"X has no column {label!r}, only: {shortened(', '.join(known))}{hint}")
        if counts[label] > 1:
            raise DataError(f"X has {counts[label]} columns named {label!r}; rename them or leave all but one out")
    warn_of_lookalikes("X", chosen)
    read = [numbers_of(table[label], _place(name)) for label, name in zip(picked, chosen, strict=True)]
    if not read:
        return np.empty((0, len(table[labels[0]]) if labels else 0)), chosen
    for column, name in zip(read, chosen, strict=True):
        if len(column) != len(read[0]):
            both = f"{_place(chosen[0])} has {len(read[0])} rows and {_place(name)} has {len(column)}"
            raise DataError(f"{both}; columns must be equally long")
    return np.stack(read), chosen


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


def _place(name: str) -> str:
    return f"column {name!r} of X"


def _numbers_by_row(values: Any, place: str, *, rows: int, transposed: int = -1) -> Numbers:
    """Return a number for each row of X, NaN where it is missing."""
    read = numbers_of(values, place)
    if len(read) != rows:
        hint = "; X seems to be transposed, give X.T" if len(read) == transposed else ""
        raise DataError(f"X has {rows} rows and {place} has {len(read)}; give one value for each row of X{hint}")
    return read


def read_weights(weights: Any, *, rows: int) -> Numbers:
    """Return the weight of each row: finite numbers, none below 0, not all 0."""
    read = _numbers_by_row(weights, "weights", rows=rows)
    check_finite(read[np.newaxis], ["weights"])
    negative = np.flatnonzero(read < 0)
    if len(negative):
        raise DataError(f"weights is {read[negative[0]]} in {rows_named(negative)}; no weight may be below 0")
    if not read.any():
        raise DataError("all weights are 0; give a weight above 0 to the rows that count")
    with np.errstate(all="ignore"):
        if not np.isfinite(read.sum()):
            raise DataError(f"the weights, up to {read.max()}, sum to infinity; divide them by the largest")
    return read


def read_sigma(sigma: Any, *, rows: int, place: str = "sigma") -> Numbers:
    """Return the standard error of each row: finite numbers, all above 0."""
    read = _numbers_by_row(sigma, place, rows=rows)
    check_finite(read[np.newaxis], [place])
    bad = np.flatnonzero(read <= 0)
    if len(bad):
        must = "standard errors must be above 0; correct such rows or drop them"
        raise DataError(f"{place} is {read[bad[0]]} in {rows_named(bad)}; {must}")
    return read


def read_sigmas(sigma: Any, *, rows: int, targets: int) -> list[Numbers]:
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


def weights_of(sigma: Numbers) -> Numbers:
    """Return the weights of rows with these standard errors: 1/sigma², divided by their mean."""
    weights = np.square(sigma.min() / sigma)  # at most 1, so that no square leaves float64
    return np.asarray(weights / weights.mean())


def check_finite(columns: Numbers, places: Sequence[str]) -> None:
    """Raise an error that names the place of a number that is not finite; `places` are the names of the columns."""
    with np.errstate(all="ignore"):
        # a sum is finite only where all of its terms are: one pass, and no second array
        suspects = np.flatnonzero(~np.isfinite(columns.sum(axis=1)))
    for k in suspects.tolist():
        bad = np.flatnonzero(~np.isfinite(columns[k]))
        if len(bad):
            raise DataError(f"{places[k]} is {columns[k][bad[0]]} in {rows_named(bad)}; drop such rows or fill them")
