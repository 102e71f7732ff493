"""Values of one expression by NumPy, planned once, for many values of its constants at once.

Parts without constants are computed once. A user's operator gets one long column, all values of the constants one
after another, so that it needs to know of columns only. One that looks beyond its row, such as at the sum of a
column, gives something else then: the first answer is compared with what comes one by one, which it is from then on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.numbers import read_only
from edhie.evaluate.values import numpy_values
from edhie.expr import Expr
from edhie.expr.interpret import numpy_function

Numbers = NDArray[np.float64]

MOST_NUMBERS = 1 << 17  # of a column for a user's operator: a megabyte, which caches hold
SAME = 1e-9  # of the largest value: long and short columns may be rounded otherwise
REAL = "fiub"  # kinds of real numbers


class _Call(NamedTuple):
    """An operator to be applied."""

    function: Callable[..., Any]
    arity: int
    is_custom: bool


Step = _Call | NDArray[Any] | int


class _NoColumnError(Exception):
    """Raised where a user's operator gives something else than one real number a row."""


class Interpreted:
    """An expression as a function of its constants, in the order of its tokens."""

    def __init__(self, expr: Expr, columns: Numbers) -> None:
        self._expr = expr
        self._columns = columns
        self._are_together: bool | None = None  # not known yet
        self._steps = self._planned()

    def values(self, constants: Numbers) -> Numbers:
        """Return the values, (n, rows), for constants of shape (n, constants); NaN where a constant is not finite."""
        n, n_rows = len(constants), self._columns.shape[1]
        found = np.full((n, n_rows), np.nan)
        whole = np.flatnonzero(np.isfinite(constants).all(axis=1))
        most = max(MOST_NUMBERS // max(n_rows, 1), 1)
        for start in range(0, len(whole), most):
            part = whole[start : start + most]
            found[part] = self._part(constants[part])
        return found

    def _part(self, constants: Numbers) -> Numbers:
        if len(constants) > 1 and self._are_together is not False:
            together = self._together(constants)
            if together is not None:
                return together
        return np.array([self._alone(row) for row in constants])

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
        """Run the steps on a stack of arrays: (rows,) or () without constants, (n, 1) or (n, rows) with them."""
        stack: list[NDArray[Any]] = []
        with np.errstate(all="ignore"):
            for step in self._steps:
                if isinstance(step, _Call):
                    operands = [stack.pop() for _ in range(step.arity)]
                    stack.append(_own(step, operands) if step.is_custom else np.asarray(step.function(*operands)))
                else:
                    stack.append(step if isinstance(step, np.ndarray) else constants[:, step : step + 1])
        return np.asarray(np.broadcast_to(stack.pop(), (len(constants), self._columns.shape[1])), dtype=np.float64)

    def _planned(self) -> list[Step]:
        """Return the steps, from right to left: operators, values of parts without constants, places of constants."""
        library, n_rows = self._expr.library, self._columns.shape[1]
        columns = dict(zip(library.variables, map(read_only, self._columns), strict=True))
        place = len(self._expr.constants)
        stack: list[list[Step]] = []  # the steps of every operand
        with np.errstate(all="ignore"):
            for token in reversed(self._expr.tokens):
                symbol = library[token]
                if symbol.kind == "operator":
                    call = _Call(numpy_function(symbol), symbol.arity, symbol.is_custom)
                    operands = [stack.pop() for _ in range(symbol.arity)]
                    steps = [step for operand in reversed(operands) for step in operand]
                    stack.append(_folded(call, operands, n_rows) or [*steps, call])
                elif symbol.kind == "constant":
                    place -= 1
                    stack.append([place])
                elif symbol.kind == "variable":
                    stack.append([columns[token]])
                else:
                    stack.append([np.asarray(symbol.value if symbol.kind == "literal" else float(token))])
        return stack.pop()


def _folded(call: _Call, operands: list[list[Step]], n_rows: int) -> list[Step] | None:
    """Return the values of an operator whose operands have no constants; None where they are no column."""
    known = [operand[0] for operand in operands if len(operand) == 1 and isinstance(operand[0], np.ndarray)]
    if len(known) < len(operands):
        return None
    # columns are read_only; what is kept besides is not for a user's operator to write into either
    found = np.asarray(call.function(*(each.copy() if each.flags.writeable else each for each in known)))
    return [found] if found.dtype.kind in REAL and found.shape in ((), (n_rows,)) else None


def _own(call: _Call, operands: list[NDArray[Any]]) -> NDArray[Any]:
    """Apply a user's operator to one long column, a copy that it may overwrite."""
    shape = np.broadcast_shapes(*(operand.shape for operand in operands))
    long = [np.broadcast_to(operand, shape).flatten() for operand in operands]
    found = np.asarray(call.function(*long))
    if found.dtype.kind not in REAL or found.shape not in ((), long[0].shape):
        raise _NoColumnError
    return found.reshape(shape) if found.shape else found
