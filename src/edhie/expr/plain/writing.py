"""Polynomials as nodes: powers, products, sums."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from edhie.expr.library import SymbolLibrary
from edhie.expr.plain.nodes import Node, UnsayableError, is_built_in, joined
from edhie.expr.plain.polynomials import Monomial, Polynomial, number_node
from edhie.expr.plain.powers import power
from edhie.expr.plain.signs import added, quotient

HALF = Fraction(1, 2)
LONGEST_PRODUCT = 3  # x*x*x, where there is no power
LARGEST_DIVISOR = 12  # x/3 reads better than 0.333333*x


def flat(library: SymbolLibrary, polynomial: Polynomial) -> Node:
    """A sum of products, one after the other."""
    if not polynomial:
        return number_node(library, 0.0)
    return summed(library, [(value, term(library, each, abs(value))) for each, value in polynomial.items()])


def summed(library: SymbolLibrary, parts: Iterable[tuple[float, Node]]) -> Node:
    """Nodes added up, those with a negative number beside them taken away."""
    return added(library, [(value < 0, node) for value, node in parts])


def term(library: SymbolLibrary, monomial: Monomial, coefficient: float) -> Node:
    """A coefficient above 0 times powers."""
    above: list[Node] = []
    below: list[Node] = []
    for each, exponent in monomial:
        (above if exponent > 0 else below).extend(written_power(library, each, abs(exponent)))
    divisor = round(1.0 / coefficient) if 1.0 / LARGEST_DIVISOR <= coefficient < 1.0 else 1
    if divisor > 1 and 1.0 / divisor == coefficient and above and not _is_short(coefficient):
        below.insert(0, number_node(library, float(divisor)))
    elif coefficient != 1.0 or not above:
        above.insert(0, number_node(library, coefficient))
    return quotient(library, above, below)


def _is_short(value: float) -> bool:
    return len(repr(value)) <= 5


def written_power(library: SymbolLibrary, base: Node, exponent: Fraction) -> list[Node]:
    """Factors that are together a power, of an exponent above 0."""
    if exponent == 1:
        return [base]
    if exponent.denominator == 1:
        if (found := power(library, base, int(exponent))) is not None:
            return found
    elif exponent == HALF and is_built_in(library, "sqrt"):
        return [Node("sqrt", (base,))]
    if is_built_in(library, "^"):
        return [joined(library, "^", base, number_node(library, float(exponent)))]
    whole, rest = divmod(exponent, 1)
    if rest == HALF and whole >= 1:
        return [*written_power(library, base, Fraction(whole)), joined(library, "sqrt", base)]
    if rest == 0 and whole <= LONGEST_PRODUCT:
        return [base] * whole
    raise UnsayableError("^")
