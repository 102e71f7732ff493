"""Conversion of table cells to numbers, with errors that name the cell, and checks of settings."""

from __future__ import annotations

import math
from datetime import date, time, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edhie.arrays import Numbers
from edhie.errors import DataError, EdhieError, shortened

MISSING_TYPES = frozenset(("NoneType", "NAType", "NaTType"))  # those of pandas by name, as it is not imported
TIMES = (date, time, timedelta, np.datetime64, np.timedelta64)
PLAIN_TYPES = frozenset((float, int, bool, type(None)))  # NumPy itself turns these into floats, None into NaN


def array_of(values: Any, place: str) -> NDArray[Any]:
    """Return an array of a type that keeps the values as given."""
    if hasattr(values, "toarray") and hasattr(values, "nnz"):
        raise DataError(f"{place} is a sparse matrix; make an array of it with .toarray()")
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if isinstance(values, np.ma.MaskedArray):
        return values
    try:
        array = np.asarray(values)
        if array.dtype.kind in "USc" and not isinstance(values, np.ndarray):
            array = np.array(values, dtype=object)  # NumPy turns 1 and "a" into "1" and "a"; the error is to show "a"
    except (TypeError, ValueError, RuntimeError) as error:
        lengths = [len(row) if hasattr(row, "__len__") else 1 for row in values] if isinstance(values, list) else []
        odd = next((row for row, length in enumerate(lengths) if length != lengths[0]), None)
        if odd is None:
            raise DataError(f"{place} cannot be read as an array: {error}; give numbers") from error
        both = f"row 0 of {place} has length {lengths[0]} and row {odd} has length {lengths[odd]}"
        raise DataError(f"{both}; rows must be equally long") from None
    return array


def is_plain(array: NDArray[Any]) -> bool:
    """Return True if NumPy turns the array into float64 without loss."""
    return array.dtype.kind in "fiub" and array.dtype.itemsize <= 8 and not np.ma.is_masked(array)


def numbers_of(values: Any, place: str, *, first_row: int = 0) -> Numbers:
    """Return the numbers of one column as a new array; missing values become NaN.

    `first_row` is the number of the first value's row in messages.
    """
    array = array_of(values, place)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        what = f"has shape {array.shape}" if array.ndim else f"is {shown(array[()])}"
        raise DataError(f"{place} {what}; give one column of numbers")
    if np.ma.is_masked(array):
        masked = np.flatnonzero(np.ma.getmaskarray(array))
        raise DataError(
            f"{place} is masked in {rows_named(masked)}; drop such rows or fill them, for example with .filled(0)"
        )
    if is_plain(array):
        return np.array(array, dtype=np.float64)
    if PLAIN_TYPES.issuperset(map(type, array)):
        try:
            return array.astype(np.float64)
        except OverflowError:
            pass  # one of them is too large: it is found below
    return np.array([_number(value, place, row) for row, value in enumerate(array, first_row)], dtype=np.float64)


def _number(value: Any, place: str, row: int) -> float:
    if type(value).__name__ in MISSING_TYPES:
        return math.nan
    here = f"in row {row} (counted from 0)"
    if isinstance(value, str | bytes):
        what_next = "leave this column out or turn it into numbers, for example with .astype(float)"
        raise DataError(f"{place} holds the text {shown(value)} {here}; {what_next}")
    if isinstance(value, complex | np.complexfloating):
        raise DataError(f"{place} holds the complex number {value} {here}; give real numbers, such as its .real part")
    if isinstance(value, TIMES):
        raise DataError(f"{place} holds the time {value} {here}; turn times into numbers, such as seconds from a start")
    try:
        if isinstance(value, np.ndarray) and value.ndim:
            raise TypeError("an array inside of an array")
        number = float(value)
    except OverflowError:
        number = math.inf
    except (TypeError, ValueError, ArithmeticError):
        raise DataError(f"{place} holds {shown(value)} {here}, which is no number; give real numbers") from None
    if math.isinf(number) and value != number:
        raise DataError(f"{place} holds {shown(value)} {here}, which is beyond float64 (1.8e308); use a larger unit")
    return number


def check_whole(name: str, given: Any, least: int, *, or_none: str = "") -> None:
    """Raise an error if a setting is not a 64-bit integer of at least `least`."""
    if not isinstance(given, int | np.integer) or not least <= given < 1 << 63:
        also = f", or None for {or_none}" if or_none else ""
        raise EdhieError(f"{name} must be a whole number, at least {least}{also}; it is {shown(given)}")


def read_only(values: Numbers) -> Numbers:
    """Return a view that a user's function cannot overwrite by mistake."""
    view = values.view()
    view.flags.writeable = False
    return view


def rows_named(rows: NDArray[Any]) -> str:
    """Return words such as `row 3 (counted from 0), the first of 5 such rows`."""
    return f"row {rows[0]} (counted from 0), " + (
        f"the first of {len(rows)} such rows" if len(rows) > 1 else "no other"
    )


def shown(value: Any) -> str:
    """Return the value as a message shows it, shortened."""
    try:
        return shortened(repr(value.item() if isinstance(value, np.generic) else value), 40)
    except ValueError:  # Python does not print integers of thousands of digits
        return f"an integer of {value.bit_length()} bits" if isinstance(value, int) else f"a {type(value).__name__}"
