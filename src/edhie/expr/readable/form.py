"""The readable form of an expression: constants first, no needless brackets, signs where people put them.

The short form is the readable form after identities of algebra and of functions that make it shorter.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import lru_cache

from edhie.expr.expression import Expr
from edhie.expr.readable import arithmetic
from edhie.expr.readable.identities import identities
from edhie.expr.readable.nodes import PRODUCT, SUM, MissingSymbolError, Node, expr_of, operation, rebuilt, tree_of, walk
from edhie.expr.readable.polynomials import Effort, Ring, TooLargeError, exponent_of
from edhie.expr.readable.regrouping import writings
from edhie.expr.symbols import EVEN

READABLE_PASSES, SHORT_PASSES = 6, 12
DEEPEST = 150  # a higher tree is left as it is: nobody reads it
LONGEST = 60  # an expression of more symbols has no short form


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
    for _ in range(READABLE_PASSES):
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
    if node.op in PRODUCT:
        is_negative, above, below = arithmetic.factors(node)
        bare = arithmetic.quotient(above, below)
        return arithmetic.negative(bare, node.size) if is_negative else bare
    if node.op in SUM:
        return arithmetic.added(arithmetic.summands(node), room=node.size)
    if node.op in EVEN:
        node = node.over(arithmetic.split(node.operands[0])[1])
    base, exponent = arithmetic.power_of(node)
    written = arithmetic.whole_power(base, exponent) if exponent > 1 else None
    return written[0] if written is not None and len(written) == 1 else node


def short_form(expr: Expr, *, positive: Iterable[str] = (), more_numbers: bool = True) -> Expr:
    """Return the expression in readable form, and shorter where an identity allows it, over the same library.

    Values are the same, but for rounding, wherever the expression has one. For variables that are named `positive`
    this holds for positive values only: sqrt(x^2) is x. Of two forms of one length the one with fewer functions is
    taken. Numbers that an identity brings in, such as the exponent of x*sqrt(x), are constants where the library has
    no numbers; without `more_numbers` no part gets more numbers than it has.

    >>> from edhie.expr import parse
    >>> str(short_form(parse("sqrt(x^2 + y^2 - 2*x*y + z)")))
    'sqrt((x - y)^2 + z)'
    >>> str(short_form(parse("x*sqrt(x) + (2*x*y - x^2*y - x*y^2)/x")))
    'x^1.5 + y*(2 - x - y)'
    """
    if expr.height > DEEPEST or expr.size > LONGEST or None in expr.constants:
        return readable_form(expr)
    return expr_of(_short(tree_of(expr), frozenset(positive), more_numbers), expr.library)


@lru_cache(2_000)
def _short(tree: Node, positive: frozenset[str], more_numbers: bool) -> Node:
    best, effort = readable(tree), Effort()
    for _ in range(SHORT_PASSES):
        found = readable(rebuilt(best, lambda node: _shortest(node, positive, more_numbers, effort)))
        if found.cost >= best.cost:
            break
        best = found
    return best


def _shortest(node: Node, positive: frozenset[str], more_numbers: bool, effort: Effort) -> Node:
    """Return the cheapest form of a node over operands that are short already."""
    if not node.op:
        return node
    best, least = node, node.cost
    most = math.inf if more_numbers else least[-1]
    for other in identities(node, positive):
        if other.size <= least[0] and other.cost < least and other.cost[-1] <= most:
            best, least = other, other.cost
    for other in _regrouped(node, positive, effort):
        # of one length, more sums are no better: large numbers may cancel in them
        is_better = other.size <= least[0] and other.cost < least and other.cost[-1] <= most
        if is_better and (other.size < least[0] or _sums(other) <= _sums(node)):
            best, least = other, other.cost
    return best


def _regrouped(node: Node, positive: frozenset[str], effort: Effort) -> Iterator[Node]:
    if node.op not in SUM and node.op not in PRODUCT and exponent_of(node) is None:
        return
    for expands in (False, True):
        ring = Ring(node.library, expands=expands, positive=positive, effort=effort)
        try:
            yield from writings(ring, ring.read(node))
        except (TooLargeError, MissingSymbolError):
            continue


def _sums(node: Node) -> int:
    return sum(each.op in SUM for each in walk(node))


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
