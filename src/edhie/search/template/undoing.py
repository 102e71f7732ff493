"""What has to stand in a hole for the whole to be the target: operators are undone from the root to the hole."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.values import values
from edhie.expr import Forest
from edhie.expr.symbols import Opcode
from edhie.search.pieces.splicing import Stock

Numbers = NDArray[np.float64]


def _signed(root: Callable[[Numbers], Numbers]) -> Callable[[Numbers, Numbers], Numbers]:
    """Of two roots that with the sign of what stands there now."""
    return lambda t, now: np.where(now < 0, -1.0, 1.0) * root(t)


def _nearest_turn(value: Numbers, now: Numbers, turn: float) -> Numbers:
    return np.asarray(value + turn * np.round((now - value) / turn))


def _arc_sine(t: Numbers, now: Numbers) -> Numbers:
    """Of all angles with a sine the nearest to what stands there now."""
    one, other = (_nearest_turn(angle, now, 2 * np.pi) for angle in (np.arcsin(t), np.pi - np.arcsin(t)))
    return np.where(np.abs(one - now) <= np.abs(other - now), one, other)


UNARY: dict[int, Callable[[Numbers, Numbers], Numbers]] = {
    Opcode.NEG: lambda t, now: -t,
    Opcode.INV: lambda t, now: 1 / t,
    Opcode.POW2: _signed(np.sqrt),
    Opcode.POW3: lambda t, now: np.cbrt(t),
    Opcode.POW4: _signed(lambda t: np.sqrt(np.sqrt(t))),
    Opcode.POW5: lambda t, now: np.sign(t) * np.abs(t) ** 0.2,
    Opcode.SQRT: lambda t, now: np.where(t >= 0, t**2, np.nan),
    Opcode.CBRT: lambda t, now: t**3,
    Opcode.EXP: lambda t, now: np.log(t),
    Opcode.LOG: lambda t, now: np.exp(t),
    Opcode.LOG10: lambda t, now: 10.0**t,
    Opcode.ABS: _signed(lambda t: np.where(t >= 0, t, np.nan)),
    Opcode.SIN: _arc_sine,
    Opcode.COS: lambda t, now: _arc_sine(t, now + np.pi / 2) - np.pi / 2,
    Opcode.TAN: lambda t, now: _nearest_turn(np.arctan(t), now, np.pi),
    Opcode.ASIN: lambda t, now: np.where(np.abs(t) <= np.pi / 2, np.sin(t), np.nan),
    Opcode.ACOS: lambda t, now: np.where((t >= 0) & (t <= np.pi), np.cos(t), np.nan),
    Opcode.ATAN: lambda t, now: np.where(np.abs(t) < np.pi / 2, np.tan(t), np.nan),
    Opcode.SINH: lambda t, now: np.arcsinh(t),
    Opcode.COSH: _signed(np.arccosh),
    Opcode.TANH: lambda t, now: np.arctanh(t),
}
"""By opcode: the operand, from the result and from what the operand is now."""
LEFT: dict[int, Callable[[Numbers, Numbers], Numbers]] = {
    Opcode.ADD: lambda t, other: t - other,
    Opcode.SUB: lambda t, other: t + other,
    Opcode.MUL: lambda t, other: t / other,
    Opcode.DIV: lambda t, other: t * other,
    Opcode.POW: lambda t, other: t ** (1 / other),
}
"""By opcode: the first operand, from the result and the second."""
RIGHT: dict[int, Callable[[Numbers, Numbers], Numbers]] = {
    Opcode.ADD: lambda t, other: t - other,
    Opcode.SUB: lambda t, other: other - t,
    Opcode.MUL: lambda t, other: t / other,
    Opcode.DIV: lambda t, other: other / t,
    Opcode.POW: lambda t, other: np.log(t) / np.log(other),
}


@np.errstate(all="ignore")  # what cannot be undone is not finite
def undone(frame: Forest, hole: int, columns: Numbers, y: Numbers) -> Numbers | None:
    """By row: the value of the variable `hole`, a token that stands once in one expression, that makes it `y`.

    NaN where there is none; None where an operator above it cannot be undone.
    """
    library, stock = frame.library, Stock(frame)
    now = values(stock.join([stock.subtrees(np.arange(len(frame.tokens)))]), columns)
    target: Numbers = y
    at = 0
    while frame.tokens[at] != hole:
        opcode, left, right = int(library.opcodes[frame.tokens[at]]), int(frame.left[at]), int(frame.right[at])
        is_right = right >= 0 and hole in frame.tokens[right : right + frame.subtree_sizes[right]]
        table = UNARY if right < 0 else RIGHT if is_right else LEFT
        if opcode not in table:
            return None
        beside = left if right < 0 or is_right else right
        target = table[opcode](target, now[beside])
        at = right if is_right else left
    return np.where(np.isfinite(target), target, np.nan)
