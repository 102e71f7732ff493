"""Numbers that people write: 1/3, 2*pi, 1/sqrt(2*pi), 9.81."""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterator
from functools import cache
from itertools import product

from edhie.expr.interpret import numpy_function
from edhie.expr.library import SymbolLibrary
from edhie.expr.nodes import Node, operation, rebuilt, walk
from edhie.expr.numerals import numeral

EXACT = 2.0  # units in the last place
MULTIPLES, DIVISORS = 24, 12
NUMERATORS, DENOMINATORS = 99, (3, 6, 7, 9, 11, 12)  # halves, quarters and fifths are decimals
SHORT = 6  # characters: 0.125 stays as it is
UNITS: tuple[tuple[tuple[str, ...], float, int], ...] = (
    (("pi",), math.pi, MULTIPLES),
    (("e",), math.e, 3),
    (("sqrt", "2"), math.sqrt(2), 3),
    (("sqrt", "3"), math.sqrt(3), 3),
    (("sqrt", "pi"), math.sqrt(math.pi), 3),
    (("sqrt", "*", "2", "pi"), math.sqrt(2 * math.pi), 3),
    (("^2", "pi"), math.pi**2, 4),
)
"""Tokens and value of each unit, and its largest multiple."""


def spelling(value: float, *, reach: float | None = None) -> tuple[float, tuple[str, ...]] | None:
    """Return a simple fraction or a multiple of a unit near a value, and its tokens; None if there is none.

    `reach` is a distance; without it only numbers that agree to the last digit are near.

    >>> spelling(-1.5707963267948966)
    (-1.5707963267948966, ('/', '*', '-1', 'pi', '2'))
    """
    reach = EXACT * math.ulp(value) if reach is None and math.isfinite(value) else reach or 0.0
    values, spellings = _table()
    start, stop = bisect.bisect_left(values, abs(value) - reach), bisect.bisect_right(values, abs(value) + reach)
    if start == stop or not math.isfinite(value) or len(numeral(value)) <= SHORT:
        return None
    best = min(range(start, stop), key=lambda k: (len(spellings[k]), abs(values[k] - abs(value))))
    tokens = spellings[best]
    if value > 0:
        return values[best], tokens
    first = next(k for k, token in enumerate(tokens) if token not in ("/", "*"))
    if tokens[first].isdigit():
        return -values[best], (*tokens[:first], f"-{tokens[first]}", *tokens[first + 1 :])
    return -values[best], (*tokens[:first], "*", "-1", *tokens[first:])


@cache
def _table() -> tuple[list[float], list[tuple[str, ...]]]:
    """Return all positive numbers with a spelling, in order."""
    found: dict[float, tuple[str, ...]] = {}
    for below in DENOMINATORS:
        for above in range(1, NUMERATORS + 1):
            if math.gcd(above, below) == 1:
                found.setdefault(above / below, ("/", str(above), str(below)))
    for unit, size, most in UNITS:
        for above, below in product(range(1, most + 1), range(1, DIVISORS + 1)):
            if math.gcd(above, below) == 1:
                top = unit if above == 1 else ("*", str(above), *unit)
                bottom = unit if below == 1 else ("*", str(below), *unit)
                found.setdefault(above * size / below, top if below == 1 else ("/", *top, str(below)))
                found.setdefault(above / (below * size), ("/", str(above), *bottom))
    ordered = sorted(found.items())
    return [value for value, _ in ordered], [tokens for _, tokens in ordered]


def unnamed(node: Node) -> Node:
    """Return a tree with literals such as pi as numbers."""

    def changed(each: Node) -> Node:
        return Node(each.library, numeral(each.symbol.value)) if each.kind == "literal" else each

    return rebuilt(node, changed) if node.library.has_numbers else node


def named(node: Node) -> Node:
    """Return a tree with numbers by name or as fractions, where its library has the symbols for them."""

    def changed(each: Node) -> Node:
        found = spelling(each.number) if each.kind == "number" and each.number is not None else None
        if found is None or not _has(each.library, found[1]):
            return each
        return _tree(each.library, iter(found[1]))

    return rebuilt(node, changed)


def with_loose_numbers(node: Node, constant: str) -> Node:
    """Return a tree with a constant in place of each number, such as 2 or 2*pi, except exponents."""
    if _is_plain(node):
        return Node(node.library, constant, (), value_of(node))
    loose = [with_loose_numbers(each, constant) for each in node.operands]
    if node.op == "^" and _is_plain(node.operands[1]):
        loose[1] = node.operands[1]
    return node.over(*loose) if loose else node


def _is_plain(node: Node) -> bool:
    return all(each.operands or each.kind in ("number", "literal") for each in walk(node))


def value_of(node: Node) -> float:
    """Return the value of a tree of numbers."""
    if not node.operands:
        return float(node.symbol.value if node.kind == "literal" else node.number or 0.0)
    return float(numpy_function(node.symbol)(*map(value_of, node.operands)))


def _has(library: SymbolLibrary, tokens: tuple[str, ...]) -> bool:
    names = [token for token in tokens if not token.lstrip("-").isdigit()]
    return all(name in library.built_in or (name in library and library[name].kind == "literal") for name in names)


def _tree(library: SymbolLibrary, tokens: Iterator[str]) -> Node:
    token = next(tokens)
    arity = library[token].arity if token in library else 0
    operands = [_tree(library, tokens) for _ in range(arity)]
    return operation(token, *operands) if operands else Node(library, token)
