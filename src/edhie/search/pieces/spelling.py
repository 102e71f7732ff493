"""Expressions spelled out of parts: sums with coefficients, products of powers, functions around them.

With a library that has constants to be fitted, or numbers, numbers are written as such. Without, they are
written with variables: 2 is x/x + x/x, and only fractions of small whole numbers can be written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

import numpy as np

from edhie.evaluate.data import Data
from edhie.expr import Expr, SymbolLibrary
from edhie.expr.numerals import numeral

LARGEST_WHOLE, LARGEST_BELOW = 12, 6  # numerator and denominator that are spelled with x/x: longer ones say little
SAME = 1e-9  # relative difference of numbers that are written alike


@dataclass(frozen=True)
class Words:
    """Tokens in prefix order, and the values of the constants among them."""

    tokens: tuple[str, ...]
    constants: tuple[float | None, ...] = ()

    @classmethod
    def of(cls, expr: Expr) -> Words:
        """Return the words of an expression."""
        return cls(expr.tokens, expr.constants)


def under(operator: str, *parts: Words) -> Words:
    """Return an operator over its operands."""
    tokens = sum((part.tokens for part in parts), (operator,))
    return Words(tokens, sum((part.constants for part in parts), ()))


class UnwritableError(Exception):
    """The library has no symbols to write something with."""


class Speller:
    """Writes with the symbols of one library."""

    def __init__(self, library: SymbolLibrary, data: Data | None = None) -> None:
        """`data` are the rows on which 1, written with variables as by `one_on`, has to be 1."""
        self.library = library
        self._one = one_on(data, library)
        self.is_free = library.constant is not None or library.has_numbers

    def expr(self, words: Words) -> Expr:
        """Return the words as an expression."""
        return Expr.trusted(self.library, words.tokens, words.constants)

    def over(self, operator: str, *parts: Words) -> Words:
        """Return an operator over its operands; one that the library lacks raises `UnwritableError`."""
        if operator not in self.library:
            raise UnwritableError(operator)
        return under(operator, *parts)

    # -- numbers --------------------------------------------------------------------------

    def number(self, value: float) -> Words:
        """Return a number by itself."""
        if not np.isfinite(value):
            raise UnwritableError(f"the number {value}")
        if self.library.constant is not None:
            return Words((self.library.constant,), (float(value),))
        if self.library.has_numbers:
            return Words((numeral(value),))
        if literal := self._literal(value):
            return literal
        fraction = fraction_of(value)
        if fraction is None:
            raise UnwritableError(f"the number {value}")
        above = self._whole(fraction.numerator)
        return above if fraction.denominator == 1 else self.over("/", above, self._whole(fraction.denominator))

    def _literal(self, value: float) -> Words | None:
        """Return a number that is a symbol of the library, or None."""
        found = np.flatnonzero(np.abs(self.library.literal_values - value) <= SAME * abs(value))
        return Words((self.library.names[found[0]],)) if len(found) else None

    def _whole(self, number: int) -> Words:
        leaf = Words((self.library.variables[0],))
        if number == 0:
            return self.over("-", leaf, leaf)
        one = self._literal(1.0) or self._one
        if one is None:
            raise UnwritableError("the number 1")
        words = self._chain("+", [one] * abs(number))
        return words if number > 0 else self.negative(words)

    def negative(self, words: Words) -> Words:
        """Return the words with the other sign."""
        if "neg" in self.library:
            return under("neg", words)
        if self.is_free:
            return self.over("*", self.number(-1.0), words)
        return self.over("-", self._whole(0), words)

    # -- sums -----------------------------------------------------------------------------

    def sum(self, parts: Sequence[tuple[float, Words]], constant: float = 0.0) -> Words:
        """Return the sum of parts with their coefficients, and a constant."""
        if not np.isfinite([constant, *(coefficient for coefficient, _ in parts)]).all():
            raise UnwritableError("coefficients that are not finite")
        size = abs(parts[0][0]) if len(parts) > 1 and constant == 0.0 else 1.0
        if abs(size - 1) > SAME and all(abs(abs(c) - size) <= SAME * size for c, _ in parts):  # a common factor
            return self._times(size, self.sum([(c / size, words) for c, words in parts]))
        positive: list[tuple[float, Words | None]] = [(c, words) for c, words in parts if c > 0]
        negative: list[tuple[float, Words | None]] = [(-c, words) for c, words in parts if c < 0]
        if constant > 0 or (constant < 0 and self.library.constant is not None and positive):
            positive.append((constant, None))  # a fitted constant may be negative
        elif constant < 0:
            negative.append((-constant, None))
        if not positive and not negative:
            return self.number(0.0)
        if "-" not in self.library:
            positive, negative = positive + [(-c, words) for c, words in negative], []
        plus, minus = (
            [self.number(c) if words is None else self._times(c, words) for c, words in terms]
            for terms in (positive, negative)
        )
        first = self._chain("+", plus) if plus else self.negative(minus.pop(0))
        return self._chain("-", [first, *minus])

    def _chain(self, operator: str, parts: Sequence[Words]) -> Words:
        """Return parts joined by an operator, from the left."""
        return reduce(lambda one, other: self.over(operator, one, other), parts)

    def _times(self, factor: float, words: Words) -> Words:
        if abs(factor - 1) <= SAME:
            return words
        if abs(factor + 1) <= SAME:
            return self.negative(words)
        literal = None if self.is_free else self._literal(factor)
        if self.is_free or (literal and "*" in self.library):
            return self.over("*", literal or self.number(factor), words)
        fraction = fraction_of(factor)
        if fraction is None:
            raise UnwritableError(f"the number {factor}")
        repeated = self._chain("+", [words] * max(1, abs(fraction.numerator)))
        if fraction.numerator < 0:
            repeated = self.negative(repeated)
        return repeated if fraction.denominator == 1 else self.over("/", repeated, self._whole(fraction.denominator))

    # -- products -------------------------------------------------------------------------

    def product(self, powers: Sequence[tuple[float, Words]], factor: float = 1.0) -> Words:
        """Return the product of parts to their powers, and a factor."""
        above = [self.power(words, e) for e, words in powers if e > 0]
        below = [self.power(words, -e) for e, words in powers if e < 0]
        written = self._times(factor, self._chain("*", above)) if above else self.number(factor)
        return self.over("/", written, self._chain("*", below)) if below else written

    def monomial(self, exponents: Sequence[int]) -> Words:
        """Return the product of the library's variables to these powers."""
        powers = [(float(e), Words((name,))) for e, name in zip(exponents, self.library.variables, strict=True) if e]
        return self.product(powers)

    def power(self, words: Words, exponent: float) -> Words:
        """Return a part to a positive power, with the powers and roots that the library has."""
        whole, half = int(np.floor(exponent + SAME)), exponent - np.floor(exponent + SAME)
        if abs(half) <= SAME * max(1, exponent) and 1 <= whole <= 8:
            return self._whole_power(words, whole)
        if abs(half - 0.5) <= SAME * max(1, exponent) and "sqrt" in self.library and whole <= 8:
            root = under("sqrt", words)
            return root if whole == 0 else self.over("*", self._whole_power(words, whole), root)
        if not self.is_free:
            raise UnwritableError(f"the power {exponent}")
        if "^" in self.library:
            return under("^", words, self.number(exponent))
        return self.over("exp", self.over("*", self.number(exponent), self.over("log", words)))

    def _whole_power(self, words: Words, whole: int) -> Words:
        if whole == 1:
            return words
        if f"^{whole}" in self.library:
            return under(f"^{whole}", words)
        if whole == 4 and "^2" in self.library:
            return under("^2", under("^2", words))
        if whole == 6 and "^2" in self.library and "^3" in self.library:
            return under("^2", under("^3", words))
        half = self._whole_power(words, whole // 2)
        rest = self._whole_power(words, whole - whole // 2)
        return self.over("*", half, rest)

    def headed(self, head: tuple[str, ...], inner: Words) -> Words:
        """Return the words under operators, the outermost first; `1/` is a division."""
        for name in reversed(head):
            inner = self.over("/", self.number(1.0), inner) if name == "1/" else self.over(name, inner)
        return inner


def one_on(data: Data | None, library: SymbolLibrary) -> Words | None:
    """Return 1 written with variables, or None where the library cannot.

    It is x/x of a variable that is 0 in no row of `data`, else exp(x - x) or cos(x - x). Without data it is x/x of the
    first variable.
    """
    usable = [0] if data is None else np.flatnonzero((data.columns != 0).all(axis=1))
    if len(usable) and "/" in library:
        leaf = Words((library.variables[usable[0]],))
        return under("/", leaf, leaf)
    leaf = Words((library.variables[0],))
    head = next((name for name in ("exp", "cos") if name in library and "-" in library), None)
    return None if head is None or data is None else under(head, under("-", leaf, leaf))


def fraction_of(value: float) -> Fraction | None:
    """Return the fraction of small whole numbers that a value is, or None."""
    if not np.isfinite(value):
        return None
    fraction = Fraction(value).limit_denominator(LARGEST_BELOW)
    if abs(fraction.numerator) > LARGEST_WHOLE or abs(float(fraction) - value) > SAME * max(1.0, abs(value)):
        return None
    return fraction
