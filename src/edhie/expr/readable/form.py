"""The readable form of an expression: constants first, no needless brackets, signs where people put them."""

from __future__ import annotations

import math
from functools import lru_cache

from edhie.expr.expression import Expr
from edhie.expr.readable import arithmetic
from edhie.expr.readable.nodes import MissingSymbolError, Node, expr_of, operation, rebuilt, tree_of, walk
from edhie.expr.symbols import EVEN

PASSES = 6
DEEPEST = 150  # a higher tree is left as it is: nobody reads it


def readable_form(expr: Expr) -> Expr:
    """Return the expression as people write it: no longer, over the same library, of the same values but for rounding.

    >>> from edhie.expr import parse
    >>> str(readable_form(parse("x0*(x0*c) + c*x1 - c").with_constants([0.5, -2.0, -3.0])))
    '0.5*x0^2 - 2*x1 + 3'
    >>> str(readable_form(parse("exp(-(c)*x0)*cos(c*x0)").with_constants([-0.16, -2.0])))
    'exp(0.16*x0)*cos(2*x0)'
    """
    if expr.height > DEEPEST:
        return expr
    tree = tree_of(expr)
    found = readable(tree)
    return expr if found is tree else expr_of(found, expr.library)


@lru_cache(2_000)
def readable(tree: Node) -> Node:
    """Return the readable form of a tree of moderate height."""
    found = tree
    for _ in range(PASSES):
        before, found = found, rebuilt(found, _readable_node)
        if found == before:
            break
    return found if found.size <= tree.size else tree


@lru_cache(20_000)
def _readable_node(node: Node) -> Node:
    """Rewrite a node over operands that are readable already."""
    if not node.op:
        return node
    try:
        found = _rewritten(node)
    except MissingSymbolError:
        return node
    return found if found.size <= node.size else node


def _rewritten(node: Node) -> Node:
    if node.op in arithmetic.PRODUCT:
        is_negative, above, below = arithmetic.factors(node)
        bare = arithmetic.quotient(above, below)
        return arithmetic.negative(bare, node.size) if is_negative else bare
    if node.op in arithmetic.SUM:
        return arithmetic.added(arithmetic.summands(node), room=node.size)
    if node.op in EVEN:
        node = node.over(arithmetic.split(node.operands[0])[1])
    base, exponent = arithmetic.power_of(node)
    written = arithmetic.whole_power(base, exponent) if exponent > 1 else None
    return written[0] if written is not None and len(written) == 1 else node


def with_natural_base(expr: Expr) -> Expr:
    """Write powers of positive fitted constants as exponentials with base e; numbers such as 2 and 10 stay.

    >>> from edhie.expr import parse
    >>> str(with_natural_base(parse("c*c^t").with_constants([3.0, 0.5])))
    '3*exp(-0.6931471805599453*t)'
    """
    if not {"^", "exp", "*"} <= expr.library.built_in or "^" not in expr.tokens:
        return expr
    return expr_of(rebuilt(tree_of(expr), _with_natural_base), expr.library)


def _with_natural_base(node: Node) -> Node:
    if node.op != "^":
        return node
    base, exponent = node.operands
    if base.kind != "constant" or base.value is None or base.value <= 0:
        return node
    if not any(each.kind == "variable" for each in walk(exponent)):
        return node
    rate, rest = math.log(base.value), exponent
    first = exponent.operands[0] if exponent.op == "*" else None
    if first is not None and first.kind == "constant" and first.value is not None:
        rate, rest = rate * first.value, exponent.operands[1]
    return operation("exp", operation("*", Node(base.library, base.token, (), rate), rest))
