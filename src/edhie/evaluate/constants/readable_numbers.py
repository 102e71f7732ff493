"""Numbers as people write them, close to a fitted one: 1/2, pi/4, sqrt(2), 9.81."""

from __future__ import annotations

import math
from dataclasses import dataclass

from edhie.evaluate.constants.neutral_numbers import is_usable, widened
from edhie.expr import SymbolLibrary
from edhie.expr.numerals import numeral
from edhie.expr.symbols import OPERATORS

SIMPLE_DENOMINATORS, DENOMINATORS, NUMERATORS = 12, 100, 999
MULTIPLES = 24  # of pi and the like, up and down
MOST_DIGITS = 17
MOST_CANDIDATES = 40

FAMILIES: tuple[tuple[tuple[str, ...], float, float], ...] = (
    (("pi",), math.pi, 2.5),
    (("sqrt", "2"), math.sqrt(2), 3.0),
    (("sqrt", "3"), math.sqrt(3), 3.2),
    (("^2", "pi"), math.pi**2, 3.4),
    (("e",), math.e, 3.4),
    (("sqrt", "pi"), math.sqrt(math.pi), 3.6),
    (("sqrt", "*", "2", "pi"), math.sqrt(2 * math.pi), 3.6),
)
"""Tokens, value and cost of units: a multiple of pi is accepted if as many digits agree as its cost says."""


@dataclass(frozen=True)
class ReadableNumber:
    """A number with the tree that spells it."""

    value: float
    tokens: tuple[str, ...]
    cost: float
    """Length in digits. A cheap number is less likely to be close to a value by chance."""


def number_library(library: SymbolLibrary) -> SymbolLibrary:
    """Return the library with all symbols that readable numbers are spelled with."""
    return widened(library).extended(OPERATORS["^2"])


def readable_numbers(value: float, reach: float, library: SymbolLibrary) -> list[ReadableNumber]:
    """Return numbers at most `reach` from `value`, the simplest first; the last is the value itself, in all digits.

    Whole numbers, fractions of small ones, multiples of pi and of a few roots, and decimals; those that
    `library`, a `number_library`, can spell.
    """
    found = [*_decimals(value, reach), *_fractions(value), *_multiples(value, library)]
    near = {each.tokens: each for each in reversed(found) if abs(each.value - value) <= reach}
    ordered = sorted(near.values(), key=lambda each: (each.cost, abs(each.value - value)))
    return [*ordered[:MOST_CANDIDATES], in_full(value)]


def in_full(value: float) -> ReadableNumber:
    """Return the value itself, with as many digits as it takes."""
    return ReadableNumber(value, (numeral(value),), MOST_DIGITS)


def _decimals(value: float, reach: float) -> list[ReadableNumber]:
    found = [ReadableNumber(float(small), (str(small),), 0.1 * abs(small - 0.1)) for small in (0, 1, -1)]
    for digits in range(1, MOST_DIGITS):
        number = float(f"{value:.{digits - 1}e}")
        if not math.isfinite(number):
            continue
        cost = digits - 0.5 if number == int(number) and abs(number) < 1e15 else digits
        found.append(ReadableNumber(number, (numeral(number),), cost))
    return found


def _fractions(value: float) -> list[ReadableNumber]:
    found = []
    for below in range(2, DENOMINATORS + 1):
        above = round(value * below) if abs(value * below) < NUMERATORS else 0
        if above != 0 and math.gcd(above, below) == 1:
            cost = 1.5 * math.log10(abs(above) * below) + (below > SIMPLE_DENOMINATORS)
            found.append(ReadableNumber(above / below, ("/", str(above), str(below)), cost))
    return found


def _multiples(value: float, library: SymbolLibrary) -> list[ReadableNumber]:
    found = []
    for tokens, unit, unit_cost in FAMILIES:
        if not all(is_usable(library, name) for name in tokens if not name.isdigit()):
            continue
        for below in range(1, SIMPLE_DENOMINATORS + 1):
            for upside_down in (False, True):
                ratio = value * unit * below if upside_down else value / unit * below
                above = round(ratio) if abs(ratio) <= MULTIPLES + 0.5 else 0
                if above == 0 or math.gcd(above, below) != 1:
                    continue
                number = above / (below * unit) if upside_down else above * unit / below
                cost = unit_cost + math.log10(abs(above) * below) + 0.4 * upside_down
                found.append(ReadableNumber(number, _multiple(tokens, above, below, upside_down), cost))
    return found


def _multiple(unit: tuple[str, ...], above: int, below: int, upside_down: bool) -> tuple[str, ...]:
    """Return the tree of above·unit/below, or of above/(below·unit)."""
    if upside_down:
        return ("/", str(above), *(unit if below == 1 else ("*", str(below), *unit)))
    top = unit if above == 1 else ("*", str(above), *unit)
    return top if below == 1 else ("/", *top, str(below))
