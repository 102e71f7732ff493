"""Constants that are one too many by the form of an expression: a/(b*x + c) is 1/(b*x + c), or a/(x + c).

Some constants of an expression can change together while no value of it does: those of a factor and of the factor
beside it, those inside of exp and a factor before it. Each such change has one parameter, s > 0, or any s but 0; it
multiplies constants by powers of s, and adds multiples of log(s) to others. One constant can so be made 1, or 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import islice, product
from typing import NamedTuple

from edhie.expr.expression import Expr
from edhie.expr.plain.form import DEEPEST, plain_form
from edhie.expr.plain.nodes import Node, is_built_in, number_of, tree_of, walk

MOST = 6  # ways of changing one node that are looked at
ROUNDS = 20
LARGEST_LOGARITHM = 300.0
DIGITS_AT_EASE, DIGITS_A_SYMBOL = 3.0, 2.0  # before or after the point; so many more are as hard to read as a symbol
CLEARLY = 0.3  # how much easier to read another form of the same constants has to be


class Change(NamedTuple):
    """What becomes of constants, by their places: c·s^exponent, c + multiple·log(s)."""

    exponents: dict[int, float]
    multiples: dict[int, float]
    any_sign: bool
    """Whether s may be below 0."""

    def raised(self, exponent: float) -> Change:
        """With s^exponent in place of s."""
        return Change(
            {k: each * exponent for k, each in self.exponents.items()},
            {k: each * exponent for k, each in self.multiples.items()},
            self.any_sign and exponent in (1.0, -1.0),
        )

    def beside(self, other: Change) -> Change:
        """Both at once, of parts that share no constant."""
        return Change(
            self.exponents | other.exponents, self.multiples | other.multiples, self.any_sign and other.any_sign
        )

    def positive(self) -> Change:
        """With s above 0 only."""
        return self._replace(any_sign=False)


def without_redundancy(expr: Expr, *, lower: float = -math.inf, upper: float = math.inf) -> Expr:
    """The expression in plain form with as few free constants as its form allows, and no longer.

    Values stay the same but for rounding. A constant that cannot be left out is 1, or -1. Constants that change
    stay within the bounds.

    >>> from edhie.expr import parse
    >>> str(without_redundancy(parse("c/(c*x0 + c)").with_constants([3.0, 2.0, 1.0])))
    '1.5/(x0 + 0.5)'
    >>> str(without_redundancy(parse("c*exp(c + c*x0)").with_constants([2.0, 0.0, -3.0])))
    '2*exp(-3*x0)'
    """
    best = plain_form(expr)
    if expr.height > DEEPEST or None in expr.constants:
        return best
    for _ in range(ROUNDS):
        others = (plain_form(each) for each in _alternatives(best, lower, upper))
        found = min(others, key=_weight, default=best)
        (count, trouble, *_), (least, reading, *_) = _weight(best), _weight(found)
        if (least, reading) >= (count, trouble - CLEARLY):
            break
        best = found
    return best


def _weight(expr: Expr) -> tuple[int, float, int, int]:
    """Fewer constants besides 1 are better, then what is easy to read, then constants near to the root and the left."""
    places = ((depth, place) for place, depth, symbol in expr.walk() if symbol.kind == "constant")
    counted = [each for each, value in zip(places, expr.constants, strict=True) if abs(value or 0.0) != 1.0]
    zeros = sum(max(0.0, abs(math.log10(abs(value))) - DIGITS_AT_EASE) for value in expr.constants if value)
    trouble = round(expr.size + zeros / DIGITS_A_SYMBOL, 6)
    return len(counted), trouble, sum(depth for depth, _ in counted), sum(place for _, place in counted)


def _alternatives(expr: Expr, lower: float, upper: float) -> Iterable[Expr]:
    """The expression with one constant made 1, -1 or 0, and others as they have to be then."""
    values = [value or 0.0 for value in expr.constants]
    if not values:
        return
    for change in _Changes(expr).redundant():
        for k in (*change.exponents, *change.multiples):
            changed = _solved(change, values, k)
            if changed is None:
                continue
            new = (after for before, after in zip(values, changed, strict=True) if after not in (before, 0.0))
            if all(lower <= each <= upper for each in new):
                yield expr.with_constants(changed)


def _solved(change: Change, values: list[float], k: int) -> list[float] | None:
    """The constants after the change that makes constant k 1 (or -1, or 0 where it is a summand)."""
    if k in change.exponents:
        if values[k] == 0.0 or change.exponents[k] == 0.0:
            return None
        logarithm = -math.log(abs(values[k])) / change.exponents[k]
    else:
        logarithm = -values[k] / change.multiples[k] if change.multiples[k] else math.inf
    if not abs(logarithm) < LARGEST_LOGARITHM:
        return None
    sign = -1.0 if change.any_sign and k in change.exponents and values[k] < 0 else 1.0
    found = list(values)
    for i, exponent in change.exponents.items():
        if not abs(exponent * logarithm) < LARGEST_LOGARITHM:
            return None
        found[i] = _scaled(values[i], values[k], exponent, change.exponents.get(k), logarithm) * sign
    for i, multiple in change.multiples.items():
        found[i] += multiple * logarithm
    if k in change.exponents:
        found[k] = math.copysign(1.0, found[k])
    else:
        found[k] = 0.0
    return found if all(map(math.isfinite, found)) else None


def _scaled(value: float, unit: float, exponent: float, own: float | None, logarithm: float) -> float:
    """value·s^exponent; by a division or a product where that is all there is to it, which rounds once."""
    if own is not None and exponent == own:
        return value / abs(unit)
    if own is not None and exponent == -own:
        return value * abs(unit)
    return value * math.exp(exponent * logarithm)


class _Changes:
    """How the value of each part of an expression can be multiplied by s, and how log(s) can be added to it."""

    def __init__(self, expr: Expr) -> None:
        self.library = expr.library
        self.whole = tree_of(expr)
        constants = [node for node in walk(self.whole) if node.token == expr.library.constant]
        self.place = {id(node): k for k, node in enumerate(constants)}  # equal constants are not the same one

    def redundant(self) -> Iterable[Change]:
        """The changes of constants that change no value."""
        for node in walk(self.whole):
            if len(node.operands) != 2 or not is_built_in(self.library, node.token):
                continue
            a, b = node.operands
            if node.token in ("*", "/"):
                opposite = -1.0 if node.token == "*" else 1.0
                pairs = product(self.scaling(a), self.scaling(b))
            elif node.token in ("+", "-"):
                opposite = -1.0 if node.token == "+" else 1.0
                pairs = product(self.shifting(a), self.shifting(b))
            else:
                continue
            yield from (one.beside(other.raised(opposite)) for one, other in pairs)

    def scaling(self, node: Node) -> list[Change]:
        """The changes that multiply a node's value by s."""
        if id(node) in self.place:
            return [Change({self.place[id(node)]: 1.0}, {}, True)]
        if not is_built_in(self.library, node.token):
            return []
        return list(islice(self._scaling(node.token, *node.operands), MOST))

    def _scaling(self, token: str, a: Node, b: Node | None = None) -> Iterable[Change]:
        if token == "neg":
            yield from self.scaling(a)
        elif token in ("*", "/") and b is not None:
            yield from self.scaling(a)
            yield from (each.raised(1.0 if token == "*" else -1.0) for each in self.scaling(b))
        elif token in ("+", "-") and b is not None:
            yield from (one.beside(other) for one, other in product(self.scaling(a), self.scaling(b)))
        elif token in ("min", "max") and b is not None:
            yield from (one.beside(other).positive() for one, other in product(self.scaling(a), self.scaling(b)))
        elif token == "inv":
            yield from (each.raised(-1.0) for each in self.scaling(a))
        elif token == "abs":
            yield from (each.positive() for each in self.scaling(a))
        elif token in ROOTS:
            yield from (each.raised(ROOTS[token]) for each in self.scaling(a))
        elif token == "^" and b is not None and (exponent := self._number(b)):
            yield from (each.raised(1.0 / exponent).positive() for each in self.scaling(a))
        elif token == "exp":
            yield from self.shifting(a)

    def shifting(self, node: Node) -> list[Change]:
        """The changes that add log(s) to a node's value."""
        if id(node) in self.place:
            return [Change({}, {self.place[id(node)]: 1.0}, False)]
        if not is_built_in(self.library, node.token):
            return []
        return list(islice(self._shifting(node.token, *node.operands), MOST))

    def _shifting(self, token: str, a: Node, b: Node | None = None) -> Iterable[Change]:
        if token == "neg":
            yield from (each.raised(-1.0) for each in self.shifting(a))
        elif token in ("+", "-") and b is not None:
            yield from self.shifting(a)
            yield from (each.raised(1.0 if token == "+" else -1.0) for each in self.shifting(b))
        elif token == "log":
            yield from (each.positive() for each in self.scaling(a))
        elif token == "*" and b is not None:
            for one, other in ((a, b), (b, a)):
                if factor := self._number(one):
                    yield from (each.raised(1.0 / factor) for each in self.shifting(other))
        elif token == "/" and b is not None and (factor := self._number(b)):
            yield from (each.raised(factor) for each in self.shifting(a))

    def _number(self, node: Node) -> float | None:
        return number_of(self.library, node)


ROOTS = {"^2": 0.5, "^3": 1 / 3, "^4": 0.25, "^5": 0.2, "sqrt": 2.0, "cbrt": 3.0}
"""What s is raised to below such an operator."""
