"""What expressions come to on data: their values, and the sums of their squared errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from edhie.errors import EdhieError
from edhie.evaluate.data import Data
from edhie.evaluate.program import check_constants, plan, with_custom_operators
from edhie.evaluate.threads import spread
from edhie.expr import Forest
from edhie.expr.interpret import interpret

if TYPE_CHECKING:
    from edhie.evaluate.kernels import Target

Numbers = NDArray[np.float64]


def values(
    forest: Forest, columns: Numbers, *, dtype: DTypeLike = np.float64, threads: int | None = 1
) -> NDArray[np.floating[Any]]:
    """The values of all expressions, one row each; `columns` has one row for each variable of the library.

    Invalid operations give inf or NaN. In single precision only the result is: what leads to it is not.

    >>> from edhie.expr import parse, Forest
    >>> values(Forest.from_exprs([parse("x0^2"), parse("1/x0")]), np.array([[0.0, 2.0, 4.0]])).tolist()
    [[0.0, 4.0, 16.0], [inf, 0.5, 0.25]]
    """
    check_columns(forest, columns)
    check_constants(forest)
    if np.dtype(dtype) not in (np.float64, np.float32):
        raise EdhieError(f"values come as float64 or float32, not {np.dtype(dtype)}")
    from edhie.evaluate import kernels

    program = plan(forest)
    out = np.empty((len(forest), columns.shape[1]), dtype)
    spread(lambda start, stop: kernels.values(program, columns, start, stop, out), len(forest), threads)
    for k, found in custom_values(forest, columns):
        with np.errstate(over="ignore"):  # beyond single precision is infinite
            out[k] = found
    return out


def squared_errors(forest: Forest, data: Data, *, bounds: float | Numbers = np.inf, threads: int | None = 1) -> Numbers:
    """The weighted sum of squared errors of each expression, infinite where a value is not finite.

    What passes its bound is infinite too, and is found out as early as possible; the sums of all
    others are exact.
    """
    check_columns(forest, data.columns)
    check_constants(forest)
    from edhie.evaluate import kernels

    program = plan(forest)
    out = np.empty(len(forest))
    limits = np.ascontiguousarray(np.broadcast_to(np.asarray(bounds, np.float64), out.shape))
    target = target_of(data)
    spread(lambda start, stop: kernels.squared_errors(program, target, limits, start, stop, out), len(forest), threads)
    for k, found in custom_values(forest, data.columns):
        with np.errstate(all="ignore"):
            squares = (found - data.y) ** 2
            total = float(squares.sum() if data.weights is None else squares @ data.weights)
        out[k] = total if total <= limits[k] and total < np.inf else np.inf
    return out


def target_of(data: Data) -> Target:
    """Data as the kernels take it."""
    from edhie.evaluate.kernels import Target

    return Target(data.columns, data.y, np.empty(0) if data.weights is None else data.weights)


def custom_values(forest: Forest, columns: Numbers) -> Iterator[tuple[int, Numbers]]:
    """The values of expressions with a user's operators, by NumPy: the slower path."""
    named = dict(zip(forest.library.variables, columns, strict=True))
    for k in with_custom_operators(forest).tolist():
        found = np.broadcast_to(interpret(forest[k], named), columns.shape[1:])
        yield k, np.asarray(found, dtype=np.float64)


def check_columns(forest: Forest, columns: Numbers) -> None:
    """Raise where the data has not one row of doubles for each variable."""
    wanted = len(forest.library.variables)
    if columns.ndim != 2 or len(columns) != wanted:
        raise EdhieError(
            f"the library has {wanted} variables; the data has the shape {columns.shape}, not {wanted} rows"
        )
    if columns.dtype != np.float64 or not columns.flags.c_contiguous:
        raise EdhieError("the data must be contiguous rows of float64; read_data() makes them so")
