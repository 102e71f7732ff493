"""Identities of functions: of a function and its inverse, of roots and powers, of exp and log."""

from __future__ import annotations

from collections.abc import Iterator

from edhie.expr.readable import polynomials as poly
from edhie.expr.readable.arithmetic import added, factors, quotient, summands
from edhie.expr.readable.nodes import SUM, MissingSymbolError, Node, operation
from edhie.expr.symbols import EVEN, OPERATORS

QUOTIENTS = {("sin", "cos"): "tan", ("sinh", "cosh"): "tanh"}


def identities(node: Node, positive: frozenset[str] = frozenset()) -> Iterator[Node]:
    """Yield other forms of a node, by identities of the function at its root."""
    for rule in RULES:
        try:
            found = rule(node, positive)
        except MissingSymbolError:
            continue
        if found is not None:
            yield found


def _inverse(node: Node, positive: frozenset[str]) -> Node | None:
    """sin(asin(u)) is u."""
    inner = node.operands[0]
    return inner.operands[0] if inner.op and OPERATORS[node.op].undoes == inner.op else None


def _of_angle(node: Node, positive: frozenset[str]) -> Node | None:
    """sin(acos(u)) is sqrt(1 - u^2), and so is cos(asin(u)); their squares have no root."""
    is_square = node.op == "^2"
    wave = node.operands[0] if is_square else node
    inner = wave.operands[0] if wave.op in ("sin", "cos", "tan") else wave
    if inner is wave or inner.op not in ("asin", "acos", "atan"):
        return None
    (own,) = inner.operands
    one, square = poly.number_node(node.library, 1.0), _square(own)
    if inner.op == "atan":
        if wave.op == "tan":
            return None
        total = operation("+", one, square)
        if is_square:
            return operation("/", one if wave.op == "cos" else square, total)
        return operation("/", one if wave.op == "cos" else own, operation("sqrt", total))
    if inner.op == f"a{wave.op}":
        return None
    rest = operation("-", one, square)
    if wave.op != "tan":
        return rest if is_square else operation("sqrt", rest)
    above, below = (square, rest) if is_square else (own, operation("sqrt", rest))
    return operation("/", above, below) if inner.op == "asin" else operation("/", below, above)


def _square(node: Node) -> Node:
    found = poly.written_power(node, 2)[0]
    return found if found.op == "^2" else operation("*", node, node)


def _size(node: Node, positive: frozenset[str]) -> Node | None:
    """abs(u) is u where u is never negative, and abs(u)^2 is u^2."""
    inner = node.operands[0]
    if node.op == "abs" and poly.is_non_negative(inner, positive):
        return inner
    if inner.op != "abs":
        return None
    exponent = poly.exponent_of(node)
    is_even = exponent is not None and exponent.denominator == 1 and exponent % 2 == 0
    return node.over(inner.operands[0], *node.operands[1:]) if is_even or node.op in EVEN else None


def _exponential(node: Node, positive: frozenset[str]) -> Node | None:
    """exp(k*log(u)) is u^k, and exp(a + log(u)) is u*exp(a)."""
    if node.op != "exp":
        return None
    outside: list[Node] = []
    divisors: list[Node] = []
    rest: list[tuple[bool, Node]] = []
    for is_negative, each in summands(node.operands[0]):
        found = _power_of_log(each)
        if found is None:
            rest.append((is_negative, each))
        else:
            (divisors if is_negative else outside).append(found)
    if not outside and not divisors:
        return None
    if rest:
        outside.append(node.over(added(rest)))
    return quotient(outside or [poly.number_node(node.library, 1.0)], divisors)


def _power_of_log(node: Node) -> Node | None:
    """Return u^k for k*log(u)."""
    if node.op == "log":
        return node.operands[0]
    if node.op not in ("*", "/"):
        return None
    is_negative, above, below = factors(node)
    logarithms = [each for each in above if each.op == "log"]
    others = [each for each in above if each not in logarithms]
    if len(logarithms) != 1 or is_negative:
        return None
    exponent = quotient(others or [poly.number_node(node.library, 1.0)], below)
    base, number = logarithms[0].operands[0], exponent.number
    if number is not None and number > 0:
        whole = poly.written_power(base, poly.exact(number))
        return whole[0] if len(whole) == 1 else None
    return operation("^", base, exponent)


def _logarithm(node: Node, positive: frozenset[str]) -> Node | None:
    """log(a) + log(b) is log(a*b), and log(a) - log(b) is log(a/b)."""
    if node.op not in SUM:
        return None
    terms = summands(node)
    logarithms = [each for each in terms if each[1].op == "log"]
    above = [each.operands[0] for is_negative, each in logarithms if not is_negative]
    below = [each.operands[0] for is_negative, each in logarithms if is_negative]
    if len(logarithms) < 2 or not above:
        return None
    whole = operation("log", quotient(above, below))
    first = terms.index(logarithms[0])
    rest = [each for each in terms if each not in logarithms]
    return added([*rest[:first], (False, whole), *rest[first:]])


def _quotient_of_waves(node: Node, positive: frozenset[str]) -> Node | None:
    """sin(u)/cos(u) is tan(u), sinh(u)/cosh(u) is tanh(u)."""
    if node.op not in ("*", "/"):
        return None
    is_negative, above, below = factors(node)
    for a, one in enumerate(above):
        for b, other in enumerate(below):
            name = QUOTIENTS.get((one.op, other.op))
            if name and one.operands == other.operands:
                above[a] = operation(name, *one.operands)
                found = quotient(above, below[:b] + below[b + 1 :])
                return operation("neg", found) if is_negative else found
    return None


def _hyperbolic(node: Node, positive: frozenset[str]) -> Node | None:
    """(exp(u) - exp(-u))/2 is sinh(u), and (exp(u) + exp(-u))/2 is cosh(u)."""
    if node.op not in SUM:
        return None
    terms = summands(node)
    if len(terms) != 2 or terms[0][0]:
        return None
    (_, one), (is_negative, other) = terms
    if one.op != "exp" or other.op != "exp" or not _are_opposite(one.operands[0], other.operands[0]):
        return None
    wave = operation("sinh" if is_negative else "cosh", one.operands[0])
    return operation("*", poly.number_node(node.library, 2.0), wave)


def _are_opposite(one: Node, other: Node) -> bool:
    ring = poly.Ring(one.library, expands=True)
    try:
        return ring.read(one) == poly.scaled(ring.read(other), -1.0)
    except poly.TooLargeError:
        return False


RULES = (_inverse, _of_angle, _size, _exponential, _logarithm, _quotient_of_waves, _hyperbolic)
