"""Values of expressions on data, and sums of their squared errors."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from edhie.errors import EdhieError, ExpressionError, shortened
from edhie.evaluate.arrays import Numbers
from edhie.evaluate.custom_operators import custom_values
from edhie.evaluate.data import Data
from edhie.evaluate.machine.program import plan, plan_shared
from edhie.evaluate.parallel import parallel_for, thread_count
from edhie.expr import Forest

if TYPE_CHECKING:
    from edhie.evaluate.machine.kernels import Target


def values(forest: Forest, columns: Numbers) -> Numbers:
    """Return the values of all expressions, one row each; `columns` has one row for each variable of the library.

    Invalid operations give inf or NaN.

    >>> from edhie.expr import parse, Forest
    >>> values(Forest.from_exprs([parse("x0^2"), parse("1/x0")]), np.array([[0.0, 2.0, 4.0]])).tolist()
    [[0.0, 4.0, 16.0], [inf, 0.5, 0.25]]
    """
    check_fitted(forest, columns)
    from edhie.evaluate.machine import kernels

    out = np.empty((len(forest), columns.shape[1]))
    program = plan_shared(forest, group=-(-len(forest) // thread_count()))
    parallel_for(partial(kernels.values, program, columns, out), len(program.groups) - 1)
    for k, found in custom_values(forest, columns):
        out[k] = found
    return out


def squared_errors(forest: Forest, data: Data, *, bounds: float | Numbers = np.inf) -> Numbers:
    """Return the weighted sum of squared errors of each expression, infinite where a value is not finite.

    Sums above their bound are infinite too, and their computation ends early; all others are exact.
    """
    check_fitted(forest, data.columns)
    from edhie.evaluate.machine import kernels

    out = np.empty(len(forest))
    limits = np.array(np.broadcast_to(bounds, out.shape), np.float64)  # writable: kernels are compiled for each kind
    # under a bound most expressions end after one block of rows, which saves more than sharing subtrees does
    is_bounded = bool(np.isfinite(limits).any())
    program = plan(forest) if is_bounded else plan_shared(forest, group=-(-len(forest) // thread_count()))
    work = partial(kernels.squared_errors, program, target_of(data), limits, out)
    parallel_for(work, len(program.groups) - 1)
    for k, found in custom_values(forest, data.columns):
        with np.errstate(all="ignore"):
            squares = (found - data.y) ** 2
            total = float(squares.sum() if data.weights is None else squares @ data.weights)
        out[k] = total if total <= limits[k] and total < np.inf else np.inf
    return out


def target_of(data: Data) -> Target:
    """Return data as an argument of kernels."""
    from edhie.evaluate.machine.kernels import Target

    return Target(data.columns, data.y, np.empty(0) if data.weights is None else data.weights)


def check_columns(forest: Forest, columns: Numbers) -> None:
    """Raise an error unless the data has one row of doubles for each variable."""
    wanted = len(forest.library.variables)
    if columns.ndim != 2 or len(columns) != wanted:
        raise EdhieError(
            f"the library has {wanted} variables; the data has the shape {columns.shape}, not {wanted} rows"
        )
    if columns.dtype != np.float64 or not columns.flags.c_contiguous:
        raise EdhieError("the data must be contiguous rows of float64; read_data() makes them so")


def check_fitted(forest: Forest, columns: Numbers) -> None:
    """Raise an error unless the data has one row of doubles for each variable, and every constant has a value."""
    check_columns(forest, columns)
    missing = np.flatnonzero(np.isnan(forest.values))
    if len(missing):
        first = int(forest.value_owners[missing[0]])
        raise ExpressionError(
            f"the constant {forest.library.constant!r} has no value in expression {first}, "
            f"{shortened(str(forest[first]))!r}; fit it, or give it one by with_constants()"
        )
