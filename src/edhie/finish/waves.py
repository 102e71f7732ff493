"""Waves with phases within one turn, positive frequencies, and no aliases on evenly spaced rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import mpmath
import numpy as np

from edhie.arrays import Numbers
from edhie.evaluate.constants.polish import polish
from edhie.evaluate.data import Data, error_limit
from edhie.evaluate.values import squared_errors
from edhie.expr import Expr, Forest, SymbolLibrary
from edhie.expr.nodes import MissingSymbolError, Node, expr_of, linear, operation, rebuilt, tree_of
from edhie.finish.arithmetic import added, summands
from edhie.finish.polynomials import number_node

Real = Any  # mpmath.mpf: mpmath has no types
DIGITS = 60  # of the arithmetic: a phase of 1e20 keeps 40
WAVES = {"sin": 2, "cos": 2, "tan": 1}
"""Periodic functions, with their periods in units of pi."""
SNAP = 1e-9  # a phase so close to a plain number is that number
TURNS, LARGEST = 3, 10  # turns by which a phase may differ from the shortest, and the largest phase, if that is plain
MORE_COST = 0.5  # for signs
OFF_GRID = 1e-7  # share of a step by which a value may be off the grid
MOST_STEPS = 1_000_000  # between the least and the greatest value: any numbers lie on a finer grid
SLACK = 1e-6  # relative increase of the sum of squares: large phases can fit their own rounding errors


class Grid(NamedTuple):
    """Evenly spaced values, of which some may be missing: start + k*step."""

    start: float
    step: float


def unaliased(
    expr: Expr,
    data: Data,
    *,
    lower: float = -math.inf,
    upper: float = math.inf,
    may_polish: bool = True,
) -> Expr:
    """Write waves with phases within one turn and with the lowest frequencies that have the same values on the data.

    On evenly spaced rows a frequency above the Nyquist limit is an alias: `sin(65*t)` is `sin(2.168*t)` where t is
    a multiple of 0.1. If rounding changes the sum of squares, constants are refitted within the bounds, since those of
    the old form had lost digits to its large numbers. If the sum of squares would rise, the expression is unchanged.
    """
    grids = {name: grid for name in expr.variables if (grid := grid_of(data.columns[data.names.index(name)]))}
    found = normal_phases(expr, grids)
    if found == expr or None in expr.constants:
        return expr
    if not all(lower <= (value or 0.0) <= upper for value in set(found.constants) - set(expr.constants)):
        return expr
    before, after = (float(squared_errors(Forest.from_exprs([each]), data)[0]) for each in (expr, found))
    if abs(after - before) <= SLACK * before:
        return found
    if may_polish:
        polished = polish(Forest.from_exprs([found]), data, lower=lower, upper=upper)
        found, after = polished.forest[0], float(polished.squared_errors[0])
    return found if after <= error_limit(before, data, slack=SLACK) else expr


def normal_phases(expr: Expr, grids: Mapping[str, Grid] | None = None) -> Expr:
    """Write each sine, cosine and tangent with its phase within half a turn, and with a positive frequency.

    For a variable with a grid, the frequency is the lowest that has the same values there; higher ones are aliases.
    Values change by rounding, so polish the constants afterwards. The result is no longer than the expression.

    >>> from edhie.expr import parse
    >>> f"{normal_phases(parse('sin(c - 2*x0)').with_constants([100.0])):.6g}"
    'sin(2*x0 + (-2.61063))'
    >>> f"{normal_phases(parse('sin(c*x0)').with_constants([65.0]), {'x0': Grid(0.0, 0.1)}):.6g}"
    'sin(2.16815*x0)'
    """

    def normal(node: Node) -> Node:
        if node.op not in WAVES:
            return node
        try:
            found = _wave(node, grids or {})
        except MissingSymbolError:
            return node
        return found if found.cost <= node.cost + MORE_COST else node

    if not any(name in WAVES for name in expr.tokens):
        return expr
    with mpmath.workdps(DIGITS):
        return expr_of(rebuilt(tree_of(expr), normal), expr.library)


def _wave(node: Node, grids: Mapping[str, Grid]) -> Node:
    form = linear(node.operands[0])
    if form is None:
        return _within_a_turn(node)
    if form.variable is None or form.slope == 0:
        return node
    token, slope, offset = node.op, form.slope, form.offset
    period = WAVES[token] * +mpmath.pi
    frequency, phase = _real(slope), _real(offset)
    if (grid := grids.get(form.variable)) is not None:  # the lowest frequency with the same values there
        step = mpmath.mpf(grid.step)
        turns = mpmath.nint(frequency * step / period)
        frequency -= turns * period / step
        phase += turns * period * mpmath.mpf(grid.start) / step
    if frequency == 0:
        return node
    if frequency < 0 and (token == "cos" or (token == "sin" and abs(phase) > SNAP)):
        frequency, phase = -frequency, (mpmath.pi - phase if token == "sin" else -phase)
    turned = _turned(token, phase, node.library)
    if not turned.is_negative and (turned.token, frequency, turned.phase) == (node.op, _real(slope), _real(offset)):
        return node
    found = operation(turned.token, _line(node.library, form.variable, float(frequency), float(turned.phase)))
    return operation("neg", found) if turned.is_negative else found


class _Turned(NamedTuple):
    """A wave with another phase: cos(u - 1) for sin(u + 0.570796)."""

    is_negative: bool
    token: str
    phase: Real


def _turned(token: str, phase: Real, library: SymbolLibrary) -> _Turned:
    """Return the wave of the same values with the plainest phase, or else with that closest to 0."""
    period = WAVES[token] * +mpmath.pi
    other = {"sin": "cos", "cos": "sin"}.get(token, "")
    shifts = [_Turned(False, token, phase)]
    if token != "tan" and "neg" in library.built_in:
        shifts.append(_Turned(True, token, phase + mpmath.pi))
    if other in library.built_in:
        quarter = -mpmath.pi / 2 if token == "sin" else mpmath.pi / 2
        shifts += [_Turned(False, other, phase + quarter)]
        shifts += [_Turned(True, other, phase + quarter + mpmath.pi)] if len(shifts) > 2 else []
    plain = []
    for place, each in enumerate(shifts):
        nearest = _reduced(each.phase, period)
        for turn in range(-TURNS, TURNS + 1):
            moved = nearest + turn * period
            whole = mpmath.nint(2 * moved) / 2
            if abs(moved - whole) <= SNAP and abs(whole) <= LARGEST:
                plain.append((whole != 0, abs(whole), place, each._replace(phase=whole)))
    if plain:
        return min(plain, key=lambda each: each[:3])[3]
    return _Turned(False, token, _reduced(phase, period))


def _within_a_turn(node: Node) -> Node:
    """Reduce the constant that is added to an argument of any form."""
    terms = summands(node.operands[0])
    numbers = [(-1 if is_negative else 1) * (each.number or 0.0) for is_negative, each in terms]
    total = sum((Fraction(each) for each in numbers), Fraction(0))
    turned = _turned(node.op, _real(total), node.library)
    rest = [each for each in terms if each[1].number is None]
    is_one = len(rest) >= len(terms) - 1
    is_same = not turned.is_negative and (turned.token, turned.phase) == (node.op, _real(total))
    if not rest or total == 0 or (is_one and is_same):
        return node
    phase = float(turned.phase)
    found = operation(turned.token, added([*rest, (phase < 0, _number(node.library, abs(phase)))]))
    return operation("neg", found) if turned.is_negative else found


def _reduced(phase: Real, period: Real) -> Real:
    """Return the phase in (-period/2, period/2]."""
    return phase - period * mpmath.ceil(phase / period - mpmath.mpf(1) / 2)


def _real(value: Fraction) -> Real:
    return mpmath.mpf(value.numerator) / value.denominator


def _line(library: SymbolLibrary, variable: str, slope: float, offset: float) -> Node:
    found = Node(library, variable)
    if slope == -1.0:
        found = operation("neg", found)
    elif slope != 1.0:
        found = operation("*", _number(library, slope), found)
    return operation("+", found, _number(library, offset)) if offset else found


def _number(library: SymbolLibrary, value: float) -> Node:
    if library.constant is not None and not (2 * value).is_integer():
        return Node(library, library.constant, (), value)
    return number_node(library, value)


# -- even grids -------------------------------------------------------------------------


def grid_of(column: Numbers) -> Grid | None:
    """Return the coarsest even grid that all values of a column lie on; None if there is only a very fine one."""
    values = np.unique(column)
    if len(values) < 3:
        return None
    distances = values - values[0]
    rounding = 4.0 * float(np.spacing(np.abs(values).max()))
    step, finest = float(np.diff(values).min()), float(distances[-1]) / MOST_STEPS
    while step > finest:
        exact = _refined(distances, step)
        if (_left(distances, exact) <= max(OFF_GRID * exact, rounding)).all():
            return Grid(float(values[0]), exact)
        left = _left(distances, step)
        missing = left > np.maximum(OFF_GRID * step, rounding * (1.0 + distances / step))
        if not missing.any():
            return None
        step = float(left[missing].min())  # as in Euclid's algorithm
    return None


def _left(distances: Numbers, step: float) -> Numbers:
    return np.asarray(np.abs(distances - step * np.round(distances / step)))


def _refined(distances: Numbers, step: float) -> float:
    """Return the step by least squares, over wider and wider ranges: one rounded difference would drift off."""
    reach = step
    while reach < distances[-1]:
        reach *= 8.0
        near = distances[distances <= reach]
        counts = np.round(near / step)
        step = float(counts @ near / (counts @ counts)) if counts.any() else step
    return step
