"""The short form of an expression: identities of algebra and of functions, wherever they make it shorter."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from edhie.expr.expression import Expr
from edhie.expr.library import SymbolLibrary
from edhie.expr.plain.form import DEEPEST, plain_form
from edhie.expr.plain.identities import identities
from edhie.expr.plain.nodes import Node, UnsayableError, expr_of, is_built_in, number_of, tree_of, walk
from edhie.expr.plain.polynomials import TooLargeError, exponent_of
from edhie.expr.plain.regrouping import writings
from edhie.expr.plain.ring import Effort

PASSES = 12
MOST_EFFORT = 200  # sums that are written: a fraction of a second
LONGEST = 60  # an expression of more symbols only becomes plain: nobody reads it
ARITHMETIC = ("+", "-", "*", "/", "neg")
Cost = tuple[int, int, int, int]


def short_form(expr: Expr, *, positive: Iterable[str] = (), more_numbers: bool = True) -> Expr:
    """Write an expression in plain form, and shorter where an identity allows it, over the same library.

    Values are the same, but for rounding, wherever the expression has one. With the names of variables that are
    `positive`, only for positive values of these: sqrt(x^2) is x. Of two writings of one length the one with fewer
    functions is taken. Numbers that an identity brings in, as the exponent of x*sqrt(x), are constants where the
    library has no numbers; without `more_numbers` no part gets more numbers than it has.

    >>> from edhie.expr import parse
    >>> str(short_form(parse("sqrt(x^2 + y^2 - 2*x*y + z)")))
    'sqrt((x - y)^2 + z)'
    >>> str(short_form(parse("x*sqrt(x) + (2*x*y - x^2*y - x*y^2)/x")))
    'x^1.5 + y*(2 - x - y)'
    """
    best = plain_form(expr)
    if expr.height > DEEPEST or expr.size > LONGEST or None in expr.constants:
        return best
    library, assumed, effort = expr.library, frozenset(positive), Effort(MOST_EFFORT)
    for _ in range(PASSES):
        tree = tree_of(best, lambda node: _shorter(library, node, assumed, more_numbers, effort))
        found = plain_form(expr_of(tree, library))
        if _cost(library, tree_of(found)) >= _cost(library, tree_of(best)):
            break
        best = found
    return best


def _shorter(library: SymbolLibrary, node: Node, positive: frozenset[str], more_numbers: bool, effort: Effort) -> Node:
    """The cheapest way to write a node over operands that are short already."""
    if not node.operands or not is_built_in(library, node.token):
        return node
    best, least = node, _cost(library, node)
    most = math.inf if more_numbers else least[-1]
    for other in identities(library, node, positive):
        cost = _cost(library, other)
        if cost < least and cost[-1] <= most:
            best, least = other, cost
    sums = _sums(node)
    for other in _regrouped(library, node, positive, effort):
        cost = _cost(library, other)
        # of one length, more sums are no better: large numbers may cancel in them
        if cost < least and cost[-1] <= most and (cost[0] < least[0] or _sums(other) <= sums):
            best, least = other, cost
    return best


def _regrouped(library: SymbolLibrary, node: Node, positive: frozenset[str], effort: Effort) -> Iterator[Node]:
    if node.token not in ARITHMETIC and exponent_of(library, node) is None:
        return
    for expands in (False, True):
        try:
            yield from writings(library, node, expands=expands, positive=positive, effort=effort)
        except (TooLargeError, UnsayableError):
            continue


def _sums(node: Node) -> int:
    return sum(each.token in ("+", "-") for each in walk(node))


def _cost(library: SymbolLibrary, node: Node) -> Cost:
    """Symbols; of those functions, variables, and constants."""
    every = walk(node)
    functions = sum(library[each.token].style == "function" for each in every)
    variables = sum(library[each.token].kind == "variable" for each in every)
    return len(every), functions, variables, sum(number_of(library, each) is not None for each in every)
