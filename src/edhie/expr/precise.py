"""Values to any number of digits by mpmath, for decisions that doubles are too coarse for."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mpmath

from edhie.errors import ExpressionError
from edhie.expr.expression import Expr
from edhie.expr.numerals import numeral
from edhie.expr.symbols import FUNCTIONS as SYMBOLS
from edhie.expr.symbols import NAMED_LITERALS, Symbol

Real = Any  # mpmath.mpf: mpmath has no types
MAX_BITS = 4096  # numbers beyond 2^4096 or below 2^-4096 count as undefined: exp(exp(exp(x))) would never end


class UndefinedError(ArithmeticError):
    """The expression has no real value at this point, or one beyond 2^±4096."""


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


OUTSIDE: dict[str, Callable[[Real], bool]] = {
    "non-negative": lambda a: a < 0,
    "positive": lambda a: a <= 0,
    "unit": lambda a: abs(a) > 1,
}


def _common(symbol: Symbol) -> Callable[[Real], Real]:
    """Return the function of mpmath, guarded against operands outside its domain and huge values."""
    function = getattr(mpmath, symbol.name)
    is_outside = OUTSIDE.get(symbol.domain, lambda a: False)

    def guarded(a: Real) -> Real:
        if is_outside(a) or (symbol.overflows and abs(a) > MAX_BITS):
            raise UndefinedError
        return function(a)

    return guarded


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
    **{f"^{n}": lambda a, n=n: a**n for n in (2, 3, 4, 5)},
    "inv": lambda a: _divide(mpmath.mpf(1), a),
    "cbrt": lambda a: mpmath.sign(a) * mpmath.cbrt(abs(a)),
    "abs": abs,
    "min": min,
    "max": max,
    "sign": mpmath.sign,
    **{name: _common(symbol) for name, symbol in SYMBOLS.items() if symbol.is_common},
}


def _user_function(symbol: Symbol) -> Callable[..., Real]:
    """Return a user-defined operator at the working precision, computed by its SymPy function."""
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
    """Return the value at `point` in mpmath's working precision, or raise `UndefinedError`.

    `constants` are values for the unfitted constants, in prefix order. Numbers and fitted constants such as 0.1 mean
    the decimal that is printed, not the nearest double. Raises `TimeoutError` once `time.monotonic()` passes the
    `deadline`.
    """
    unfitted, count = list(constants), expr.constants.count(None)
    if len(unfitted) != count:
        raise ExpressionError(f"{count} constants are not fitted, {len(unfitted)} values were given")

    def leaf(symbol: Symbol, token: str, value: float | None) -> Real:
        if symbol.kind == "variable":
            return point[token]
        if value is None:
            return unfitted.pop()
        return +getattr(mpmath, token) if token in NAMED_LITERALS else mpmath.mpf(numeral(value))

    def operator(symbol: Symbol, operands: list[Real]) -> Real:
        if time.monotonic() > deadline:
            raise TimeoutError("the value took too long to compute")
        result = (FUNCTIONS.get(symbol.name) or _user_function(symbol))(*operands)
        if result != 0 and (not mpmath.isfinite(result) or abs(mpmath.mag(result)) > MAX_BITS):
            raise UndefinedError
        return result

    return expr.fold(leaf, operator)


def value_or_none(
    expr: Expr, point: Mapping[str, Real], digits: int, *, constants: Sequence[Real] = (), deadline: float = math.inf
) -> Real | None:
    """Return the value at `point` to `digits` digits, or None where it is undefined; see `precise_value`."""
    with mpmath.workdps(digits):
        try:
            return precise_value(expr, point, constants=constants, deadline=deadline)
        except UndefinedError:
            return None
