"""The rows that one part of a form has to explain, with the other parts fixed.

The part's arguments are the columns, and the values with which the whole would equal the target are the target. These
are exact where the operators from the root to the hole can be inverted; otherwise the whole is linearised at the
current values. Rows are weighted by the squared slope of the whole. A part that is called more than once has rows for
each call, with the other calls fixed; what these leave unexplained is noise of the rows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from edhie.evaluate.constants.jacobian import Response
from edhie.evaluate.data import Data
from edhie.evaluate.values import values
from edhie.expr import Expr, Forest
from edhie.expr.splicing import Stock
from edhie.expr.symbols import Opcode
from edhie.form import Form
from edhie.search.arrays import LARGEST_VALUE, Numbers

LEAST_SHARE = 0.5  # least share of rows with a finite value after inversion
LEAST_WEIGHT = 1e-12  # rows with a smaller weight, relative to the mean, are left out
LEAST_ROWS = 3


@np.errstate(all="ignore")  # rows that are not finite are left out
def view_of(form: Form, whole: Forest, part: int, data: Data) -> Data | None:
    """Return what a part of one whole expression has to explain; None if it has no influence, or values overflow."""
    holes, outline = form.holes(part), form.emptied(whole)
    held = _held(form, whole, outline, holes, data)
    slopes, rest = _linearised(form, outline, holes, held, data)
    calls = list(dict.fromkeys(form.calls[hole].arguments for hole in holes))
    by_call, now = np.zeros((2, len(calls), data.n_rows))
    for slope, hole in zip(slopes, holes, strict=True):
        call = calls.index(form.calls[hole].arguments)
        by_call[call] += slope
        now[call] = held[hole]
    wanted = now + rest / by_call
    weights = np.square(by_call) * (1.0 if data.weights is None else data.weights)
    usable = (np.abs(wanted) < LARGEST_VALUE) & (weights < LARGEST_VALUE)  # NaN is neither
    usable &= weights > LEAST_WEIGHT * weights[usable].sum() / max(usable.sum(), 1)
    if usable.sum() < LEAST_ROWS:
        return None
    variables = form.library.variables
    columns = [data.columns[[variables.index(name) for name in call]] for call in calls]
    joined = np.concatenate([each[:, mask] for each, mask in zip(columns, usable, strict=True)], axis=1)
    are_equal = np.ptp(weights[usable]) <= 1e-9 * weights[usable].max()
    return Data(
        np.ascontiguousarray(joined), wanted[usable], None if are_equal else weights[usable], form.variables(part)
    )


def _held(form: Form, whole: Forest, outline: Forest, holes: tuple[int, ...], data: Data) -> Numbers:
    """Return, by hole, the values of its content; for a part with one call, those that would give the target."""
    contents = form.parts_of(whole)
    inside = [form.in_hole(hole, contents[each]) for hole, each in enumerate(form.part_of)]
    held: Numbers = values(Forest.concatenate(inside), data.columns).copy()
    if len(holes) == 1:
        wanted = undone(outline, form.hole_tokens[holes[0]], np.concatenate([data.columns, held]), data.y)
        if wanted is not None and np.isfinite(wanted).mean() >= LEAST_SHARE:
            held[holes[0]] = wanted
    return held


def _linearised(
    form: Form, outline: Forest, holes: tuple[int, ...], held: Numbers, data: Data
) -> tuple[Numbers, Numbers]:
    """Return the slopes of the whole by the holes of a part, (holes, rows), and the residuals, at these values."""
    library = form.hole_library
    constant, names = str(library.constant), [library.names[form.hole_tokens[hole]] for hole in holes]
    moved = outline[0].substitute({name: Expr(library, ("+", name, constant), (0.0,)) for name in names})
    moved = moved.with_constants([0.0 if value is None else value for value in moved.constants])
    places = [moved.tokens[: moved.tokens.index(name)].count(constant) for name in names]
    response = Response(moved, np.ascontiguousarray(np.concatenate([data.columns, held])))
    reached, slopes = response.jacobian(response.constants)
    return slopes[places], data.y - reached


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
def undone(outline: Forest, hole: int, columns: Numbers, y: Numbers) -> Numbers | None:
    """Return, by row, the value of the variable `hole` for which an expression equals `y`.

    `outline` is one expression in which the token `hole` occurs once. NaN in rows without such a value; None if an
    operator above the hole has no inverse.
    """
    library, stock = outline.library, Stock(outline)
    now = values(stock.join([stock.subtrees(np.arange(len(outline.tokens)))]), columns)
    target: Numbers = y
    at = 0
    while outline.tokens[at] != hole:
        opcode, left, right = int(library.opcodes[outline.tokens[at]]), int(outline.left[at]), int(outline.right[at])
        is_right = right >= 0 and hole in outline.tokens[right : right + outline.subtree_sizes[right]]
        table = UNARY if right < 0 else RIGHT if is_right else LEFT
        if opcode not in table:
            return None
        beside = left if right < 0 or is_right else right
        target = table[opcode](target, now[beside])
        at = right if is_right else left
    return np.where(np.isfinite(target), target, np.nan)
