"""Expressions written out of parts: sums with coefficients, products of powers, heads around them.

With a library that has constants to be fitted (or any number), numbers are written as such. Without,
they are written with what there is: 2 is x/x + x/x, and only fractions of small whole numbers can be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from edhie.evaluate.data import Data
from edhie.expr import Expr, SymbolLibrary
from edhie.expr.numerals import numeral

LARGEST_WHOLE = 12  # that is spelled with x/x
LARGEST_BELOW = 6
SAME = 1e-9


@dataclass(frozen=True)
class Words:
    """Tokens in prefix order, and the values of the constants among them."""

    tokens: tuple[str, ...]
    constants: tuple[float | None, ...] = ()

    @classmethod
    def of(cls, expr: Expr) -> Words:
        """An expression's."""
        return cls(expr.tokens, expr.constants)


def under(operator: str, *parts: Words) -> Words:
    """An operator over its operands."""
    tokens = sum((part.tokens for part in parts), (operator,))
    return Words(tokens, sum((part.constants for part in parts), ()))


class UnwritableError(Exception):
    """The library has no symbols for it."""


class Speller:
    """Writes with the symbols of one library."""

    def __init__(self, library: SymbolLibrary, data: Data | None = None) -> None:
        """Where numbers cannot be written, 1 is what has that value on all rows of `data`; without them x/x."""
        self.library = library
        self._one = first_over_itself(library) if data is None else one_on(data, library)
        self.is_free = library.constant is not None or library.has_numbers

    def expr(self, words: Words) -> Expr:
        """The words as an expression."""
        return Expr.trusted(self.library, words.tokens, words.constants)

    def over(self, operator: str, *parts: Words) -> Words:
        """An operator of the library over its operands."""
        if operator not in self.library:
            raise UnwritableError(operator)
        return under(operator, *parts)

    # -- numbers --------------------------------------------------------------------------

    def number(self, value: float) -> Words:
        """A number by itself."""
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
        """A number that is a symbol of the library."""
        found = np.flatnonzero(np.abs(self.library.literal_values - value) <= SAME * abs(value))
        return Words((self.library.names[found[0]],)) if len(found) else None

    def _whole(self, number: int) -> Words:
        leaf = Words((self.library.variables[0],))
        if number == 0:
            return self.over("-", leaf, leaf)
        one = self._literal(1.0) or self._one
        if one is None:
            raise UnwritableError("the number 1")
        words = one
        for _ in range(abs(number) - 1):
            words = self.over("+", words, one)
        return words if number > 0 else self.negative(words)

    def negative(self, words: Words) -> Words:
        """The same with the other sign."""
        if "neg" in self.library:
            return under("neg", words)
        if self.is_free:
            return self.over("*", self.number(-1.0), words)
        return self.over("-", self._whole(0), words)

    # -- sums -----------------------------------------------------------------------------

    def sum(self, parts: Sequence[tuple[float, Words]], constant: float = 0.0) -> Words:
        """The sum of parts with their coefficients, and a constant."""
        if not np.isfinite([constant, *(coefficient for coefficient, _ in parts)]).all():
            raise UnwritableError("coefficients that are not finite")
        factor = self._common_factor([coefficient for coefficient, _ in parts], constant)
        if factor != 1.0:
            inner = self.sum([(c / factor, words) for c, words in parts])
            return self._times(factor, inner)
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
        written: Words | None = None
        for c, words in positive:
            term = self.number(c) if words is None else self._times(c, words)
            written = term if written is None else self.over("+", written, term)
        for c, words in negative:
            term = self.number(c) if words is None else self._times(c, words)
            written = self.negative(term) if written is None else self.over("-", written, term)
        assert written is not None
        return written

    def _common_factor(self, coefficients: list[float], constant: float) -> float:
        """What all coefficients have in common, up to their signs; 1 where there is nothing to gain."""
        if constant != 0.0 or len(coefficients) < 2:
            return 1.0
        size = abs(coefficients[0])
        alike = all(abs(abs(c) - size) <= SAME * size for c in coefficients)
        return size if alike and abs(size - 1) > SAME else 1.0

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
        repeated = words
        for _ in range(abs(fraction.numerator) - 1):
            repeated = self.over("+", repeated, words)
        if fraction.numerator < 0:
            repeated = self.negative(repeated)
        return repeated if fraction.denominator == 1 else self.over("/", repeated, self._whole(fraction.denominator))

    # -- products -------------------------------------------------------------------------

    def product(self, powers: Sequence[tuple[float, Words]], factor: float = 1.0) -> Words:
        """The product of parts to their powers, and a factor."""
        above = [self.power(words, e) for e, words in powers if e > 0]
        below = [self.power(words, -e) for e, words in powers if e < 0]
        written = self._joined(above)
        if written is None:
            written = self.number(factor)
        elif abs(factor - 1) > SAME:
            written = self._times(factor, written)
        divisor = self._joined(below)
        return written if divisor is None else self.over("/", written, divisor)

    def _joined(self, parts: list[Words]) -> Words | None:
        written: Words | None = None
        for part in parts:
            written = part if written is None else self.over("*", written, part)
        return written

    def power(self, words: Words, exponent: float) -> Words:
        """A part to a positive power: with powers and roots that the library has, or as it can."""
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

    # -- heads ----------------------------------------------------------------------------

    def headed(self, head: tuple[str, ...], inner: Words) -> Words:
        """The inner part under operators, the outermost first."""
        for name in reversed(head):
            inner = self.over("/", self.number(1.0), inner) if name == "1/" else self.over(name, inner)
        return inner


def first_over_itself(library: SymbolLibrary) -> Words | None:
    """x/x of the first variable: 1 wherever that is not 0; None without division."""
    leaf = Words((library.variables[0],))
    return under("/", leaf, leaf) if "/" in library else None


def one_on(data: Data, library: SymbolLibrary) -> Words | None:
    """1 in all rows of data: x/x of a variable that is nowhere 0, else the exponential of 0; None for neither."""
    usable = np.flatnonzero((data.columns != 0).all(axis=1))
    if len(usable) and "/" in library:
        leaf = Words((library.variables[usable[0]],))
        return under("/", leaf, leaf)
    leaf = Words((library.variables[0],))
    head = next((name for name in ("exp", "cos") if name in library and "-" in library), None)
    return None if head is None else under(head, under("-", leaf, leaf))


def fraction_of(value: float) -> Fraction | None:
    """The fraction of small whole numbers that a value is, or None."""
    if not np.isfinite(value):
        return None
    fraction = Fraction(value).limit_denominator(LARGEST_BELOW)
    if abs(fraction.numerator) > LARGEST_WHOLE or abs(float(fraction) - value) > SAME * max(1.0, abs(value)):
        return None
    return fraction
