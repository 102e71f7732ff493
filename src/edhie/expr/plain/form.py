"""The plain form of an expression: constants first, no needless brackets, signs where people put them."""

from __future__ import annotations

from edhie.expr.expression import Expr
from edhie.expr.library import SymbolLibrary
from edhie.expr.plain.nodes import EVEN, Node, UnsayableError, expr_of, is_built_in, size, tree_of
from edhie.expr.plain.powers import power, raised
from edhie.expr.plain.signs import added, factors, negative, quotient, split, summands

PASSES = 6
DEEPEST = 150  # a tree that is higher stays as it is: nobody reads it


def plain_form(expr: Expr) -> Expr:
    """The expression as people write it: no longer, over the same library, of the same values but for rounding.

    >>> from edhie.expr import parse
    >>> str(plain_form(parse("x0*(x0*c) + c*x1 - c").with_constants([0.5, -2.0, -3.0])))
    '0.5*x0^2 - 2*x1 + 3'
    >>> str(plain_form(parse("exp(-(c)*x0)*cos(c*x0)").with_constants([-0.16, -2.0])))
    'exp(0.16*x0)*cos(2*x0)'
    """
    if expr.height > DEEPEST:
        return expr
    seen = [expr]
    for _ in range(PASSES):
        found = expr_of(tree_of(seen[-1], lambda node: _plain(expr.library, node)), expr.library)
        if found == seen[-1]:
            break
        seen.append(found)
    return seen[-1] if seen[-1].size <= expr.size else expr


def _plain(library: SymbolLibrary, node: Node) -> Node:
    """A node over operands that are plain already."""
    if not is_built_in(library, node.token):
        return node
    try:
        found = _rewritten(library, node)
    except UnsayableError:
        return node
    return found if size(found) <= size(node) else node


def _rewritten(library: SymbolLibrary, node: Node) -> Node:
    if node.token in ("*", "/", "neg"):
        is_negative, above, below = factors(library, node)
        bare = quotient(library, above, below)
        return negative(library, bare, size(node)) if is_negative else bare
    if node.token in ("+", "-"):
        return added(library, summands(library, node), room=size(node))
    if node.token in EVEN:
        node = Node(node.token, (split(library, node.operands[0])[1],))
    base, exponent = raised(library, node)
    written = power(library, base, exponent) if exponent > 1 else None
    return written[0] if written is not None and len(written) == 1 else node
