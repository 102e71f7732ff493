"""Versions of formulas in which some quantities are variables and the others are fitted constants.

A formula of science names all its quantities. A table of measurements has columns for some of them, and the others are
constants to be fitted, so the form of an equation found in data depends on which ones vary. A version of a formula
keeps a random subset of its variables and turns the others into constants, which are merged where possible:
`G*m1*m2/r^2` becomes `c*m1/r^2` or `c/r^2`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from edhie.expr import Expr, Forest
from edhie.expr.symbols import Symbol

VERSIONS = 8
"""Versions of each formula."""
LARGEST_NUMBER, LARGEST_DENOMINATOR = 1000, 4
"""A number within these limits is a literal, such as 2, 1/2 or 273; any other is a constant."""
ROUNDING = Fraction(1, 10**15)
POWERS = ("^", "^2", "^3", "^4", "^5", "sqrt", "cbrt")


@dataclass(frozen=True)
class Leaf:
    """A variable or a constant, by name."""

    name: str


@dataclass(frozen=True)
class Number:
    """A whole number or a simple fraction."""

    value: Fraction


@dataclass(frozen=True)
class Sum:
    """Terms with their signs; a single term with the sign -1 is a negation."""

    terms: tuple[tuple[int, Node], ...]


@dataclass(frozen=True)
class Product:
    """Factors of the numerator and of the denominator."""

    above: tuple[Node, ...]
    below: tuple[Node, ...]


@dataclass(frozen=True)
class Apply:
    """Any other operator with its operands."""

    symbol: Symbol
    operands: tuple[Node, ...]


Node = Leaf | Number | Sum | Product | Apply
CONSTANT = Leaf("")
"""A fitted constant, whatever its name."""


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
    stack: list[Node] = []
    for token in reversed(expr.tokens):
        symbol = expr.library[token]
        if symbol.arity:
            stack.append(_applied(symbol, [stack.pop() for _ in range(symbol.arity)]))
        elif symbol.kind == "variable":
            stack.append(Leaf(token) if variables is None or token in variables else CONSTANT)
        elif symbol.kind == "constant" or symbol.name in ("pi", "e"):
            stack.append(CONSTANT)
        else:
            stack.append(_number(_fraction(token)))
    return stack.pop()


def _fraction(token: str) -> Fraction:
    """Return the fraction that a number stands for: 0.3333333333333333 is 1/3."""
    exact = Fraction(token)
    simple = exact.limit_denominator(LARGEST_DENOMINATOR)
    return simple if abs(simple - exact) <= abs(exact) * ROUNDING else exact


def _applied(symbol: Symbol, operands: list[Node]) -> Node:
    arithmetic: dict[str, Callable[..., Node]] = {
        "+": lambda a, b: _sum([(1, a), (1, b)]),
        "-": lambda a, b: _sum([(1, a), (-1, b)]),
        "neg": lambda a: _sum([(-1, a)]),
        "*": lambda a, b: _product([a, b], []),
        "/": lambda a, b: _product([a], [b]),
        "inv": lambda a: _product([], [a]),
    }
    if symbol.name in arithmetic:
        return arithmetic[symbol.name](*operands)
    if all(is_fixed(each) for each in operands):
        return CONSTANT
    first = operands[0]
    if symbol.name in POWERS and isinstance(first, Product) and CONSTANT in first.above:  # (c*x)^2 is c*x^2
        rest = _signed(1, [each for each in first.above if each != CONSTANT], list(first.below))
        return _product([CONSTANT, Apply(symbol, (rest, *operands[1:]))], [])
    if symbol.name == "exp" and isinstance(first, Sum) and CONSTANT in (each for _, each in first.terms):  # exp(x + c)
        return _product([CONSTANT, Apply(symbol, (_sum([each for each in first.terms if each[1] != CONSTANT]),))], [])
    return Apply(symbol, tuple(operands))


def _sum(terms: Sequence[tuple[int, Node]]) -> Node:
    flat: list[tuple[int, Node]] = []
    fixed: list[tuple[int, Node]] = []
    for sign, term in terms:
        inner = term.terms if isinstance(term, Sum) else ((1, term),)
        for own, each in inner:
            (fixed if is_fixed(each) else flat).append((1 if has_constant(each) else sign * own, each))
    if any(each == CONSTANT for _, each in fixed):
        flat.append((1, CONSTANT))
    else:
        total = sum((sign * each.value for sign, each in fixed if isinstance(each, Number)), Fraction(0))
        if total or not flat:
            number = _number(abs(total))
            flat.append((1 if total >= 0 or number == CONSTANT else -1, number))
    return flat[0][1] if len(flat) == 1 and (flat[0][0] > 0 or flat[0][1] == CONSTANT) else Sum(tuple(flat))


def _product(above: Sequence[Node], below: Sequence[Node]) -> Node:
    parts: tuple[list[Node], list[Node]] = ([], [])
    sign, value, has_constant = 1, Fraction(1), False
    todo = [(each, 0) for each in above] + [(each, 1) for each in below]
    while todo:
        factor, side = todo.pop(0)
        if isinstance(factor, Sum) and len(factor.terms) == 1:  # a negation
            sign, factor = -sign, factor.terms[0][1]
        if isinstance(factor, Product):
            inner = [(each, side) for each in factor.above] + [(each, 1 - side) for each in factor.below]
            todo = inner + todo
        elif isinstance(factor, Number) and (factor.value or not side):
            value *= factor.value if side == 0 else 1 / factor.value
        elif factor == CONSTANT:
            has_constant = True
        else:
            parts[side].append(factor)
    if not has_constant and _number(value) == CONSTANT:
        has_constant = True
    if has_constant:
        if not any(_has_own_scale(each) for side in parts for each in side):
            parts[0].insert(0, CONSTANT)
    else:
        sign, value = (-sign if value < 0 else sign), abs(value)
        if value.numerator != 1:
            parts[0].insert(0, Number(Fraction(value.numerator)))
        if value.denominator != 1:
            parts[1].insert(0, Number(Fraction(value.denominator)))
    return _signed(1 if has_constant else sign, *parts)


def _signed(sign: int, above: list[Node], below: list[Node]) -> Node:
    if not above and not below:
        return Number(Fraction(sign))
    if all(is_fixed(each) for each in (*above, *below)):
        if CONSTANT in above:
            return CONSTANT
        numbers = [each.value for each in above if isinstance(each, Number)] or [Fraction(1)]
        divisors = [each.value for each in below if isinstance(each, Number)] or [Fraction(1)]
        return _number(sign * numbers[0] / divisors[0])
    node = above[0] if len(above) == 1 and not below else Product(tuple(above), tuple(below))
    return node if sign > 0 else Sum(((-1, node),))


def _number(value: Fraction) -> Node:
    is_simple = abs(value.numerator) <= LARGEST_NUMBER and value.denominator <= LARGEST_DENOMINATOR
    return Number(value) if is_simple else CONSTANT


def is_fixed(node: Node) -> bool:
    """Return whether a node is a number or a constant."""
    return isinstance(node, Number) or node == CONSTANT


def has_constant(node: Node) -> bool:
    """Return whether a node is a constant or has one as a factor, which can take its sign."""
    return node == CONSTANT or (isinstance(node, Product) and CONSTANT in node.above)


def _has_own_scale(node: Node) -> bool:
    """Return whether a constant factor would be redundant: the node is a sum whose terms all have constants."""
    return isinstance(node, Sum) and all(has_constant(each) for _, each in node.terms)
