"""Roots of squares: sqrt(a*b^2) is b*sqrt(a) or -b*sqrt(a), whichever of them the data say."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from edhie.expr.expression import Expr
from edhie.expr.readable.arithmetic import factors, negative, power_of, quotient, whole_power
from edhie.expr.readable.nodes import MissingSymbolError, Node, expr_of, operation, rebuilt, tree_of

MOST = 3  # roots of one expression


def without_roots_of_squares(expr: Expr) -> Iterator[Expr]:
    """Yield the forms with squared factors of each root before it, for every choice of their signs.

    At most one of them has the same values as the expression, where no such factor changes its sign.

    >>> from edhie.expr import parse
    >>> for form in without_roots_of_squares(parse("sqrt((x - y)^2/z)")):
    ...     print(form)
    (x - y)/sqrt(z)
    (y - x)/sqrt(z)
    """
    if "sqrt" not in expr.tokens:
        return
    tree, roots = tree_of(expr), list[Node]()
    rebuilt(tree, lambda node: _noted(node, roots))
    if not 0 < len(roots) <= MOST:
        return
    for signs in product((False, True), repeat=len(roots)):
        following = iter(signs)
        try:
            found = rebuilt(tree, lambda node, signs=following: _extracted(node, signs))  # type: ignore[misc]
        except MissingSymbolError:  # such as a quotient or a negative sign
            continue
        yield expr_of(found, expr.library)


def _noted(node: Node, roots: list[Node]) -> Node:
    if _squares(node) is not None:
        roots.append(node)
    return node


def _extracted(node: Node, signs: Iterator[bool]) -> Node:
    """Return a root with its squared factors before it; any other node as it is."""
    parts = _squares(node)
    if parts is None:
        return node
    (above, below), (inner_above, inner_below) = parts
    if inner_above:
        above = [*above, operation("sqrt", quotient(inner_above, inner_below))]
    elif inner_below:
        below = [*below, operation("sqrt", quotient(inner_below, []))]
    whole = quotient(above, below)
    return negative(whole, node.size) if next(signs, False) else whole


Sides = tuple[list[Node], list[Node]]


def _squares(node: Node) -> tuple[Sides, Sides] | None:
    """Return roots of the squared factors of a root, and its other factors, each above and below; None without any."""
    if node.op != "sqrt":
        return None
    is_negative, *sides = factors(node.operands[0])
    if is_negative:
        return None
    outer: Sides = ([], [])
    inner: Sides = ([], [])
    for side, given in enumerate(sides):
        for each in given:
            base, exponent = power_of(each)
            rooted = whole_power(base, exponent // 2) if exponent % 2 == 0 else None
            outer[side].extend(rooted or [])
            inner[side].extend([each] if rooted is None else [])
    return (outer, inner) if any(outer) else None
