"""Sums of products of powers: what arithmetic makes of parts that it does not look into.

A polynomial maps monomials to coefficients. A monomial is a tuple of (atom, exponent); an atom is a node that is no
sum, product or power, or the sum that a power stands on. Exponents are fractions and may be negative.
"""

from __future__ import annotations

import math
from fractions import Fraction

from edhie.expr.library import SymbolLibrary
from edhie.expr.numerals import numeral
from edhie.expr.plain.nodes import Node, UnsayableError, is_built_in, number_of

Monomial = tuple[tuple[Node, Fraction], ...]
Polynomial = dict[Monomial, float]

ONE: Monomial = ()
MOST_TERMS = 30
SHORT = 6  # characters of a number that people write
CANCELLED = 1e-13  # the share of its parts below which a coefficient is rounding
NON_NEGATIVE = ("exp", "sqrt", "abs", "^2", "^4", "cosh", "acos")


class TooLargeError(Exception):
    """More terms than anyone reads, or a number beyond doubles."""


def number_node(library: SymbolLibrary, value: float) -> Node:
    """A number as a node: a literal, a number if it is short or there are no constants, else a constant.

    A long number comes of fitted constants, and has to stay one: others ask for its standard error.
    """
    if not math.isfinite(value):
        raise TooLargeError
    text = numeral(value)
    if text in library or (library.has_numbers and (len(text) <= SHORT or library.constant is None)):
        return Node(text)
    if library.constant is None:
        raise UnsayableError(text)
    return Node(library.constant, (), float(value))


def exponent_of(library: SymbolLibrary, node: Node) -> Fraction | None:
    """The exponent of a power, a root or an inverse; None for anything else."""
    if not is_built_in(library, node.token):
        return None
    if node.token == "sqrt":
        return Fraction(1, 2)
    if node.token == "inv":
        return Fraction(-1)
    if node.token[0] == "^" and len(node.operands) == 1:
        return Fraction(int(node.token[1:]))
    if node.token == "^":
        number = number_of(library, node.operands[1])
        return Fraction(number) if number and math.isfinite(number) else None
    return None


def is_non_negative(library: SymbolLibrary, node: Node, positive: frozenset[str] = frozenset()) -> bool:
    """Whether a node has no value below 0, by its form and where the variables named are positive."""
    number = number_of(library, node)
    if number is not None:
        return number >= 0
    symbol = library[node.token]
    if symbol.kind == "literal":
        return symbol.value >= 0
    if symbol.kind == "variable":
        return node.token in positive
    if not is_built_in(library, node.token):
        return False
    if node.token in NON_NEGATIVE:
        return True
    if node.token in ("+", "*", "/", "^", "^3", "^5", "inv", "cbrt", "min", "atan", "asin", "sinh", "tanh"):
        return all(is_non_negative(library, each, positive) for each in node.operands)
    return False


def added(a: Polynomial, b: Polynomial) -> Polynomial:
    """The sum."""
    parts = {each: [value] for each, value in a.items()}
    for each, value in b.items():
        parts.setdefault(each, []).append(value)
    return collected(parts)


def scaled(a: Polynomial, factor: float) -> Polynomial:
    """A multiple."""
    return checked({each: value * factor for each, value in a.items()})


def collected(parts: dict[Monomial, list[float]]) -> Polynomial:
    """The sums of coefficients, without those that are rounding."""
    found = {}
    for each, values in parts.items():
        total = math.fsum(values)
        if abs(total) > CANCELLED * sum(map(abs, values)):
            found[each] = total
    return checked(found)


def checked(found: Polynomial) -> Polynomial:
    """A polynomial of sane size; else this raises."""
    if len(found) > MOST_TERMS or not all(map(math.isfinite, found.values())) or 0.0 in found.values():
        raise TooLargeError
    return found


def power_of_number(value: float, exponent: Fraction) -> float:
    """A power of a coefficient; where it is no finite number but 0 this raises."""
    try:
        found = value ** (int(exponent) if exponent.denominator == 1 else float(exponent))
    except (OverflowError, ZeroDivisionError) as error:
        raise TooLargeError from error
    if isinstance(found, complex) or not math.isfinite(found) or found == 0.0:
        raise TooLargeError
    return float(found)
