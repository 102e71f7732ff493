"""What rows cannot tell: oscillations faster than the rows are dense, and poles between them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.data import Data
from edhie.evaluate.values import values
from edhie.expr import Expr, Forest

Numbers = NDArray[np.float64]
TURNS = {"sin": np.pi, "cos": np.pi, "tan": 0.5 * np.pi}
"""By function: the change of its argument from one row to the next beyond which an oscillation is not resolved."""
MOST_ROWS = 300  # that neighbours are looked for among
INSIDE = np.array([0.02, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.98])
"""Where between two rows values are looked at."""
BEYOND = 3.0  # times the range of the target: values between rows that are farther off are those of a pole


def is_unresolved(expr: Expr, data: Data) -> bool:
    """Return whether an oscillation in the expression is faster than the rows can tell.

    On average over the rows, in order, the argument of a sine may not change by more than half a turn.
    """
    for name, argument in _arguments(expr):
        with np.errstate(all="ignore"):
            found = np.unique(np.round(values(Forest.from_exprs([argument]), data.columns)[0], 9))
        if len(found) > 1 and np.ptp(found) > TURNS[name] * (len(found) - 1):
            return True
    return False


def _arguments(expr: Expr) -> list[tuple[str, Expr]]:
    """The functions with a period in an expression, with their arguments."""
    found, ends = [], expr_ends(expr)
    for at, token in enumerate(expr.tokens):
        if token in TURNS and expr.library[token].arity == 1:
            first = sum(each == expr.library.constant for each in expr.tokens[: at + 1])
            tokens = expr.tokens[at + 1 : ends[at]]
            n_own = sum(each == expr.library.constant for each in tokens)
            found.append((token, Expr.trusted(expr.library, tokens, expr.constants[first : first + n_own])))
    return found


def expr_ends(expr: Expr) -> list[int]:
    """By token in prefix order: where its subtree ends."""
    ends = [0] * len(expr.tokens)
    for at in range(len(expr.tokens) - 1, -1, -1):
        end = at + 1
        for _ in range(expr.library[expr.tokens[at]].arity):
            end = ends[end]
        ends[at] = end
    return ends


def neighbours(data: Data) -> Numbers:
    """Return points between rows that are next to each other, (variables, points).

    Along one variable these are neighbours in order; among several, the nearest row in units of their spread.
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


def has_pole(forest: Forest, data: Data, points: Numbers) -> NDArray[np.bool_]:
    """By expression: whether its values at points between rows are far from all of the target's, or not finite."""
    if points.shape[1] == 0:
        return np.zeros(len(forest), np.bool_)
    low, high = float(data.y.min()), float(data.y.max())
    reach = BEYOND * ((high - low) or abs(high) or 1.0)
    with np.errstate(all="ignore"):
        found = values(forest, points)
        return np.asarray(~((found > low - reach) & (found < high + reach)).all(axis=1))
