"""Nodes read as polynomials."""

from __future__ import annotations

from dataclasses import dataclass, field

from edhie.expr.library import SymbolLibrary
from edhie.expr.readable import polynomials as poly
from edhie.expr.readable.nodes import SUM, Node, operation
from edhie.expr.readable.polynomials import ONE, Exponent, Monomial, Polynomial, TooLargeError

LARGEST_POWER = 4  # of a sum that is multiplied out


@dataclass
class Effort:
    """Number of sums that may still be written; it bounds the time without a clock."""

    left: int = 200  # a fraction of a second


@dataclass
class Ring:
    """Reads nodes as polynomials. Without `expands`, sums that are factors stay as they are."""

    library: SymbolLibrary
    expands: bool
    positive: frozenset[str] = frozenset()
    effort: Effort = field(default_factory=Effort)
    order: dict[Node, int] = field(default_factory=dict)
    """Atoms, numbered in the order of their appearance."""
    sums: dict[Node, Polynomial] = field(default_factory=dict)
    """The polynomial of each atom that is a sum."""

    def read(self, node: Node) -> Polynomial:
        """Return the polynomial of a node."""
        if node.number is not None:
            return {ONE: node.number} if node.number else {}
        operands = node.operands
        if node.op in SUM:
            sign = 1.0 if node.op == "+" else -1.0
            return poly.added(self.read(operands[0]), poly.scaled(self.read(operands[1]), sign))
        if node.op == "neg":
            return poly.scaled(self.read(operands[0]), -1.0)
        if node.op in ("*", "/"):
            exponent = 1 if node.op == "*" else -1
            return self.times(self._factor(operands[0]), self.raised(operands[1], exponent))
        if (found := poly.exponent_of(node)) is not None:
            return self.raised(operands[0], found)
        return self.atom(node)

    def atom(self, node: Node, exponent: Exponent = 1) -> Polynomial:
        """Return a power of a part that is not looked into."""
        self.order.setdefault(node, len(self.order))
        return {((node, exponent),): 1.0}

    def times(self, a: Polynomial, b: Polynomial) -> Polynomial:
        """Return the product of two polynomials."""
        if len(a) * len(b) > 4 * poly.MOST_TERMS:
            raise TooLargeError
        parts: dict[Monomial, list[float]] = {}
        for one, first in a.items():
            for other, second in b.items():
                parts.setdefault(self.product(one, other), []).append(first * second)
        return poly.collected(parts)

    def product(self, a: Monomial, b: Monomial) -> Monomial:
        """Return the product of two monomials."""
        found = dict(a)
        for each, exponent in b:
            found[each] = found.get(each, 0) + exponent
        kept = [(each, exponent) for each, exponent in found.items() if exponent]
        return tuple(sorted(kept, key=lambda pair: self.order[pair[0]]))

    def raised(self, node: Node, exponent: Exponent) -> Polynomial:
        """Return a power of a node."""
        if exponent == 1:
            return self._factor(node)
        base = self.read(node)
        if not base:
            return self.atom(node, exponent)
        if len(base) > 1:
            return self.power_of_sum(base, exponent)
        ((monomial, coefficient),) = base.items()
        if exponent.denominator == 1:
            whole: Monomial = tuple((each, own * exponent) for each, own in monomial)
            return poly.checked({whole: poly.power_of_number(coefficient, exponent)})
        return self._root(node, monomial, coefficient, exponent)

    def power_of_sum(self, base: Polynomial, exponent: Exponent) -> Polynomial:
        """Return a power of a sum, multiplied out where the ring expands."""
        if self.expands and exponent.denominator == 1 and 1 <= exponent <= LARGEST_POWER:
            found: Polynomial = {ONE: 1.0}
            for _ in range(int(exponent)):
                found = self.times(found, base)
            return found
        return self.kept_power(base, exponent)

    def kept_power(self, base: Polynomial, exponent: Exponent) -> Polynomial:
        """Return a power of a sum as an atom whose first coefficient is 1."""
        first = next(iter(base.values()))
        first = first if exponent.denominator == 1 else abs(first)
        monic = {each: value / first for each, value in base.items()}
        atom = poly.flat(self.library, monic)
        self.sums[atom] = monic
        return poly.checked(poly.scaled(self.atom(atom, exponent), poly.power_of_number(first, exponent)))

    def _factor(self, node: Node) -> Polynomial:
        """Read a factor; a sum stays one unless the ring expands."""
        found = self.read(node)
        return self.power_of_sum(found, 1) if len(found) > 1 and not self.expands else found

    def _root(self, node: Node, monomial: Monomial, coefficient: float, exponent: Exponent) -> Polynomial:
        """Return a fractional power of a product: of each factor that cannot be negative, and of the rest as one."""
        if coefficient < 0:
            return self.atom(node, exponent)
        outside: Monomial = ()
        inside: list[tuple[Node, Exponent]] = []
        for each, own in monomial:
            if poly.is_non_negative(each, self.positive) or own.denominator != 1:
                outside = self.product(outside, ((each, own * exponent),))
            elif own % 2 == 0 and "abs" in self.library.built_in:
                size = operation("abs", each)
                self.order.setdefault(size, self.order[each])
                outside = self.product(outside, ((size, own * exponent),))
            else:
                inside.append((each, own))
        if len(inside) == 1 and inside[0][1] % 2 == 1:  # x^3 has a root where x has one
            outside = self.product(outside, ((inside[0][0], inside[0][1] * exponent),))
            inside = []
        factor = poly.power_of_number(coefficient, exponent)
        if inside:
            rest = poly.flat(self.library, {tuple(inside): 1.0})
            self.order.setdefault(rest, len(self.order))
            outside = self.product(outside, ((rest, exponent),))
        return poly.checked({outside: factor})
