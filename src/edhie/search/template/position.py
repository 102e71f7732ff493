"""The dependence of a whole expression on one of its parts, linearised in each row.

With values v in the holes of a part, the whole is about b + Σ a·v, so a part is good if Σ a·v is close to y - b. This
is exact if the whole is an affine function of the part. Otherwise slopes are taken at the values that would make the
whole equal to the target, if the operators from the root to the hole can be inverted, or at the current values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from edhie.evaluate.constants.jacobian import Response
from edhie.evaluate.data import Data
from edhie.evaluate.values import values
from edhie.expr import Expr, Forest
from edhie.expr.symbols import Opcode
from edhie.search.arrays import Numbers, root_weights
from edhie.search.pieces.splicing import Stock
from edhie.search.template.template import Template

LEAST_SHARE = 0.5  # least share of rows with a finite value after inversion


@dataclass(frozen=True, eq=False)
class Position:
    """A linear model of the values that one part should have, with the others fixed; unusable rows are zeros."""

    slopes: Numbers  # (distinct calls of the part, rows)
    target: Numbers  # (rows,): the sum over calls of slopes times values

    @property
    def constant(self) -> Numbers:
        """(rows,): the sum for a part that is 1."""
        return np.asarray(self.slopes.sum(axis=0))

    def along(self, found: Numbers) -> Numbers:
        """Return (pieces, rows): the sum for each piece, given values of shape (pieces, calls × rows)."""
        by_call = found.reshape(len(found), *self.slopes.shape)
        return np.asarray(np.einsum("pcr,cr->pr", by_call, self.slopes), np.float64)


def distinct_calls(template: Template, part: int) -> list[tuple[str, ...]]:
    """Return the distinct arguments that a part is called with."""
    return list(dict.fromkeys(template.calls[hole].arguments for hole in template.holes(part)))


@np.errstate(all="ignore")  # rows that are not finite are left out
def position_of(template: Template, whole: Forest, part: int, data: Data) -> Position | None:
    """Return the position of a part in one whole expression; None if it has no influence, or values overflow."""
    holes, frame = template.holes(part), template.emptied(whole)
    contents = template.parts_of(whole)
    inside = [template.in_hole(hole, contents[each]) for hole, each in enumerate(template.part_of)]
    held: Numbers = values(Forest.concatenate(inside), data.columns)
    if len(holes) == 1:
        columns = np.concatenate([data.columns, held])
        wanted = undone(frame, template.hole_tokens[holes[0]], columns, data.y)
        if wanted is not None and np.isfinite(wanted).mean() >= LEAST_SHARE:
            held = held.copy()
            held[holes[0]] = wanted
    return _linearised(template, frame, part, held, data)


def _linearised(template: Template, frame: Forest, part: int, held: Numbers, data: Data) -> Position | None:
    """Return the position with slopes at these values in the holes of a part."""
    holes = template.holes(part)
    usable = np.isfinite(held).all(axis=0)
    columns = np.ascontiguousarray(np.concatenate([data.columns, np.where(usable, held, 1.0)]))
    movable, places = _movable(template, frame, holes)
    response = Response(movable, columns)
    reached, slopes = response.jacobian(response.constants)
    moved = slopes[places]
    usable &= np.isfinite(reached) & np.isfinite(moved).all(axis=0)
    calls = distinct_calls(template, part)
    by_call = np.zeros((len(calls), data.n_rows))
    target = data.y - reached
    for slope, hole in zip(moved, holes, strict=True):
        by_call[calls.index(template.calls[hole].arguments)] += slope
        target = target + slope * held[hole]
    by_call, target = np.where(usable, by_call, 0.0), np.where(usable, target, 0.0)
    roots = root_weights(data)
    by_call, target = by_call * roots, target * roots
    is_good = np.isfinite(target).all() and np.isfinite(by_call).all() and by_call.any()
    return Position(by_call, target) if is_good else None


def _movable(template: Template, frame: Forest, holes: tuple[int, ...]) -> tuple[Expr, list[int]]:
    """Return the frame with a constant 0 added to the variable of each of these holes, and the constants' indices."""
    library = template.hole_library
    constant, names = str(library.constant), [library.names[template.hole_tokens[hole]] for hole in holes]
    moved = frame[0].substitute({name: Expr(library, ("+", name, constant), (0.0,)) for name in names})
    places = [moved.tokens[: moved.tokens.index(name)].count(constant) for name in names]
    return moved.with_constants([0.0 if value is None else value for value in moved.constants]), places


# -- inverses of operators --------------------------------------------------------------


def _signed(root: Callable[[Numbers], Numbers]) -> Callable[[Numbers, Numbers], Numbers]:
    """Return the root with the sign of the current value."""
    return lambda t, now: np.where(now < 0, -1.0, 1.0) * root(t)


def _nearest_turn(value: Numbers, now: Numbers, turn: float) -> Numbers:
    return np.asarray(value + turn * np.round((now - value) / turn))


def _arc_sine(t: Numbers, now: Numbers) -> Numbers:
    """Return the angle with this sine that is nearest to the current one."""
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
"""By opcode: the operand, from the result and the current operand."""
LEFT: dict[int, Callable[[Numbers, Numbers], Numbers]] = {
    Opcode.ADD: lambda t, other: t - other,
    Opcode.SUB: lambda t, other: t + other,
    Opcode.MUL: lambda t, other: t / other,
    Opcode.DIV: lambda t, other: t * other,
    Opcode.POW: lambda t, other: t ** (1 / other),
}
"""By opcode: the first operand, from the result and the second."""
RIGHT: dict[int, Callable[[Numbers, Numbers], Numbers]] = LEFT | {
    Opcode.SUB: lambda t, other: other - t,
    Opcode.DIV: lambda t, other: other / t,
    Opcode.POW: lambda t, other: np.log(t) / np.log(other),
}


@np.errstate(all="ignore")  # values that cannot be inverted are not finite
def undone(frame: Forest, hole: int, columns: Numbers, y: Numbers) -> Numbers | None:
    """Return, by row, the value of the variable `hole` for which an expression equals `y`.

    `frame` is one expression in which the token `hole` occurs once. NaN in rows without such a value; None if an
    operator above the hole has no inverse.
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
