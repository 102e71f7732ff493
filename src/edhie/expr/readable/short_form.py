"""The short form of an expression: identities of algebra and of functions, wherever they make it shorter."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import lru_cache

from edhie.expr.expression import Expr
from edhie.expr.library import SymbolLibrary
from edhie.expr.numerals import is_numeral
from edhie.expr.readable.arithmetic import PRODUCT, SUM
from edhie.expr.readable.form import DEEPEST, readable, readable_form
from edhie.expr.readable.identities import identities
from edhie.expr.readable.nodes import MissingSymbolError, Node, expr_of, rebuilt, tree_of, walk
from edhie.expr.readable.polynomials import TooLargeError, exponent_of, has_exponentials
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
    best = readable(tree)
    shorten = _Shortening(positive, more_numbers)
    for _ in range(PASSES):
        found = readable(rebuilt(best, shorten))
        if found.cost >= best.cost:
            break
        best = found
    return best


class _Shortening:
    """Finds the cheapest form of a node over operands that are short already, and remembers it."""

    def __init__(self, positive: frozenset[str], more_numbers: bool) -> None:
        self.positive, self.more_numbers = positive, more_numbers
        self.effort = Effort(MOST_EFFORT)
        self.known: dict[Node, tuple[Node, int]] = {}

    def __call__(self, node: Node) -> Node:
        if not node.op:
            return node
        best, spent = self.known.get(node, (None, 0))
        if best is not None and self.effort.left >= spent:
            self.effort.left -= spent  # as if it were looked for again: the order of nodes decides where effort ends
            return best
        before = self.effort.left
        best = self._shortest(node)
        if self.effort.left >= 0:
            self.known[node] = (best, before - self.effort.left)
        return best

    def _shortest(self, node: Node) -> Node:
        best, least = node, node.cost
        most = math.inf if self.more_numbers else least[-1]
        for other in identities(node, self.positive):
            if other.size <= least[0] and other.cost < least and other.cost[-1] <= most:
                best, least = other, other.cost
        for other in self._regrouped(node):
            # of one length, more sums are no better: large numbers may cancel in them
            is_better = other.size <= least[0] and other.cost < least and other.cost[-1] <= most
            if is_better and (other.size < least[0] or _sums(other) <= _sums(node)):
                best, least = other, other.cost
        return best

    def _regrouped(self, node: Node) -> Iterator[Node]:
        if node.op not in SUM and node.op not in PRODUCT and exponent_of(node) is None:
            return
        if _is_simple(node):
            self.effort.left -= 2 if node.op in SUM else 0  # as much as it would take to find nothing
            return
        read, spent = None, 0
        for expands in (False, True):
            ring = Ring(node.library, expands=expands, positive=self.positive, effort=self.effort)
            try:
                whole = ring.read(node)
                again = (list(whole.items()), list(ring.order), dict(ring.sums))
                if read == again and self.effort.left >= spent and not has_exponentials(whole):
                    self.effort.left -= spent  # nothing was expanded: the same forms would be found at the same cost
                    return
                before = self.effort.left
                yield from writings(ring, whole)
                read, spent = again, before - self.effort.left
            except (TooLargeError, MissingSymbolError):
                continue


def _is_simple(node: Node) -> bool:
    """Return True for an operator over variables and a number, such as 2*x, which has no shorter form."""
    a, b = node.operands[0], node.operands[-1]
    if a.operands or b.operands:
        return False
    if len(node.operands) == 1:
        return a.kind == "variable" and node.op != "neg"
    numbers = [each.number for each in (a, b) if each.number is not None]
    if numbers and (len(numbers) == 2 or numbers[0] in (0.0, 1.0, -1.0) or _has_numerals(node.library)):
        return False
    return node.op != "^" and a != b


@lru_cache(64)
def _has_numerals(library: SymbolLibrary) -> bool:
    """Return True for a library with literals such as 2, which are shorter than constants of that value."""
    return any(symbol.kind == "literal" and is_numeral(symbol.name) for symbol in library.symbols)


def _sums(node: Node) -> int:
    return sum(each.op in SUM for each in walk(node))
