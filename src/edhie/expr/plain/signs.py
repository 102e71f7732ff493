"""Minus signs: where a node has one to take away, and where it has room for one.

Products and sums ask for the signs of their parts, and those may be products and sums, so all of it is here.
"""

from __future__ import annotations

import math

from edhie.expr.library import SymbolLibrary
from edhie.expr.numerals import numeral
from edhie.expr.plain.nodes import ODD, Node, is_built_in, is_coefficient, joined, number_of, size
from edhie.expr.plain.powers import merged_powers

Terms = list[tuple[bool, Node]]
"""Whether each is taken away, and what it is."""


# -- signs ----------------------------------------------------------------------------


def split(library: SymbolLibrary, node: Node) -> tuple[bool, Node]:
    """Whether a node begins with a minus sign, and the node without it."""
    number = number_of(library, node)
    if number is not None:
        return (True, _of_number(library, node, -number)) if number < 0 else (False, node)
    if not is_built_in(library, node.token):
        return False, node
    if node.token in ("neg", "*", "/"):
        is_negative, above, below = factors(library, node)
        return is_negative, quotient(library, above, below) if is_negative else node
    if node.token in ("+", "-"):
        terms = summands(library, node)
        if all(is_negative for is_negative, _ in terms):
            return True, added(library, [(False, each) for _, each in terms])
        return False, node
    if node.token in ODD:
        is_negative, inner = split(library, node.operands[0])
        return is_negative, Node(node.token, (inner,)) if is_negative else node
    return False, node


def turned(library: SymbolLibrary, node: Node, *, through_functions: bool = True) -> Node | None:
    """A node of the opposite value that is no larger; None where there is none to be seen."""
    number = number_of(library, node)
    if number is not None:
        return _of_number(library, node, -number)
    if not is_built_in(library, node.token):
        return None
    if node.token in ("*", "/"):
        return _turned_product(library, node, through_functions)
    if node.token in ("+", "-"):
        opposite = [(not is_negative, each) for is_negative, each in summands(library, node)]
        if any(not is_negative for is_negative, _ in opposite):
            return added(library, opposite)
        for k, (_, each) in enumerate(opposite):
            first = turned(library, each, through_functions=through_functions)
            if first is not None:
                return added(library, [(False, first), *opposite[:k], *opposite[k + 1 :]], in_order=True)
    if node.token in ODD and through_functions:
        inner = turned(library, node.operands[0])
        return None if inner is None else Node(node.token, (inner,))
    return None


def negative(library: SymbolLibrary, node: Node, room: int) -> Node:
    """A node of the opposite value, `room` nodes large if there is no shorter one."""
    if (found := turned(library, node, through_functions=False)) is not None:
        return found
    if is_built_in(library, "neg") and size(node) < room:
        return Node("neg", (node,))
    return turned(library, node) or joined(library, "neg", node)


def _turned_product(library: SymbolLibrary, node: Node, through_functions: bool) -> Node | None:
    """A product with the sign of one factor turned: of a difference, else of a constant, else of any that can be."""
    is_negative, above, below = factors(library, node)
    if is_negative:
        return quotient(library, above, below)
    every = [*above, *below]
    differences = [k for k, each in enumerate(every) if _is_difference(library, each)]
    numbers = [k for k, each in enumerate(every) if number_of(library, each) is not None]
    sums = [k for k, each in enumerate(every) if each.token in ("+", "-")]
    for k in [*differences, *numbers, *sums, *(range(len(every)) if through_functions else ())]:
        other = turned(library, every[k])
        if other is not None and k >= len(above) and (factor := _reciprocal(library, other)) is not None:
            return quotient(library, [factor, *above], every[len(above) : k] + every[k + 1 :])
        if other is not None:
            every[k] = other
            return quotient(library, every[: len(above)], every[len(above) :])
    return None


def _reciprocal(library: SymbolLibrary, node: Node) -> Node | None:
    """What to multiply by in place of a division by a fitted constant: x/(-2) is -0.5*x."""
    if node.token != library.constant or not node.value or not is_built_in(library, "*"):
        return None
    found = 1.0 / node.value
    return Node(node.token, (), found) if math.isfinite(found) and found else None


def _is_difference(library: SymbolLibrary, node: Node) -> bool:
    is_sum = node.token in ("+", "-") and is_built_in(library, node.token)
    return is_sum and any(is_negative for is_negative, _ in summands(library, node))


def _of_number(library: SymbolLibrary, node: Node, value: float) -> Node:
    value = value or 0.0  # one zero is enough
    return Node(node.token, (), value) if node.token == library.constant else Node(numeral(value))


# -- products -------------------------------------------------------------------------


def factors(library: SymbolLibrary, node: Node) -> tuple[bool, list[Node], list[Node]]:
    """The sign of a product, its factors without their signs, and what it is divided by, all in their order."""
    is_negative, sides = False, ([], [])  # type: tuple[bool, tuple[list[Node], list[Node]]]
    waiting = [(node, 0)]
    while waiting:
        each, side = waiting.pop()
        if is_built_in(library, each.token) and each.token in ("*", "/", "neg"):
            is_negative ^= each.token == "neg"
            waiting += [(each.operands[-1], side ^ (each.token == "/"))] if len(each.operands) == 2 else []
            waiting.append((each.operands[0], side))
            continue
        has_sign, bare = split(library, each)
        is_negative ^= has_sign
        sides[side].append(bare)
    return is_negative, *sides


def quotient(library: SymbolLibrary, above: list[Node], below: list[Node]) -> Node:
    """Factors over divisors: constants first, ones left out, equal factors as powers, 1/exp(2*x) as exp(-2*x)."""
    decaying = {k: other for k, each in enumerate(below) if (other := _inverse_exp(library, each)) is not None}
    above = _in_order(library, [*above, *decaying.values()])
    below = [each for k, each in enumerate(below) if k not in decaying]
    below = [each for each in _in_order(library, below) if number_of(library, each) != 1.0]
    kept = [each for each in above if number_of(library, each) != 1.0]
    top = _multiplied(library, kept or above[:1])
    return joined(library, "/", top, _multiplied(library, below)) if below else top


def _inverse_exp(library: SymbolLibrary, node: Node) -> Node | None:
    """What to multiply by in place of a division by exp(k·u), k a number; None for any other divisor."""
    if node.token != "exp" or not is_built_in(library, "exp") or not is_built_in(library, "*"):
        return None
    (exponent,) = node.operands
    if exponent.token not in ("*", "/") or not is_built_in(library, exponent.token):
        return None
    _, above, below = factors(library, exponent)
    has_number = any(number_of(library, each) is not None for each in (*above, *below))
    other = turned(library, exponent) if has_number else None
    return None if other is None else Node("exp", (other,))


def _in_order(library: SymbolLibrary, given: list[Node]) -> list[Node]:
    first = [each for each in given if is_coefficient(library, each)]
    rest = [each for each in given if not is_coefficient(library, each)]
    return [*first, *merged_powers(library, rest)]


def _multiplied(library: SymbolLibrary, given: list[Node]) -> Node:
    whole = given[0]
    for each in given[1:]:
        whole = joined(library, "*", whole, each)
    return whole


# -- sums -----------------------------------------------------------------------------


def summands(library: SymbolLibrary, node: Node) -> Terms:
    """The terms of a sum, without their signs, in their order."""
    found: Terms = []
    waiting = [(False, node)]
    while waiting:
        is_negative, each = waiting.pop()
        if is_built_in(library, each.token) and each.token in ("+", "-"):
            waiting.append((is_negative ^ (each.token == "-"), each.operands[1]))
            waiting.append((is_negative, each.operands[0]))
            continue
        has_sign, bare = split(library, each)
        if has_sign and bare.token in ("+", "-"):  # -(a + b) is two terms
            waiting.append((not is_negative, bare))
            continue
        found.append((is_negative ^ has_sign, bare))
    return found


def added(library: SymbolLibrary, terms: Terms, *, in_order: bool = False, room: int = 0) -> Node:
    """Terms one after the other, one that is not taken away first where there is one; zeros are left out."""
    terms = [each for each in terms if number_of(library, each[1]) != 0.0] or terms[:1]
    first = 0 if in_order else next((k for k, (is_negative, _) in enumerate(terms) if not is_negative), None)
    if first is None:
        return negative(library, added(library, [(False, each) for _, each in terms]), room)
    whole = terms[first][1]
    for is_negative, each in terms[:first] + terms[first + 1 :]:
        whole = _next(library, whole, is_negative, each)
    return whole


def _next(library: SymbolLibrary, whole: Node, is_negative: bool, each: Node) -> Node:
    token = "-" if is_negative else "+"
    if not is_built_in(library, token) and (opposite := turned(library, each)) is not None:
        return joined(library, "+" if is_negative else "-", whole, opposite)
    return joined(library, token, whole, each)
