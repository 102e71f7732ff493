"""Cancellation: terms that are far larger than their sum."""

from __future__ import annotations

import numpy as np

from edhie.arrays import Numbers
from edhie.evaluate.data import Data
from edhie.evaluate.values import values
from edhie.expr import Expr, Forest
from edhie.expr.splicing import subtrees
from edhie.expr.symbols import Opcode

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
