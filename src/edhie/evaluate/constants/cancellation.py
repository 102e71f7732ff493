"""Large numbers that cancel: terms far larger than the sum that they make."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.data import Data
from edhie.expr import Expr
from edhie.expr.interpret import numpy_function
from edhie.expr.plain.affine import Affine, affine
from edhie.expr.plain.nodes import Node, is_built_in, tree_of

Numbers = NDArray[np.float64]
CANCELLING = 100.0  # how much larger than a sum its terms may be without harm


def cancellation(expr: Expr, data: Data) -> float:
    """Return how much larger the terms of a sum are than the sum, at most, over all sums of an expression.

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
    library = expr.library
    columns = dict(zip(data.names, data.columns, strict=True))
    values: dict[int, Numbers] = {}
    kept: list[Node] = []  # so that no id is given twice
    worst = 1.0

    def visit(node: Node) -> Node:
        nonlocal worst
        symbol = library[node.token]
        operands = [values[id(each)] for each in node.operands]
        if symbol.kind == "operator":
            found = np.asarray(numpy_function(symbol)(*operands))
        elif symbol.kind == "variable":
            found = columns[node.token]
        elif symbol.kind == "constant":
            found = np.asarray(np.nan if node.value is None else node.value)
        else:
            found = np.asarray(symbol.value if symbol.kind == "literal" else float(node.token))
        values[id(node)] = found
        kept.append(node)
        if node.token in ("+", "-") and is_built_in(library, node.token) and not _is_shift(affine(library, node)):
            worst = max(worst, _ratio(operands, found))
        return node

    with np.errstate(all="ignore"):
        tree_of(expr, visit)
    return worst


def _is_shift(form: Affine | None) -> bool:
    return form is not None and form.variable is not None


def _ratio(operands: list[Numbers], total: Numbers) -> float:
    terms, whole = max(_magnitude(each) for each in operands), _magnitude(total)
    return terms / whole if whole > 0 else np.inf if terms > 0 else 1.0


def _magnitude(values: Numbers) -> float:
    size = np.abs(values)
    return float(size[np.isfinite(size)].max(initial=0.0))
