"""Whether two expressions agree at a point, as far as rounding lets one tell.

Values are computed to 60 digits, and again with every intermediate result shaken by a relative
10^-15: what that moves is what doubles cannot tell, as in tan(1e15*x) or sin(pi).
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath

from edhie.expr import Expr
from edhie.expr.precise import FUNCTIONS, UndefinedError

DIGITS = 60
SHAKE = 1e-15
EXACT = ("neg", "abs", "min", "max", "sign")
MAX_BITS = 400  # beyond, doubles may overflow on the way
Point = Mapping[str, float]


@dataclass(frozen=True)
class Value:
    """A value and by how much rounding to doubles may move it."""

    exact: Any
    spread: Any


def value_at(expr: Expr, point: Point, constants: Sequence[float] = ()) -> Value | None:
    """The value there, or None where there is none, or none that survives rounding."""
    draw = random.Random(0)
    with mpmath.workdps(DIGITS):
        try:
            exact = _shaken(expr, point, constants, draw, 0.0)
            others = [_shaken(expr, point, constants, draw, SHAKE) for _ in range(4)]
        except UndefinedError:
            return None
        return Value(exact, max(abs(other - exact) for other in others))


def agree(a: Expr, b: Expr, point: Point, of_a: Sequence[float] = (), of_b: Sequence[float] = ()) -> bool:
    """Whether b has a's value, where a has one."""
    ours = value_at(a, point, of_a)
    if ours is None:
        return True
    theirs = value_at(b, point, of_b)
    if theirs is None:
        return _is_at_an_edge(b, point, of_b)
    return bool(abs(ours.exact - theirs.exact) <= tolerance(ours) + tolerance(theirs))


def tolerance(value: Value) -> Any:
    """How far a value computed in doubles may be off."""
    return 100 * value.spread + SHAKE * (abs(value.exact) + mpmath.mpf(10) ** -100)


def _is_at_an_edge(expr: Expr, point: Point, constants: Sequence[float]) -> bool:
    """Whether only rounding takes the value away, as for asin(1)."""
    with mpmath.workdps(DIGITS):
        try:
            _shaken(expr, point, constants, random.Random(0), 0.0)
        except UndefinedError:
            return False
        return True


def _shaken(expr: Expr, point: Point, constants: Sequence[float], draw: random.Random, size: float) -> Any:
    free, stack = list(constants), []
    fitted = list(expr.constants)
    for token in reversed(expr.tokens):
        symbol = expr.library[token]
        if symbol.kind == "operator":
            result = FUNCTIONS[symbol.name](*(stack.pop() for _ in range(symbol.arity)))
            if result != 0 and (not mpmath.isfinite(result) or abs(mpmath.mag(result)) > MAX_BITS):
                raise UndefinedError
            stack.append(result if symbol.name in EXACT else result * (1 + size * draw.uniform(-1, 1)))
        elif symbol.kind == "variable":
            stack.append(mpmath.mpf(point[token]))
        elif symbol.kind == "constant":
            known = fitted.pop()
            stack.append(mpmath.mpf(free.pop() if known is None else known))
        elif token in ("pi", "e"):
            stack.append((mpmath.pi if token == "pi" else mpmath.e) * (1 + size * draw.uniform(-1, 1)))
        else:
            stack.append(mpmath.mpf(token))
    return stack.pop()
