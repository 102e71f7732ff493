"""Values of expressions on data, and sums of their squared errors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from edhie.arrays import Indices, Numbers
from edhie.errors import EdhieError, ExpressionError, shortened
from edhie.evaluate.data import Data
from edhie.evaluate.machine.program import plan, plan_shared
from edhie.evaluate.numbers import read_only
from edhie.evaluate.parallel import parallel_for, thread_count
from edhie.expr import Expr, Forest
from edhie.expr.interpret import interpret, numpy_function
from edhie.expr.symbols import Opcode, Symbol

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


# -- a user's operators, which have no kernels: by NumPy, the slower path --------------

MOST_NUMBERS = 1 << 17  # of a column for a user's operator: a megabyte, which caches hold
SAME = 1e-9  # of the largest value: long and short columns may be rounded differently
REAL = "fiub"  # kinds of real numbers


def with_custom_operators(forest: Forest) -> Indices:
    """Return the places of the expressions that have a user's operators."""
    is_custom = forest.library.opcodes == Opcode.CUSTOM
    return np.unique(forest.owners[is_custom[forest.tokens]]) if is_custom.any() else np.zeros(0, np.int64)


def custom_values(forest: Forest, columns: Numbers) -> Iterator[tuple[int, Numbers]]:
    """Yield the places and values of the expressions that have a user's operators."""
    for k in with_custom_operators(forest).tolist():
        yield k, numpy_values(forest[k], columns)


def numpy_values(expr: Expr, columns: Numbers) -> Numbers:
    """Return the values of one expression by NumPy, on columns that a user's operators cannot change."""
    named = dict(zip(expr.library.variables, map(read_only, columns), strict=True))
    found = np.asarray(interpret(expr, named))
    if found.dtype.kind not in REAL or found.shape not in ((), columns.shape[1:]):
        shown = f"{found.dtype} of shape {found.shape}"
        raise ExpressionError(
            f"{shortened(str(expr))!r} came to {shown} on {columns.shape[1]} rows; "
            "the operators that were added must give one real number per row"
        )
    return np.array(np.broadcast_to(found, columns.shape[1:]), dtype=np.float64)


class _NoColumnError(Exception):
    """Raised if a user's operator does not give one real number per row."""


class Interpreted:
    """An expression as a function of its constants, for many values of them at once.

    A user's operator gets one long column, all values of the constants one after another, so that it has to handle
    columns only. An operator that uses other rows, such as the mean of a column, gives other values then: the first
    result is compared with that of one set of constants alone, and if they differ, all are computed alone.
    """

    def __init__(self, expr: Expr, columns: Numbers) -> None:
        self._expr = expr
        self._columns = columns
        self._are_together: bool | None = None  # not known yet

    def values(self, constants: Numbers) -> Numbers:
        """Return the values, (n, rows), for constants of shape (n, constants); NaN where a constant is not finite."""
        n_rows = self._columns.shape[1]
        found = np.full((len(constants), n_rows), np.nan)
        whole = np.flatnonzero(np.isfinite(constants).all(axis=1))
        most = max(MOST_NUMBERS // max(n_rows, 1), 1)
        for start in range(0, len(whole), most):
            part = whole[start : start + most]
            together = self._together(constants[part]) if len(part) > 1 and self._are_together is not False else None
            found[part] = [self._alone(row) for row in constants[part]] if together is None else together
        return found

    def _together(self, constants: Numbers) -> Numbers | None:
        """Return the values for all constants at once; None where a user's operator cannot do that."""
        try:
            found = self._run(constants)
        except Exception:  # whatever a user's operator raises: it may be the long column
            self._are_together = False
            return None
        if self._are_together is None:
            last = self._alone(constants[-1])
            with np.errstate(all="ignore"):
                near = SAME * np.abs(last[np.isfinite(last)]).max(initial=0.0)
            self._are_together = np.allclose(found[-1], last, rtol=SAME, atol=near, equal_nan=True)
        return found if self._are_together else None

    def _alone(self, constants: Numbers) -> Numbers:
        try:
            found: Numbers = self._run(constants[np.newaxis])[0]
        except _NoColumnError:
            found = numpy_values(self._expr.with_constants(constants.tolist()), self._columns)  # raises, and says why
        return found

    def _run(self, constants: Numbers) -> Numbers:
        """Return the values; on the stack, parts without constants are (rows,) or (), others (n, rows) or (n, 1)."""
        library, place = self._expr.library, constants.shape[1]
        columns = dict(zip(library.variables, map(read_only, self._columns), strict=True))
        stack: list[NDArray[Any]] = []
        with np.errstate(all="ignore"):
            for token in reversed(self._expr.tokens):
                symbol = library[token]
                if symbol.kind == "operator":
                    stack.append(_applied(symbol, [stack.pop() for _ in range(symbol.arity)]))
                elif symbol.kind == "constant":
                    place -= 1
                    stack.append(constants[:, place : place + 1])
                elif symbol.kind == "variable":
                    stack.append(columns[token])
                else:
                    stack.append(np.asarray(symbol.value if symbol.kind == "literal" else float(token)))
        return np.asarray(np.broadcast_to(stack.pop(), (len(constants), self._columns.shape[1])), dtype=np.float64)


def _applied(symbol: Symbol, operands: list[NDArray[Any]]) -> NDArray[Any]:
    """Apply an operator; a user's gets operands with constants as one long column, a copy that it may overwrite."""
    shape = np.broadcast_shapes(*(operand.shape for operand in operands))
    is_long = symbol.is_custom and len(shape) == 2
    if is_long:
        operands = [np.broadcast_to(operand, shape).flatten() for operand in operands]
    found = np.asarray(numpy_function(symbol)(*operands))
    wanted = (math.prod(shape),) if is_long else shape
    if symbol.is_custom and (found.dtype.kind not in REAL or found.shape not in ((), wanted)):
        raise _NoColumnError
    return found.reshape(shape) if is_long and found.shape else found
