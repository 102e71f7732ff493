"""Constants that the form of an expression does not need: a/(b*x + c) is 1/(b*x + c), or a/(x + c).

Some constants can change together without changing any value: those of two factors, or one inside exp and a factor
before it. Each such change has one parameter, s > 0 or any s but 0; it multiplies constants by powers of s, and adds
multiples of log(s) to others. So one of them can be made 1, or 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import islice, product
from typing import NamedTuple

from edhie.expr.expression import Expr
from edhie.expr.nodes import Node, tree_of, walk
from edhie.finish.form import DEEPEST, tidied

MOST = 6  # changes of one node that are tried
ROUNDS = 20
LARGEST_LOGARITHM = 300.0
CLEARLY = 0.3  # symbols by which a form with as many constants has to be easier to read
EXPONENTS = {"neg": 1.0, "inv": -1.0, "^2": 0.5, "^3": 1 / 3, "^4": 0.25, "^5": 0.2, "sqrt": 2.0, "cbrt": 3.0}
"""Exponent of the s that multiplies the operand, where s multiplies the value of the operator."""


class Change(NamedTuple):
    """New values of constants, by their places: c·s^exponent, c + multiple·log(s)."""

    exponents: dict[int, float]
    multiples: dict[int, float]
    any_sign: bool
    """True where s may be below 0."""

    def raised(self, exponent: float) -> Change:
        """Return the change with s^exponent in place of s."""
        return Change(
            {k: each * exponent for k, each in self.exponents.items()},
            {k: each * exponent for k, each in self.multiples.items()},
            self.any_sign and exponent in (1.0, -1.0),
        )

    def beside(self, other: Change) -> Change:
        """Return both changes at once, of parts that share no constant."""
        return Change(
            self.exponents | other.exponents, self.multiples | other.multiples, self.any_sign and other.any_sign
        )

    def positive(self) -> Change:
        """Return the change for s above 0 only."""
        return self._replace(any_sign=False)


def without_redundant_constants(expr: Expr, *, lower: float = -math.inf, upper: float = math.inf) -> Expr:
    """Return the readable form with as few free constants as the form of the expression allows, and no longer.

    Values stay the same but for rounding. A redundant constant that cannot be left out becomes 1 or -1. Constants
    that change stay within the bounds.

    >>> from edhie.expr import parse
    >>> str(without_redundant_constants(parse("c/(c*x0 + c)").with_constants([3.0, 2.0, 1.0])))
    '1.5/(x0 + 0.5)'
    >>> str(without_redundant_constants(parse("c*exp(c + c*x0)").with_constants([2.0, 0.0, -3.0])))
    '2*exp(-3*x0)'
    """
    best = tidied(expr)
    if expr.height > DEEPEST or None in expr.constants:
        return best
    for _ in range(ROUNDS):
        others = (tidied(each) for each in _alternatives(best, lower, upper))
        found = min(others, key=_weight, default=best)
        (count, trouble, *_), (least, reading, *_) = _weight(best), _weight(found)
        if (least, reading) >= (count, trouble - CLEARLY):
            break
        best = found
    return best


def _weight(expr: Expr) -> tuple[int, float, int, int]:
    """Return a sort key: constants other than 1 or -1, ease of reading, constants near the root and the left."""
    places = ((depth, place) for place, depth, symbol in expr.walk() if symbol.kind == "constant")
    counted = [each for each, value in zip(places, expr.constants, strict=True) if abs(value or 0.0) != 1.0]
    return len(counted), tree_of(expr).cost, sum(depth for depth, _ in counted), sum(place for _, place in counted)


def _alternatives(expr: Expr, lower: float, upper: float) -> Iterable[Expr]:
    """Yield the expression with one constant made 1, -1 or 0, and others changed to make up for it."""
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
    """Return the constants after the change that makes constant k 1 (or -1, or 0 where it is a summand)."""
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
    found[k] = math.copysign(1.0, found[k]) if k in change.exponents else 0.0
    return found if all(map(math.isfinite, found)) else None


def _scaled(value: float, unit: float, exponent: float, own: float | None, logarithm: float) -> float:
    """Return value·s^exponent, by one division or product where possible, which rounds once."""
    if own is not None and exponent == own:
        return value / abs(unit)
    if own is not None and exponent == -own:
        return value * abs(unit)
    return value * math.exp(exponent * logarithm)


class _Changes:
    """Changes that multiply the value of a part by s, or add log(s) to it."""

    def __init__(self, expr: Expr) -> None:
        self.whole = tree_of(expr)
        constants = [node for node in walk(self.whole) if node.kind == "constant"]
        self.place = {id(node): k for k, node in enumerate(constants)}  # equal constants are not the same one

    def redundant(self) -> Iterable[Change]:
        """Yield the changes of constants that change no value."""
        for node in walk(self.whole):
            if node.op in ("*", "/", "+", "-"):
                of = self.scaling if node.op in ("*", "/") else self.shifting
                opposite = -1.0 if node.op in ("*", "+") else 1.0
                for one, other in product(*map(of, node.operands)):
                    yield one.beside(other.raised(opposite))

    def scaling(self, node: Node) -> list[Change]:
        """Return the changes that multiply a node's value by s."""
        if id(node) in self.place:
            return [Change({self.place[id(node)]: 1.0}, {}, True)]
        return list(islice(self._scaling(node.op, *node.operands), MOST)) if node.op else []

    def _scaling(self, token: str, a: Node, b: Node | None = None) -> Iterable[Change]:
        if token in EXPONENTS:
            yield from (each.raised(EXPONENTS[token]) for each in self.scaling(a))
        elif token in ("*", "/") and b is not None:
            yield from self.scaling(a)
            yield from (each.raised(1.0 if token == "*" else -1.0) for each in self.scaling(b))
        elif token in ("+", "-") and b is not None:
            yield from (one.beside(other) for one, other in product(self.scaling(a), self.scaling(b)))
        elif token in ("min", "max") and b is not None:
            yield from (one.beside(other).positive() for one, other in product(self.scaling(a), self.scaling(b)))
        elif token == "abs":
            yield from (each.positive() for each in self.scaling(a))
        elif token == "^" and b is not None and (exponent := b.number):
            yield from (each.raised(1.0 / exponent).positive() for each in self.scaling(a))
        elif token == "exp":
            yield from self.shifting(a)

    def shifting(self, node: Node) -> list[Change]:
        """Return the changes that add log(s) to a node's value."""
        if id(node) in self.place:
            return [Change({}, {self.place[id(node)]: 1.0}, False)]
        return list(islice(self._shifting(node.op, *node.operands), MOST)) if node.op else []

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
                if factor := one.number:
                    yield from (each.raised(1.0 / factor) for each in self.shifting(other))
        elif token == "/" and b is not None and (factor := b.number):
            yield from (each.raised(factor) for each in self.shifting(a))
