"""The short form of an expression: identities of algebra and of functions, wherever they make it shorter."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import lru_cache

from edhie.expr.expression import Expr
from edhie.expr.readable.arithmetic import PRODUCT, SUM
from edhie.expr.readable.form import DEEPEST, readable, readable_form
from edhie.expr.readable.identities import identities
from edhie.expr.readable.nodes import MissingSymbolError, Node, expr_of, rebuilt, tree_of, walk
from edhie.expr.readable.polynomials import TooLargeError, exponent_of
from edhie.expr.readable.regrouping import writings
from edhie.expr.readable.ring import Effort, Ring

PASSES = 12
MOST_EFFORT = 200  # sums that are written: a fraction of a second
LONGEST = 60  # an expression of more symbols only gets its readable form: nobody reads it


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
    best, effort = readable(tree), Effort(MOST_EFFORT)
    for _ in range(PASSES):
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
