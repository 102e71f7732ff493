"""Cancellation: terms that are far larger than their sum."""

from __future__ import annotations

import numpy as np

from edhie.arrays import Numbers
from edhie.evaluate.data import Data
from edhie.expr import Expr
from edhie.expr.interpret import numpy_function
from edhie.expr.nodes import Node, linear, tree_of, walk

CANCELLING = 100.0  # ratio of terms to their sum that is still harmless


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
    if not {"+", "-"}.intersection(expr.tokens):
        return 1.0
    columns = dict(zip(data.names, data.columns, strict=True))
    values: dict[int, Numbers] = {}
    worst = 1.0
    tree = tree_of(expr)
    with np.errstate(all="ignore"):
        for node in reversed(walk(tree)):  # operands before operators
            operands = [values[id(each)] for each in node.operands]
            found = values[id(node)] = _values(node, operands, columns)
            form = linear(node) if node.op in ("+", "-") else None
            if node.op in ("+", "-") and (form is None or form.variable is None):
                terms, whole = max(map(_magnitude, operands)), _magnitude(found)
                worst = max(worst, terms / whole if whole > 0 else np.inf if terms > 0 else 1.0)
    return worst


def _values(node: Node, operands: list[Numbers], columns: dict[str, Numbers]) -> Numbers:
    if node.operands:
        return np.asarray(numpy_function(node.symbol)(*operands))
    if node.kind == "variable":
        return columns[node.token]
    value = node.symbol.value if node.kind == "literal" else node.number
    return np.asarray(np.nan if value is None else value)


def _magnitude(values: Numbers) -> float:
    size = np.abs(values)
    return float(size[np.isfinite(size)].max(initial=0.0))
