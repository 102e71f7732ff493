"""Values of an expression, computed by NumPy functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from edhie.errors import ExpressionError, shortened
from edhie.expr.expression import Expr
from edhie.expr.symbols import Symbol

POWERS: dict[str, Callable[..., Any]] = {
    "power3": lambda a: np.multiply(a, a) * a,
    "power4": lambda a: np.square(np.square(a)),
    "power5": lambda a: np.square(np.square(a)) * a,
}
"""Powers by multiplication, which rounds less than a general power."""


@cache
def numpy_function(symbol: Symbol) -> Callable[..., Any]:
    """Return the function of arrays for an operator."""
    if callable(symbol.numpy):
        return symbol.numpy
    return POWERS.get(symbol.numpy) or cast(Callable[..., Any], getattr(np, symbol.numpy))


def interpret(expr: Expr, columns: Mapping[str, ArrayLike]) -> NDArray[Any]:
    """Return the values for columns by variable name; invalid operations give NaN or inf, without a warning."""
    for name in expr.variables:
        if name not in columns:
            given = f"given: {', '.join(columns)}" if columns else "none were given"
            raise ExpressionError(f"no values for the variable {name!r} of {shortened(str(expr))!r}; {given}")
    arrays = {name: _numbers(name, columns[name]) for name in expr.variables}
    try:
        np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise ExpressionError(f"the columns differ in shape: {shapes}") from None

    def leaf(symbol: Symbol, token: str, value: float | None) -> NDArray[Any]:
        if symbol.kind == "variable":
            return arrays[token]
        if value is None:
            shown = shortened(str(expr))
            raise ExpressionError(f"{shown!r} has constants without values; give them by with_constants()")
        return np.asarray(value)

    with np.errstate(all="ignore"):
        return expr.fold(leaf, lambda symbol, operands: np.asarray(numpy_function(symbol)(*operands)))


def _numbers(name: str, column: ArrayLike) -> NDArray[Any]:
    try:
        return np.asarray(column, dtype=float)
    except (TypeError, ValueError) as error:
        raise ExpressionError(f"the values of the variable {name!r} are not real numbers: {error}") from None
