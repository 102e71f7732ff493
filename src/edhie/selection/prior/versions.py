"""Versions of formulas in which some quantities are variables and the others are fitted constants.

A formula of science names all its quantities. A table of measurements has columns for some of them, and the others are
constants to be fitted, so the form of an equation found in data depends on which ones vary. A version of a formula
keeps a random subset of its variables and turns the others into constants, which are merged where possible:
`G*m1*m2/r^2` becomes `c*m1/r^2` or `c/r^2`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from edhie.expr import Expr, Forest
from edhie.expr.symbols import Symbol

VERSIONS = 8
"""Versions of each formula."""
LARGEST_NUMBER, LARGEST_DENOMINATOR = 1000, 4
"""A number within these limits is a literal, such as 2, 1/2 or 273; any other is a constant."""
ROUNDING = Fraction(1, 10**15)
POWERS = ("^", "^2", "^3", "^4", "^5", "sqrt", "cbrt")
CHAINS = {
    "+": ("sum", 1), "-": ("sum", -1), "neg": ("sum", -1),
    "*": ("product", 1), "/": ("product", -1), "inv": ("product", -1),
}  # fmt: skip
"""The chain that an operator makes, and the sign of its last operand."""


@dataclass(frozen=True)
class Node:
    """A part of a normal form."""

    kind: Literal["variable", "constant", "number", "sum", "product", "other"]
    name: str = ""
    """Name of a variable."""
    value: Fraction = Fraction(0)
    """Value of a number: whole, or a simple fraction."""
    symbol: Symbol | None = None
    """Operator that is none of sums and products."""
    parts: tuple[Part, ...] = ()
    """Terms of a sum, factors of a product or operands, with signs: -1 for what is subtracted or divided by."""

    @property
    def is_fixed(self) -> bool:
        """True for a number and for a constant."""
        return self.kind in ("number", "constant")

    @property
    def is_negation(self) -> bool:
        """True for a sum of one term, which has the sign -1."""
        return self.kind == "sum" and len(self.parts) == 1

    @property
    def has_constant(self) -> bool:
        """True for a constant and for a product with one, which can take its sign."""
        return self.kind == "constant" or (self.kind == "product" and (1, CONSTANT) in self.parts)

    def side(self, sign: int) -> list[Node]:
        """Return the parts of a sign."""
        return [each for own, each in self.parts if own == sign]


Part = tuple[int, Node]
CONSTANT = Node("constant")
"""A fitted constant."""


def forms(forest: Forest, n: int = VERSIONS, *, seed: int = 0) -> Iterator[Node]:
    """Yield the normal forms of `n` versions of each formula, one formula after another.

    The first of several versions keeps all variables. Each of the others keeps a random subset, at least one, of a size
    drawn uniformly. Numbers that are neither whole nor simple fractions become constants, as do pi and e.
    """
    rng = np.random.default_rng(seed)
    for expr in forest:
        names = sorted(expr.variables)
        for version in range(n):
            keeps_all = version == 0 and n > 1
            size = len(names) if keeps_all or not names else int(rng.integers(1, len(names) + 1))
            yield normal_form(expr, frozenset(rng.permutation(names)[:size].tolist()))


def normal_form(expr: Expr, variables: frozenset[str] | None = None) -> Node:
    """Return the expression with sums and products flattened and constants merged.

    Variables that are not among `variables` are constants; None keeps all.
    """

    def leaf(symbol: Symbol, token: str, value: float | None) -> Node:
        if symbol.kind == "variable" and (variables is None or token in variables):
            return Node("variable", token)
        if symbol.kind in ("variable", "constant") or symbol.name in ("pi", "e"):
            return CONSTANT
        exact = Fraction(token)
        simple = exact.limit_denominator(LARGEST_DENOMINATOR)  # 0.3333333333333333 is 1/3
        return _number(simple if abs(simple - exact) <= abs(exact) * ROUNDING else exact)

    return expr.fold(leaf, _applied)


def _applied(symbol: Symbol, operands: list[Node]) -> Node:
    if symbol.name in CHAINS:
        kind, sign = CHAINS[symbol.name]
        parts = [*((1, each) for each in operands[:-1]), (sign, operands[-1])]
        return _sum(parts) if kind == "sum" else _product(parts)
    if all(each.is_fixed for each in operands):
        return CONSTANT
    first, *others = operands
    scale: tuple[Part, ...] = ()
    if symbol.name in POWERS and first.kind == "product" and first.has_constant:  # (c*x)^2 is c*x^2
        scale, first = ((1, CONSTANT),), _signed(1, [part for part in first.parts if part[1] != CONSTANT])
    elif symbol.name == "exp" and first.kind == "sum" and (1, CONSTANT) in first.parts:  # exp(x + c) is c*exp(x)
        scale, first = ((1, CONSTANT),), _sum([part for part in first.parts if part[1] != CONSTANT])
    node = Node("other", symbol=symbol, parts=tuple((1, each) for each in (first, *others)))
    return _product([*scale, (1, node)]) if scale else node


def _opened(kind: str, parts: Iterable[Part]) -> Iterator[Part]:
    """Yield parts, and in place of a chain of the same kind its own."""
    for sign, each in parts:
        yield from ((sign * own, inner) for own, inner in each.parts) if each.kind == kind else ((sign, each),)


def _sum(parts: Iterable[Part]) -> Node:
    flat = [(1 if each.has_constant else sign, each) for sign, each in _opened("sum", parts)]
    terms = [(sign, each) for sign, each in flat if not each.is_fixed]
    if (1, CONSTANT) in flat:
        terms.append((1, CONSTANT))
    else:
        total = sum((sign * each.value for sign, each in flat if each.is_fixed), Fraction(0))
        if total or not terms:
            number = _number(abs(total))
            terms.append((1 if total >= 0 or number == CONSTANT else -1, number))
    return terms[0][1] if len(terms) == 1 and terms[0][0] > 0 else Node("sum", parts=tuple(terms))


def _product(parts: Sequence[Part]) -> Node:
    sign, value, has_constant = 1, Fraction(1), False
    sides: dict[int, list[Node]] = {1: [], -1: []}
    for side, factor in parts:
        if factor.is_negation:
            sign, factor = -sign, factor.parts[0][1]
        for own, each in _opened("product", [(side, factor)]):
            if each.kind == "number" and (each.value or own > 0):
                value *= each.value**own
            elif each == CONSTANT:
                has_constant = True
            else:
                sides[own].append(each)
    if has_constant or _number(value) == CONSTANT:
        sign = 1
        sums = [each for own in sides.values() for each in own if each.kind == "sum"]
        # beside a sum whose terms all have constants, another is redundant
        if not any(all(term.has_constant for _, term in each.parts) for each in sums):
            sides[1].insert(0, CONSTANT)
    else:
        sign = -sign if value < 0 else sign
        for own, whole in ((1, abs(value.numerator)), (-1, value.denominator)):
            if whole != 1:
                sides[own].insert(0, Node("number", value=Fraction(whole)))
    return _signed(sign, [(own, each) for own, factors in sides.items() for each in factors])


def _signed(sign: int, factors: list[Part]) -> Node:
    if all(each.is_fixed for _, each in factors):
        if (1, CONSTANT) in factors:
            return CONSTANT
        return _number(math.prod((each.value**own for own, each in factors), start=Fraction(sign)))
    is_one = len(factors) == 1 and factors[0][0] > 0
    node = factors[0][1] if is_one else Node("product", parts=tuple(factors))
    return node if sign > 0 else Node("sum", parts=((-1, node),))


def _number(value: Fraction) -> Node:
    is_simple = abs(value.numerator) <= LARGEST_NUMBER and value.denominator <= LARGEST_DENOMINATOR
    return Node("number", value=value) if is_simple else CONSTANT
