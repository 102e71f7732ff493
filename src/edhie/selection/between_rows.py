"""What the rows cannot resolve: fast oscillations, poles between and beside rows, digits lost to cancellation."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from edhie.arrays import Flags, Numbers
from edhie.evaluate.data import Data
from edhie.evaluate.values import values
from edhie.expr import Expr, Forest
from edhie.expr.splicing import subtrees
from edhie.expr.symbols import Opcode
from edhie.selection.plain_numbers import literal_bits

TURNS = {"sin": np.pi, "cos": np.pi, "tan": 0.5 * np.pi}
"""By function: the change of its argument from one row to the next beyond which an oscillation is not resolved."""
LEAST_TURN = 0.25 * np.pi
"""Change of a fitted argument over all rows below which they show no oscillation."""
MOST_ROWS = 300  # rows at most among which neighbours are found
INSIDE = np.array([0.02, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.98])
"""Positions between two rows at which values are checked."""
STEP, STEEP = 1e-6, 40.0  # sizes of an exponent below and above which a power is a step
POLE = 20.0  # bits that a pole between rows costs
SINGULAR = 3.0  # bits that it costs to be infinite at 0, if a column nearly reaches it: few measure so near to a pole
NEAR_ZERO, LOG_SCALE = 0.05, 300.0  # shares of a column's largest value: its smallest is less, but not by decades
FAR = 10.0  # times the range of the target: values at 0 that are farther outside are infinite
BEYOND = 3.0  # times the range of the target: values between rows that are farther outside indicate a pole


def unresolved(forest: Forest, columns: Numbers, *, of_rows: int | None = None) -> Flags:
    """Return for each expression whether it has an oscillation that the rows cannot resolve.

    Between neighbouring values over the rows, the argument of a sine may change by half a turn on average. With fitted
    constants it has to change by an eighth over all rows: the rest of a wave of which rows show less is made up. If
    the columns hold only some of the rows, `of_rows` is the number of all.
    """
    found = np.zeros(len(forest), np.bool_)
    library = forest.library
    turns = np.zeros(len(library.has_slot))
    for name, turn in TURNS.items():
        if name in library and library[name].arity == 1:
            turns[library.ids[name]] = turn
    nodes = np.flatnonzero(turns[forest.tokens])
    if len(nodes) == 0:
        return found
    first, places = (arguments := subtrees(forest, nodes + 1)).grouped()
    with np.errstate(all="ignore"):
        ordered = np.sort(np.round(values(arguments.take(first), columns), 9), axis=1)
        n_gaps = np.count_nonzero(np.diff(ordered, axis=1), axis=1)
        whole = ordered[:, -1] - ordered[:, 0]
        gap = whole / np.maximum(n_gaps, 1)
    if of_rows is not None:
        gap *= columns.shape[1] / of_rows
    is_fitted = np.zeros(len(arguments), np.bool_)
    is_fitted[arguments.value_owners[np.isinf(literal_bits(arguments.values))]] = True
    is_made_up = is_fitted & (whole < LEAST_TURN)[places]
    np.logical_or.at(found, forest.owners[nodes], is_made_up | (gap[places] > turns[forest.tokens[nodes]]))
    return found


def unreliable_bits(forest: Forest, data: Data) -> Numbers:
    """Return the bits that descriptions have more for what the rows cannot resolve.

    They are infinite for an oscillation and for a step, `POLE` for a pole between rows, `SINGULAR` for one at 0, and
    the binary digits that terms lose which cancel each other.
    """
    found = np.where(has_pole(forest, data), POLE, SINGULAR * is_singular(forest, data))
    found += np.log2(np.maximum(cancellations(forest, data) / CANCELLING, 1.0))
    found[unresolved(forest, data.columns) | _has_step(forest)] = np.inf
    return found


def _has_step(forest: Forest) -> Flags:
    """Return for each expression whether it has a power whose exponent is nearly 0, or so large that it jumps."""
    powers = np.flatnonzero(forest.tokens == forest.library.ids.get("^", -1))
    exponents = forest.right[powers]
    is_number = forest.library.has_slot[forest.tokens[exponents]]
    slots = np.cumsum(forest.library.has_slot[forest.tokens]) - 1
    found = np.zeros(len(forest), np.bool_)
    values = np.abs(forest.values[slots[exponents[is_number]]])
    found[forest.owners[powers[is_number]][(values < STEP) | (values > STEEP)]] = True
    return found


@lru_cache(maxsize=4)
def neighbours(data: Data) -> Numbers:
    """Return points between rows that are next to each other, (variables, points).

    With one variable, neighbours are the next values; with several, the nearest row in units of their spread.
    """
    columns = data.columns
    if data.n_rows > MOST_ROWS:
        chosen = np.linspace(0, data.n_rows - 1, MOST_ROWS).round().astype(np.int64)
        columns = columns[:, np.argsort(data.y, kind="stable")[chosen]]
    columns = np.unique(columns, axis=1)
    if columns.shape[1] < 2:
        return np.empty((len(columns), 0))
    if len(columns) == 1:
        first, second = columns[:, :-1], columns[:, 1:]
    else:
        spread = columns.std(axis=1)
        scaled = (columns / np.where(spread > 0, spread, 1.0)[:, np.newaxis]).T
        squares = np.square(scaled).sum(axis=1)
        distances = squares[:, np.newaxis] + squares - 2 * scaled @ scaled.T
        np.fill_diagonal(distances, np.inf)
        first, second = columns, columns[:, np.argmin(distances, axis=1)]
    points = first[:, :, np.newaxis] + (second - first)[:, :, np.newaxis] * INSIDE
    return np.ascontiguousarray(points.reshape(len(columns), -1))


def has_pole(forest: Forest, data: Data) -> Flags:
    """Return for each expression whether it has a pole between rows.

    A value there is not finite or far outside the target's range, or a denominator changes its sign.
    """
    points = neighbours(data)
    if points.shape[1] == 0:
        return np.zeros(len(forest), np.bool_)
    low, high = float(data.y.min()), float(data.y.max())
    reach = BEYOND * ((high - low) or abs(high) or 1.0)
    with np.errstate(all="ignore"):
        found = values(forest, points)
        is_inside: Flags = np.all((found > low - reach) & (found < high + reach), axis=1)
        quotients = np.flatnonzero(forest.tokens == forest.library.ids.get("/", -1))
        if len(quotients):
            first, places = (below := subtrees(forest, forest.right[quotients])).grouped()
            signs = np.sign(values(below.take(first), points)).reshape(len(first), -1, len(INSIDE))
            changes = (signs.min(axis=2) * signs.max(axis=2) < 0).any(axis=1)
            is_inside[forest.owners[quotients[changes[places]]]] = False
    return np.asarray(~is_inside)


def is_singular(forest: Forest, data: Data) -> Flags:
    """Return for each expression whether it is infinite where a column is 0 whose values nearly reach it."""
    low, high = data.columns.min(axis=1), data.columns.max(axis=1)
    near = np.flatnonzero((low > 0) & (low <= NEAR_ZERO * high) & (high <= LOG_SCALE * low))
    points = np.ascontiguousarray(data.columns[:, np.argmin(data.columns[near], axis=1)])
    points[near, np.arange(len(near))] = 1e-9 * high[near]
    least, most = float(data.y.min()), float(data.y.max())
    reach = FAR * (most - least)
    with np.errstate(all="ignore"):
        found = values(forest, points)
        is_finite: Flags = np.all((found >= least - reach) & (found <= most + reach), axis=1)
    return ~is_finite


# -- cancellation: terms that are far larger than their sum ------------------------------

CANCELLING = 100.0  # ratio of terms to their sum that is still harmless
AT_ONCE = 1 << 22  # values that are computed at once


def cancellation(expr: Expr, data: Data) -> float:
    """Return the largest ratio of the terms of a sum to the sum itself, over all sums of an expression.

    Magnitudes are the largest absolute values over the rows. Sums of a variable and a constant, `t - 2000` or
    `2*t - 4000`, do not count: there the large numbers are the data's. A result of 1 means that nothing cancels;
    10^k means that k digits of the terms are lost, as in `88428*(1 - tanh(z + 6))`. It is infinite where a sum is
    0 in all rows and its terms are not.

    >>> from edhie.evaluate import read_data
    >>> from edhie.expr import parse
    >>> data = read_data({"t": [2001.0, 2002.0, 2003.0]}, [1.0, 2.0, 4.0])
    >>> cancellation(parse("(t - 2000)^2", variables=["t"]), data)
    1.0
    >>> round(cancellation(parse("t^2 - 4000*t + 4000000", variables=["t"]), data))
    444444
    """
    return float(cancellations(Forest.from_exprs([expr]), data)[0])


def cancellations(forest: Forest, data: Data) -> Numbers:
    """Return the `cancellation` of each expression."""
    from edhie.expr.forest_kernels import variables_of_linear

    found, opcodes = np.ones(len(forest)), forest.library.opcodes[forest.tokens]
    variables = variables_of_linear(forest.tokens, opcodes, forest.left, forest.right)
    sums = np.flatnonzero(((opcodes == Opcode.ADD) | (opcodes == Opcode.SUB)) & (variables < 0))
    if len(sums) == 0:
        return found
    parts = subtrees(forest, np.concatenate([sums, forest.left[sums], forest.right[sums]]).astype(np.int64))
    first, places = parts.grouped()
    whole, *terms = _magnitudes(parts.take(first), data.columns)[places].reshape(3, -1)
    largest = np.maximum(*terms)
    with np.errstate(all="ignore"):
        ratios = np.where(whole > 0, largest / whole, np.where(largest > 0, np.inf, 1.0))
    np.maximum.at(found, forest.owners[sums], ratios)
    return found


def _magnitudes(forest: Forest, columns: Numbers) -> Numbers:
    """Return the largest absolute value of each expression that is finite."""
    found, step = np.empty(len(forest)), max(1, AT_ONCE // columns.shape[1])
    for start in range(0, len(forest), step):
        block = slice(start, start + step)
        with np.errstate(all="ignore"):
            sizes = np.abs(values(forest[block], columns))
        found[block] = np.where(np.isfinite(sizes), sizes, 0.0).max(axis=1)
    return found
