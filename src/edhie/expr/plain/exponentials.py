"""Exponentials with base e: people write exp(-0.25*t) for 0.7788^t."""

from __future__ import annotations

import math

from edhie.expr.expression import Expr
from edhie.expr.library import SymbolLibrary
from edhie.expr.plain.nodes import Node, expr_of, is_built_in, tree_of, walk


def with_natural_base(expr: Expr) -> Expr:
    """Write powers of positive fitted constants as exponentials with base e; numbers such as 2 and 10 stay.

    >>> from edhie.expr import parse
    >>> str(with_natural_base(parse("c*c^t").with_constants([3.0, 0.5])))
    '3*exp(-0.6931471805599453*t)'
    """
    library = expr.library
    if library.constant is None or not all(is_built_in(library, name) for name in ("^", "exp", "*")):
        return expr
    return expr_of(tree_of(expr, lambda node: _natural(library, node)), library)


def _natural(library: SymbolLibrary, node: Node) -> Node:
    if node.token != "^":
        return node
    base, exponent = node.operands
    is_positive = base.token == library.constant and base.value is not None and base.value > 0
    if not is_positive or not any(library[each.token].kind == "variable" for each in walk(exponent)):
        return node
    assert base.value is not None
    rate, rest = math.log(base.value), exponent
    first = exponent.operands[0] if exponent.token == "*" else None
    if first is not None and first.token == library.constant and first.value is not None:
        rate, rest = rate * first.value, exponent.operands[1]
    return Node("exp", (Node("*", (Node(base.token, (), rate), rest)),))
