"""Expressions written from parts: sums with coefficients, products of powers, and functions of them.

If the library has constants or numbers, coefficients are written as such. Otherwise they are written with variables: 2
is x/x + x/x, and only fractions of small integers can be written.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce

import numpy as np

from edhie.evaluate.data import Data
from edhie.expr import Expr, SymbolLibrary
from edhie.expr.numerals import numeral

LARGEST_WHOLE, LARGEST_BELOW = 12, 6  # largest numerator and denominator that are written with x/x
SAME = 1e-9  # relative difference below which numbers count as equal


class UnwritableError(Exception):
    """The library lacks the symbols to write an expression."""


class Speller:
    """Writes expressions with the symbols of one library; `UnwritableError` if it lacks one."""

    def __init__(self, library: SymbolLibrary, data: Data | None = None) -> None:
        """`data` are the rows on which `one` has to be 1."""
        self.library = library
        self.is_free = library.constant is not None or library.has_numbers
        self.one = self._one_on(data)
        """1 written with variables; None if the library cannot."""

    def leaf(self, name: str, *value: float | None) -> Expr:
        """Return a single symbol; a constant with its value."""
        return Expr.trusted(self.library, (name,), value)

    def over(self, operator: str, *parts: Expr) -> Expr:
        """Return an operator applied to its operands."""
        if operator not in self.library:
            raise UnwritableError(operator)
        tokens = sum((part.tokens for part in parts), (operator,))
        return Expr.trusted(self.library, tokens, sum((part.constants for part in parts), ()))

    # -- numbers --------------------------------------------------------------------------

    def number(self, value: float) -> Expr:
        """Return a number as an expression."""
        if not np.isfinite(value):
            raise UnwritableError(f"the number {value}")
        if self.library.constant is not None:
            return self.leaf(self.library.constant, float(value))
        if self.library.has_numbers:
            return self.leaf(numeral(value))
        if literal := self._literal(value):
            return literal
        fraction = fraction_of(value)
        if fraction is None:
            raise UnwritableError(f"the number {value}")
        above = self._whole(fraction.numerator)
        return above if fraction.denominator == 1 else self.over("/", above, self._whole(fraction.denominator))

    def _literal(self, value: float) -> Expr | None:
        """Return a number as a literal of the library; None if it has no such literal."""
        found = np.flatnonzero(np.abs(self.library.literal_values - value) <= SAME * abs(value))
        return self.leaf(self.library.names[found[0]]) if len(found) else None

    def _one_on(self, data: Data | None) -> Expr | None:
        """Return 1 as x/x of a variable that is 0 in no row of `data`, or as exp(x - x) or cos(x - x).

        Without data it is x/x of the first variable. None if the library lacks the operators.
        """
        usable = [0] if data is None else np.flatnonzero((data.columns != 0).all(axis=1))
        if len(usable) and "/" in self.library:
            leaf = self.leaf(self.library.variables[usable[0]])
            return self.over("/", leaf, leaf)
        leaf = self.leaf(self.library.variables[0])
        head = next((name for name in ("exp", "cos") if name in self.library and "-" in self.library), None)
        return None if head is None or data is None else self.over(head, self.over("-", leaf, leaf))

    def _whole(self, number: int) -> Expr:
        if number == 0:
            leaf = self.leaf(self.library.variables[0])
            return self.over("-", leaf, leaf)
        one = self._literal(1.0) or self.one
        if one is None:
            raise UnwritableError("the number 1")
        part = self._chain("+", [one] * abs(number))
        return part if number > 0 else self.negative(part)

    def negative(self, part: Expr) -> Expr:
        """Return an expression with its sign changed."""
        if "neg" in self.library:
            return self.over("neg", part)
        if self.is_free:
            return self.over("*", self.number(-1.0), part)
        return self.over("-", self._whole(0), part)

    # -- sums -----------------------------------------------------------------------------

    def sum(self, parts: Sequence[tuple[float, Expr]], constant: float = 0.0) -> Expr:
        """Return the sum of (coefficient, part) pairs and a constant."""
        if not np.isfinite([constant, *(coefficient for coefficient, _ in parts)]).all():
            raise UnwritableError("coefficients that are not finite")
        size = abs(parts[0][0]) if len(parts) > 1 and constant == 0.0 else 1.0
        if abs(size - 1) > SAME and all(abs(abs(c) - size) <= SAME * size for c, _ in parts):  # a common factor
            return self._times(size, self.sum([(c / size, part) for c, part in parts]))
        positive: list[tuple[float, Expr | None]] = [(c, part) for c, part in parts if c > 0]
        negative: list[tuple[float, Expr | None]] = [(-c, part) for c, part in parts if c < 0]
        if constant > 0 or (constant < 0 and self.library.constant is not None and positive):
            positive.append((constant, None))  # a fitted constant may be negative
        elif constant < 0:
            negative.append((-constant, None))
        if not positive and not negative:
            return self.number(0.0)
        if "-" not in self.library:
            positive, negative = positive + [(-c, part) for c, part in negative], []
        plus, minus = (
            [self.number(c) if part is None else self._times(c, part) for c, part in terms]
            for terms in (positive, negative)
        )
        first = self._chain("+", plus) if plus else self.negative(minus.pop(0))
        return self._chain("-", [first, *minus])

    def _chain(self, operator: str, parts: Sequence[Expr]) -> Expr:
        """Return parts joined by an operator, from the left."""
        return reduce(lambda one, other: self.over(operator, one, other), parts)

    def _times(self, factor: float, part: Expr) -> Expr:
        if abs(factor - 1) <= SAME:
            return part
        if abs(factor + 1) <= SAME:
            return self.negative(part)
        literal = None if self.is_free else self._literal(factor)
        if self.is_free or (literal and "*" in self.library):
            return self.over("*", literal or self.number(factor), part)
        fraction = fraction_of(factor)
        if fraction is None:
            raise UnwritableError(f"the number {factor}")
        repeated = self._chain("+", [part] * max(1, abs(fraction.numerator)))
        if fraction.numerator < 0:
            repeated = self.negative(repeated)
        return repeated if fraction.denominator == 1 else self.over("/", repeated, self._whole(fraction.denominator))

    # -- products -------------------------------------------------------------------------

    def product(self, powers: Sequence[tuple[float, Expr]], factor: float = 1.0) -> Expr:
        """Return the product of (exponent, part) pairs and a factor."""
        above = [self.power(part, e) for e, part in powers if e > 0]
        below = [self.power(part, -e) for e, part in powers if e < 0]
        written = self._times(factor, self._chain("*", above)) if above else self.number(factor)
        return self.over("/", written, self._chain("*", below)) if below else written

    def monomial(self, exponents: Sequence[int]) -> Expr:
        """Return the product of the library's variables with these exponents."""
        each = zip(exponents, self.library.variables, strict=True)
        return self.product([(float(exponent), self.leaf(name)) for exponent, name in each if exponent])

    def power(self, part: Expr, exponent: float) -> Expr:
        """Return a positive power of a part, written with the powers and roots of the library."""
        whole, half = int(np.floor(exponent + SAME)), exponent - np.floor(exponent + SAME)
        if abs(half) <= SAME * max(1, exponent) and 1 <= whole <= 8:
            return self._whole_power(part, whole)
        if abs(half - 0.5) <= SAME * max(1, exponent) and "sqrt" in self.library and whole <= 8:
            root = self.over("sqrt", part)
            return root if whole == 0 else self.over("*", self._whole_power(part, whole), root)
        if not self.is_free:
            raise UnwritableError(f"the power {exponent}")
        if "^" in self.library:
            return self.over("^", part, self.number(exponent))
        return self.over("exp", self.over("*", self.number(exponent), self.over("log", part)))

    def _whole_power(self, part: Expr, whole: int) -> Expr:
        if whole == 1:
            return part
        if f"^{whole}" in self.library:
            return self.over(f"^{whole}", part)
        if whole == 4 and "^2" in self.library:
            return self.over("^2", self.over("^2", part))
        if whole == 6 and "^2" in self.library and "^3" in self.library:
            return self.over("^2", self.over("^3", part))
        half = self._whole_power(part, whole // 2)
        rest = self._whole_power(part, whole - whole // 2)
        return self.over("*", half, rest)

    def headed(self, head: tuple[str, ...], inner: Expr) -> Expr:
        """Return operators applied to an expression, the outermost first; `1/` is a reciprocal."""
        for name in reversed(head):
            inner = self.over("/", self.number(1.0), inner) if name == "1/" else self.over(name, inner)
        return inner


def fraction_of(value: float) -> Fraction | None:
    """Return a value as a fraction of small integers; None if it is none."""
    if not np.isfinite(value):
        return None
    fraction = Fraction(value).limit_denominator(LARGEST_BELOW)
    if abs(fraction.numerator) > LARGEST_WHOLE or abs(float(fraction) - value) > SAME * max(1.0, abs(value)):
        return None
    return fraction
