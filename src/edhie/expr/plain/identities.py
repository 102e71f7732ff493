"""Identities of functions: of a function and its inverse, of roots and powers, of exp and log."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from edhie.expr.library import SymbolLibrary
from edhie.expr.plain.nodes import Node, UnsayableError, is_built_in, joined, number_of
from edhie.expr.plain.polynomials import exponent_of, is_non_negative, number_node
from edhie.expr.plain.signs import factors, quotient, summands
from edhie.expr.plain.writing import written_power

INVERSES = {
    ("sin", "asin"),
    ("cos", "acos"),
    ("tan", "atan"),
    ("exp", "log"),
    ("log", "exp"),
    ("^3", "cbrt"),
    ("cbrt", "^3"),
}
"""f(g(u)) is u, wherever g(u) is defined."""
QUOTIENTS = {("sin", "cos"): "tan", ("sinh", "cosh"): "tanh"}


def identities(library: SymbolLibrary, node: Node, positive: frozenset[str] = frozenset()) -> Iterator[Node]:
    """Other ways to write a node, by identities of the function at its root."""
    for rule in RULES:
        try:
            found = rule(library, node, positive)
        except UnsayableError:
            continue
        if found is not None:
            yield found


def _inverse(library: SymbolLibrary, node: Node, positive: frozenset[str]) -> Node | None:
    """sin(asin(u)) is u."""
    inner = node.operands[0]
    if len(node.operands) == 1 and (node.token, inner.token) in INVERSES and is_built_in(library, inner.token):
        return inner.operands[0]
    return None


def _of_angle(library: SymbolLibrary, node: Node, positive: frozenset[str]) -> Node | None:
    """sin(acos(u)) is sqrt(1 - u^2), and so is cos(asin(u)); their squares have no root."""
    is_square = node.token == "^2"
    wave = node.operands[0] if is_square else node
    if not is_built_in(library, wave.token) or len(wave.operands) != 1:
        return None
    inner = wave.operands[0]
    if not is_built_in(library, inner.token) or len(inner.operands) != 1:
        return None
    square = _square(library, inner.operands[0])
    one = number_node(library, 1.0)
    if (wave.token, inner.token) in (("sin", "acos"), ("cos", "asin")):
        found = joined(library, "-", one, square)
    elif (wave.token, inner.token) in (("tan", "asin"), ("tan", "acos")):
        rest = joined(library, "-", one, square)
        above, below = (square, rest) if inner.token == "asin" else (rest, square)
        if is_square:
            return joined(library, "/", above, below)
        root, own = joined(library, "sqrt", rest), inner.operands[0]
        return joined(library, "/", *((own, root) if inner.token == "asin" else (root, own)))
    elif (wave.token, inner.token) in (("cos", "atan"), ("sin", "atan")):
        total = joined(library, "+", one, square)
        above = one if wave.token == "cos" else square
        if is_square:
            return joined(library, "/", above, total)
        own = one if wave.token == "cos" else inner.operands[0]
        return joined(library, "/", own, joined(library, "sqrt", total))
    else:
        return None
    return found if is_square else joined(library, "sqrt", found)


def _square(library: SymbolLibrary, node: Node) -> Node:
    (found,) = written_power(library, node, Fraction(2))[:1]
    return found if found.token == "^2" else joined(library, "*", node, node)


def _size(library: SymbolLibrary, node: Node, positive: frozenset[str]) -> Node | None:
    """abs(u) is u where u is never negative, and abs(u)^2 is u^2."""
    inner = node.operands[0]
    if node.token == "abs" and is_non_negative(library, inner, positive):
        return inner
    exponent = exponent_of(library, node)
    is_even = exponent is not None and exponent.denominator == 1 and exponent % 2 == 0
    if (is_even or node.token in ("cos", "cosh", "abs")) and inner.token == "abs" and is_built_in(library, "abs"):
        return Node(node.token, (inner.operands[0], *node.operands[1:]))
    return None


def _exponential(library: SymbolLibrary, node: Node, positive: frozenset[str]) -> Node | None:
    """exp(k*log(u)) is u^k, and exp(a + log(u)) is u*exp(a)."""
    if node.token != "exp":
        return None
    outside: list[Node] = []
    divisors: list[Node] = []
    rest: list[tuple[bool, Node]] = []
    for is_negative, each in summands(library, node.operands[0]):
        found = _power_of_log(library, each)
        if found is None:
            rest.append((is_negative, each))
        else:
            (divisors if is_negative else outside).append(found)
    if not outside and not divisors:
        return None
    if rest:
        from edhie.expr.plain.signs import added

        outside.append(Node("exp", (added(library, rest),)))
    return quotient(library, outside or [number_node(library, 1.0)], divisors)


def _power_of_log(library: SymbolLibrary, node: Node) -> Node | None:
    """u^k for k*log(u)."""
    if node.token == "log" and is_built_in(library, "log"):
        return node.operands[0]
    if node.token not in ("*", "/") or not is_built_in(library, node.token):
        return None
    is_negative, above, below = factors(library, node)
    logarithms = [each for each in above if each.token == "log" and is_built_in(library, "log")]
    others = [each for each in above if each not in logarithms]
    if len(logarithms) != 1 or is_negative:
        return None
    exponent = quotient(library, others or [number_node(library, 1.0)], below)
    base, number = logarithms[0].operands[0], number_of(library, exponent)
    if number is not None and number > 0:
        whole = written_power(library, base, Fraction(number))
        return whole[0] if len(whole) == 1 else None
    return joined(library, "^", base, exponent)


def _logarithm(library: SymbolLibrary, node: Node, positive: frozenset[str]) -> Node | None:
    """log(u*exp(v)) is log(u) + v; log(a) + log(b) is log(a*b), and log(a) - log(b) is log(a/b)."""
    if node.token not in ("+", "-"):
        return None
    terms = summands(library, node)
    logarithms = [each for each in terms if each[1].token == "log" and is_built_in(library, "log")]
    if len(logarithms) < 2:
        return None
    above = [each.operands[0] for is_negative, each in logarithms if not is_negative]
    below = [each.operands[0] for is_negative, each in logarithms if is_negative]
    if not above:
        return None
    from edhie.expr.plain.signs import added

    whole = Node("log", (quotient(library, above, below),))
    first = terms.index(logarithms[0])
    rest = [each for each in terms if each not in logarithms]
    return added(library, [*rest[:first], (False, whole), *rest[first:]])


def _quotient_of_waves(library: SymbolLibrary, node: Node, positive: frozenset[str]) -> Node | None:
    """sin(u)/cos(u) is tan(u), sinh(u)/cosh(u) is tanh(u)."""
    if node.token not in ("*", "/"):
        return None
    is_negative, above, below = factors(library, node)
    for a, one in enumerate(above):
        for b, other in enumerate(below):
            name = QUOTIENTS.get((one.token, other.token))
            is_same = name is not None and one.operands == other.operands
            if is_same and name and all(is_built_in(library, each.token) for each in (one, other)):
                above[a] = joined(library, name, *one.operands)
                found = quotient(library, above, below[:b] + below[b + 1 :])
                return joined(library, "neg", found) if is_negative else found
    return None


def _hyperbolic(library: SymbolLibrary, node: Node, positive: frozenset[str]) -> Node | None:
    """(exp(u) - exp(-u))/2 is sinh(u), and (exp(u) + exp(-u))/2 is cosh(u)."""
    if node.token not in ("+", "-"):
        return None
    terms = summands(library, node)
    if len(terms) != 2 or terms[0][0] or not is_built_in(library, "exp"):
        return None
    (_, one), (is_negative, other) = terms
    if one.token != "exp" or other.token != "exp" or not _are_opposite(library, one.operands[0], other.operands[0]):
        return None
    wave = joined(library, "sinh" if is_negative else "cosh", one.operands[0])
    return joined(library, "*", number_node(library, 2.0), wave)


def _are_opposite(library: SymbolLibrary, one: Node, other: Node) -> bool:
    from edhie.expr.plain.polynomials import TooLargeError, scaled
    from edhie.expr.plain.ring import Ring

    ring = Ring(library, expands=True)
    try:
        return ring.read(one) == scaled(ring.read(other), -1.0)
    except TooLargeError:
        return False


RULES = (_inverse, _of_angle, _size, _exponential, _logarithm, _quotient_of_waves, _hyperbolic)
