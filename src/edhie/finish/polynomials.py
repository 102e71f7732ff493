"""Nodes read as polynomials, sums of products of powers, and written back.

A polynomial maps monomials to coefficients. A monomial is a tuple of (atom, exponent); an atom is a node that is no
sum, product or power, or a sum that a power is taken of. Exponents are exact and may be negative.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from edhie.expr.interpret import numpy_function
from edhie.expr.library import SymbolLibrary
from edhie.expr.nodes import SUM, MissingSymbolError, Node, operation
from edhie.expr.numerals import numeral
from edhie.expr.symbols import OPERATORS
from edhie.finish.arithmetic import added as added_nodes
from edhie.finish.arithmetic import quotient, whole_power
from edhie.finish.numbers import spelling

Exponent = int | Fraction  # whole ones are integers, whose hashes cost less
Monomial = tuple[tuple[Node, Exponent], ...]
Polynomial = dict[Monomial, float]

ONE: Monomial = ()
HALF = Fraction(1, 2)
MOST_TERMS = 30
SHORT = 6  # characters of a number that people write
CANCELLED = 1e-13  # the share of its parts below which a coefficient is rounding
LONGEST_PRODUCT = 3  # x*x*x, where there is no power
LARGEST_POWER = 4  # of a sum that is multiplied out
LARGEST_DIVISOR = 12  # x/3 reads better than 0.333333*x


class TooLargeError(Exception):
    """More terms than anyone reads, or a number beyond doubles."""


# -- arithmetic -----------------------------------------------------------------------


def added(a: Polynomial, b: Polynomial) -> Polynomial:
    """Return the sum."""
    parts = {each: [value] for each, value in a.items()}
    for each, value in b.items():
        parts.setdefault(each, []).append(value)
    return collected(parts)


def scaled(a: Polynomial, factor: float) -> Polynomial:
    """Return a multiple."""
    return checked({each: value * factor for each, value in a.items()})


def collected(parts: dict[Monomial, list[float]]) -> Polynomial:
    """Add up coefficients, and leave out those that are rounding."""
    found = {}
    for each, values in parts.items():
        total = math.fsum(values)
        if abs(total) > CANCELLED * sum(map(abs, values)):
            found[each] = total
    return checked(found)


def checked(found: Polynomial) -> Polynomial:
    """Return the polynomial, or raise where it is too large."""
    if len(found) > MOST_TERMS or not all(map(math.isfinite, found.values())) or 0.0 in found.values():
        raise TooLargeError
    return found


def power_of_number(value: float, exponent: Exponent) -> float:
    """Return a power of a coefficient; raise where it is 0 or no finite number."""
    try:
        found = value ** (int(exponent) if exponent.denominator == 1 else float(exponent))
    except (OverflowError, ZeroDivisionError) as error:
        raise TooLargeError from error
    if isinstance(found, complex) or not math.isfinite(found) or found == 0.0:
        raise TooLargeError
    return float(found)


# -- writing as nodes -----------------------------------------------------------------


def number_node(library: SymbolLibrary, value: float) -> Node:
    """Return a number as a node: a literal, a number if it is short or there are no constants, else a constant.

    A long number comes from fitted constants and has to stay one, since it has a standard error.
    """
    if not math.isfinite(value):
        raise TooLargeError
    text = numeral(value)
    is_number = library.constant is None or len(text) <= SHORT or spelling(value) is not None
    if text in library or (library.has_numbers and is_number):
        return Node(library, text)
    if library.constant is None:
        raise MissingSymbolError(text)
    return Node(library, library.constant, (), float(value))


def exact(number: float) -> Exponent:
    """Return a number as an exact exponent."""
    return int(number) if number.is_integer() else Fraction(number)


def exponent_of(node: Node) -> Exponent | None:
    """Return the exponent of a power, a square root or an inverse; None for anything else."""
    if node.op == "sqrt":
        return HALF
    if node.op == "inv":
        return -1
    if node.op == "^":
        number = node.operands[1].number
        return exact(number) if number and math.isfinite(number) else None
    return int(node.op[1:]) if node.op[:1] == "^" else None


def is_non_negative(node: Node, positive: frozenset[str] = frozenset()) -> bool:
    """Return True for a node without values below 0, by its form and where the variables named are positive."""
    if node.number is not None:
        return node.number >= 0
    if node.kind == "literal":
        return node.symbol.value >= 0
    if node.kind == "variable":
        return node.token in positive
    if not node.op:
        return False
    sign = OPERATORS[node.op].sign
    return sign == "non-negative" or (sign == "kept" and all(is_non_negative(each, positive) for each in node.operands))


def flat(library: SymbolLibrary, polynomial: Polynomial) -> Node:
    """Return a polynomial as a sum of products."""
    if not polynomial:
        return number_node(library, 0.0)
    return added_nodes([(value < 0, term(library, each, abs(value))) for each, value in polynomial.items()])


def term(library: SymbolLibrary, monomial: Monomial, coefficient: float) -> Node:
    """Return a positive coefficient times powers."""
    above: list[Node] = []
    below: list[Node] = []
    for each, exponent in monomial:
        if exponent > 0:
            above += written_power(each, exponent)
        else:
            below += written_power(each, -exponent)
    above, below = _with_common_roots(above), _with_common_roots(below)
    divisor = round(1.0 / coefficient) if 1.0 / LARGEST_DIVISOR <= coefficient < 1.0 else 1
    is_short = len(repr(coefficient)) < SHORT
    if divisor > 1 and 1.0 / divisor == coefficient and above and not is_short:
        below.insert(0, number_node(library, float(divisor)))
    elif coefficient != 1.0 or not above:
        above.insert(0, number_node(library, coefficient))
    return quotient(above, below)


def _with_common_roots(given: list[Node]) -> list[Node]:
    """Write sqrt(a)*sqrt(b) as sqrt(a*b)."""
    roots = [each.operands[0] for each in given if each.op == "sqrt"]
    if len(roots) < 2:
        return given
    others = [each for each in given if each.op != "sqrt"]
    return [*others, operation("sqrt", quotient(roots, []))]


def folded(node: Node) -> Node:
    """Return an operation on numbers as its value, unless that is a fitted constant and they are not."""
    function = numpy_function(node.symbol)
    with np.errstate(all="ignore"):
        value = float(function(*(each.number for each in node.operands)))
    found = number_node(node.library, value)
    return node if found.kind == "constant" and all(each.kind == "number" for each in node.operands) else found


def written_power(base: Node, exponent: Exponent) -> list[Node]:
    """Return factors that together are a power of a positive exponent."""
    if exponent == 1:
        return [base]
    if exponent.denominator == 1:
        if (found := whole_power(base, int(exponent))) is not None:
            return found
    elif exponent == HALF and "sqrt" in base.library.built_in:
        return [operation("sqrt", base)]
    if "^" in base.library.built_in:
        return [operation("^", base, number_node(base.library, float(exponent)))]
    if exponent.denominator == 1 and exponent <= LONGEST_PRODUCT:
        return [base] * int(exponent)
    raise MissingSymbolError("^")


# -- reading of nodes -----------------------------------------------------------------


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
    sign: Callable[[Node], int] = lambda node: 0
    """The sign of a part in all rows, or 0; see `Facts.sign`."""
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
            return added(self.read(operands[0]), scaled(self.read(operands[1]), sign))
        if node.op == "neg":
            return scaled(self.read(operands[0]), -1.0)
        if node.op in ("*", "/"):
            exponent = 1 if node.op == "*" else -1
            return self.times(self._factor(operands[0]), self.raised(operands[1], exponent))
        if (found := exponent_of(node)) is not None:
            return self.raised(operands[0], found)
        return self.atom(node)

    def atom(self, node: Node, exponent: Exponent = 1) -> Polynomial:
        """Return a power of a part that is not looked into."""
        self.order.setdefault(node, len(self.order))
        return {((node, exponent),): 1.0}

    def times(self, a: Polynomial, b: Polynomial) -> Polynomial:
        """Return the product of two polynomials."""
        if len(a) * len(b) > 4 * MOST_TERMS:
            raise TooLargeError
        parts: dict[Monomial, list[float]] = {}
        for one, first in a.items():
            for other, second in b.items():
                parts.setdefault(self.product(one, other), []).append(first * second)
        return collected(parts)

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
            return checked({whole: power_of_number(coefficient, exponent)})
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
        atom = flat(self.library, monic)
        self.sums[atom] = monic
        return scaled(self.atom(atom, exponent), power_of_number(first, exponent))

    def _factor(self, node: Node) -> Polynomial:
        """Read a factor; a sum stays one unless the ring expands."""
        found = self.read(node)
        return self.power_of_sum(found, 1) if len(found) > 1 and not self.expands else found

    def _root(self, node: Node, monomial: Monomial, coefficient: float, exponent: Exponent) -> Polynomial:
        """Return a fractional power of a product: of each factor that cannot be negative, and of the rest as one."""
        if coefficient < 0:
            return self.atom(node, exponent)
        factor = power_of_number(coefficient, exponent)
        outside: Monomial = ()
        inside: list[tuple[Node, Exponent]] = []
        for each, own in monomial:
            if is_non_negative(each, self.positive) or own.denominator != 1:
                outside = self.product(outside, ((each, own * exponent),))
            elif own % 2 == 0 and (sign := self.sign(each)) and (own * exponent).denominator == 1:
                outside = self.product(outside, ((each, int(own * exponent)),))
                factor *= float(sign) ** int(own * exponent)
            elif own % 2 == 0 and "abs" in self.library.built_in:
                size = operation("abs", each)
                self.order.setdefault(size, self.order[each])
                outside = self.product(outside, ((size, own * exponent),))
            else:
                inside.append((each, own))
        if len(inside) == 1 and inside[0][1] % 2 == 1:  # x^3 has a root where x has one
            outside = self.product(outside, ((inside[0][0], inside[0][1] * exponent),))
            inside = []
        if inside:
            rest = flat(self.library, {tuple(inside): 1.0})
            self.order.setdefault(rest, len(self.order))
            outside = self.product(outside, ((rest, exponent),))
        return checked({outside: factor})
