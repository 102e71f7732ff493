"""Sums of products of powers, and how they are written as nodes.

A polynomial maps monomials to coefficients. A monomial is a tuple of (atom, exponent); an atom is a node that is no
sum, product or power, or a sum that a power is taken of. Exponents are exact and may be negative.
"""

from __future__ import annotations

import math
from fractions import Fraction

from edhie.expr.library import SymbolLibrary
from edhie.expr.numerals import numeral
from edhie.expr.readable.arithmetic import added as added_nodes
from edhie.expr.readable.arithmetic import quotient, whole_power
from edhie.expr.readable.nodes import MissingSymbolError, Node, operation
from edhie.expr.symbols import OPERATORS

Exponent = int | Fraction  # whole ones are integers, whose hashes cost less
Monomial = tuple[tuple[Node, Exponent], ...]
Polynomial = dict[Monomial, float]

ONE: Monomial = ()
HALF = Fraction(1, 2)
MOST_TERMS = 30
SHORT = 6  # characters of a number that people write
CANCELLED = 1e-13  # the share of its parts below which a coefficient is rounding
LONGEST_PRODUCT = 3  # x*x*x, where there is no power
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


# -- from and to nodes ----------------------------------------------------------------


def number_node(library: SymbolLibrary, value: float) -> Node:
    """Return a number as a node: a literal, a number if it is short or there are no constants, else a constant.

    A long number comes from fitted constants and has to stay one, since it has a standard error.
    """
    if not math.isfinite(value):
        raise TooLargeError
    text = numeral(value)
    if text in library or (library.has_numbers and (len(text) <= SHORT or library.constant is None)):
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
    divisor = round(1.0 / coefficient) if 1.0 / LARGEST_DIVISOR <= coefficient < 1.0 else 1
    is_short = len(repr(coefficient)) < SHORT
    if divisor > 1 and 1.0 / divisor == coefficient and above and not is_short:
        below.insert(0, number_node(library, float(divisor)))
    elif coefficient != 1.0 or not above:
        above.insert(0, number_node(library, coefficient))
    return quotient(above, below)


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
    whole, rest = divmod(exponent, 1)
    if rest == HALF and whole >= 1:
        return [*written_power(base, whole), operation("sqrt", base)]
    if rest == 0 and whole <= LONGEST_PRODUCT:
        return [base] * whole
    raise MissingSymbolError("^")
