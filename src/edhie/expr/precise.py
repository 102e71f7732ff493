"""Values to as many digits as asked, by mpmath; the judge where doubles are too coarse."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mpmath

from edhie.errors import ExpressionError
from edhie.expr.expression import Expr
from edhie.expr.numerals import numeral
from edhie.expr.symbols import Symbol

Real = Any  # mpmath.mpf: mpmath has no types
MAX_BITS = 4096  # numbers beyond 2^4096 or below 2^-4096 count as undefined: exp(exp(exp(x))) would never end


class UndefinedError(ArithmeticError):
    """The expression has no real value at this point, or none of a sane size."""


def _power(a: Real, b: Real) -> Real:
    if a == 0:
        if b < 0:
            raise UndefinedError
        return mpmath.mpf(1 if b == 0 else 0)
    if a < 0 and not mpmath.isint(b):
        raise UndefinedError
    if abs(b) * abs(mpmath.log(abs(a), 2)) > MAX_BITS:
        raise UndefinedError
    return mpmath.power(a, b)


def _like_exp(function: Callable[[Real], Real]) -> Callable[[Real], Real]:
    def guarded(a: Real) -> Real:
        if abs(a) > MAX_BITS:
            raise UndefinedError
        return function(a)

    return guarded


def _positive(function: Callable[[Real], Real]) -> Callable[[Real], Real]:
    def guarded(a: Real) -> Real:
        if a <= 0:
            raise UndefinedError
        return function(a)

    return guarded


def _within_one(function: Callable[[Real], Real]) -> Callable[[Real], Real]:
    def guarded(a: Real) -> Real:
        if abs(a) > 1:
            raise UndefinedError
        return function(a)

    return guarded


def _sqrt(a: Real) -> Real:
    if a < 0:
        raise UndefinedError
    return mpmath.sqrt(a)


def _divide(a: Real, b: Real) -> Real:
    if b == 0:
        raise UndefinedError
    return a / b


FUNCTIONS: dict[str, Callable[..., Real]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _divide,
    "^": _power,
    "neg": lambda a: -a,
    "^2": lambda a: a**2,
    "^3": lambda a: a**3,
    "^4": lambda a: a**4,
    "^5": lambda a: a**5,
    "inv": lambda a: _divide(mpmath.mpf(1), a),
    "sqrt": _sqrt,
    "cbrt": lambda a: mpmath.sign(a) * mpmath.cbrt(abs(a)),
    "exp": _like_exp(mpmath.exp),
    "log": _positive(mpmath.log),
    "log10": _positive(mpmath.log10),
    "abs": abs,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "asin": _within_one(mpmath.asin),
    "acos": _within_one(mpmath.acos),
    "atan": mpmath.atan,
    "sinh": _like_exp(mpmath.sinh),
    "cosh": _like_exp(mpmath.cosh),
    "tanh": mpmath.tanh,
    "min": min,
    "max": max,
    "sign": mpmath.sign,
}


def _user_function(symbol: Symbol) -> Callable[..., Real]:
    """A user's operator to many digits, through its SymPy function."""
    import sympy

    from edhie.expr.sympy_bridge import sympy_function

    def evaluate(*operands: Real) -> Real:
        digits = mpmath.mp.dps
        value = sympy_function(symbol)(*(sympy.Float(each, digits) for each in operands)).evalf(digits)
        if not value.is_Float and not value.is_Integer:
            raise UndefinedError(f"the operator {symbol.name!r} has no SymPy function, or no real value there")
        return mpmath.mpf(str(value))

    return evaluate


def precise_value(
    expr: Expr, point: Mapping[str, Real], *, constants: Sequence[Real] = (), deadline: float = math.inf
) -> Real:
    """The value at `point` in mpmath's working precision, or `UndefinedError`.

    `constants` gives values for the unfitted constants, in prefix order. Numbers such as 0.1,
    those of fitted constants too, mean the decimal that is printed, not the double next to
    it. Once `time.monotonic()` passes the `deadline` it raises `TimeoutError`.
    """
    unfitted = list(constants)
    fitted = list(expr.constants)
    if len(unfitted) != fitted.count(None):
        raise ExpressionError(f"{fitted.count(None)} constants are not fitted, {len(unfitted)} values were given")
    stack: list[Real] = []
    for token in reversed(expr.tokens):
        if time.monotonic() > deadline:
            raise TimeoutError("the value took too long to compute")
        symbol = expr.library[token]
        if symbol.kind == "operator":
            function = FUNCTIONS.get(symbol.name) or _user_function(symbol)
            result = function(*(stack.pop() for _ in range(symbol.arity)))
            if result != 0 and (not mpmath.isfinite(result) or abs(mpmath.mag(result)) > MAX_BITS):
                raise UndefinedError
            stack.append(result)
        elif symbol.kind == "variable":
            stack.append(point[token])
        elif symbol.kind == "constant":
            value = fitted.pop()
            stack.append(unfitted.pop() if value is None else mpmath.mpf(numeral(value)))
        else:
            stack.append({"pi": +mpmath.pi, "e": +mpmath.e}.get(token) or mpmath.mpf(token))
    return stack.pop()
