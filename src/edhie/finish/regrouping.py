"""Other ways to write a sum or product: common factors, perfect squares, quotients divided out."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import combinations, permutations

from edhie.expr.nodes import MissingSymbolError, Node, operation
from edhie.finish import polynomials as poly
from edhie.finish.arithmetic import added
from edhie.finish.polynomials import ONE, Exponent, Monomial, Polynomial, Ring, TooLargeError

SAME = 1e-13  # relative difference of coefficients that count as equal
MOST_WAYS, MORE_TERMS = 12, 1
MOST_FACTORED, DIGITS = 8, 11  # terms among which products of sums are looked for, and digits that agree
DEEPEST = 2  # levels of brackets


def writings(ring: Ring, whole: Polynomial) -> Iterator[Node]:
    """Yield nodes with the value of a polynomial; they need not be shorter."""
    for polynomial in _equals(ring, whole):
        try:
            yield grouped(ring, polynomial)
        except (TooLargeError, MissingSymbolError):
            continue


def _equals(ring: Ring, whole: Polynomial) -> Iterator[Polynomial]:
    """Yield the polynomial, and others of the same value."""
    seen: list[Polynomial] = []
    waiting = [whole]
    while waiting and len(seen) < MOST_WAYS:
        each = waiting.pop(0)
        if each in seen:
            continue
        seen.append(each)
        yield each
        for way in (_with_perfect_square, _with_product, _divided, _rescaled):
            try:
                waiting += (other for other in way(ring, each) if len(other) <= len(whole) + MORE_TERMS)
            except (TooLargeError, MissingSymbolError):
                continue


def _with_perfect_square(ring: Ring, whole: Polynomial) -> list[Polynomial]:
    """Complete a perfect square: p*u^2 + r*u*v + q*v^2 is p*(u + r/(2*p)*v)^2 where r^2 is 4*p*q."""
    found = []
    squares = [(root, each) for each in whole if (root := _root(each)) is not None]
    for (u, first), (v, second) in combinations(squares, 2):
        product = ring.product(u, v)
        p, q, r = whole[first], whole[second], whole.get(product, 0.0)
        if r == 0.0 or abs(r * r - 4.0 * p * q) > SAME * r * r:
            continue
        ratio = r / (2.0 * p)
        if abs(ratio) > 1.0 and _is_whole(1.0 / ratio) and not _is_whole(ratio):
            u, v, p, ratio = v, u, q, r / (2.0 * q)
        square = poly.scaled(ring.kept_power({u: 1.0, v: ratio}, 2), p)
        rest = {each: value for each, value in whole.items() if each not in (first, second, product)}
        found.append(poly.added(square, rest) if list(whole).index(first) == 0 else poly.added(rest, square))
    return found


def _with_product(ring: Ring, whole: Polynomial) -> list[Polynomial]:
    """Write terms as a product of sums: a*b + a*d + c*b + c*d is (a + c)*(b + d)."""
    steps: dict[tuple[Monomial, float], list[tuple[Monomial, Monomial]]] = {}
    if not 4 <= len(whole) <= MOST_FACTORED or len({atom for each in whole for atom, _ in each}) < 2:
        return []  # powers of one variable are read more easily as they are
    for one, other in permutations(whole, 2):
        step = ring.product(other, tuple((atom, -exponent) for atom, exponent in one))
        if all(exponent > 0 for _, exponent in step):
            ratio = float(f"{whole[other] / whole[one]:.{DIGITS}e}")
            steps.setdefault((step, ratio), []).append((one, other))
    found = []
    for (step, _), pairs in steps.items():
        first, second = ({pair[side] for pair in pairs} for side in (0, 1))
        if len(first) < 2 or first & second:
            continue
        one, other = pairs[0]
        part, ratio = {each: whole[each] for each in whole if each in first}, whole[other] / whole[one]
        rest = {each: value for each, value in whole.items() if each not in first | second}
        size = next(iter(part.values()))
        for factor in (1.0, size):  # 3*(a + c)*(b + d), or (3*a + 3*c)*(b + d)
            terms = {step: factor * ratio, ONE: factor} if ratio > 0 else {ONE: factor, step: factor * ratio}
            outer = ring.atom(poly.flat(ring.library, terms))
            inner = ring.kept_power(poly.scaled(part, 1.0 / factor), 1)
            found.append(poly.added(ring.times(outer, inner), rest))
    return found


def _root(monomial: Monomial) -> Monomial | None:
    """Return the monomial that this one is the square of; exponents stay whole where they are."""
    if all(exponent % 2 == 0 for _, exponent in monomial):
        return tuple((atom, exponent // 2) for atom, exponent in monomial)
    return None


def _is_whole(value: float) -> bool:
    return value == round(value)


def _divided(ring: Ring, whole: Polynomial) -> list[Polynomial]:
    """Divide quotients of sums out: N/D is Q + R/D."""
    found = []
    for atom, above, rest in _quotients(ring, whole):
        divisor = ring.sums[atom]
        names = {each for monomial in divisor for each, _ in monomial}
        for name in sorted(names, key=lambda each: ring.order.get(each, 0)):
            parts = _long_division(ring, above, divisor, name)
            if parts is None:
                continue
            quotient, remainder = parts
            below = ring.times(remainder, {((atom, -1),): 1.0}) if remainder else {}
            found.append(poly.added(poly.added(quotient, rest), below))
    return found


def _rescaled(ring: Ring, whole: Polynomial) -> list[Polynomial]:
    """Multiply both sides of quotients: u/(u/v - v/u) is u^2*v/(u^2 - v^2), and that is v/(1 - v^2/u^2)."""
    found = []
    for sum_below, above, rest in _quotients(ring, whole):
        divisor = ring.sums[sum_below]
        atoms = {atom for monomial in divisor for atom, _ in monomial}
        lowest = {atom: min(_degree(each, atom) for each in divisor) for atom in sorted(atoms, key=repr)}
        cleared: Monomial = tuple((atom, exponent) for atom, exponent in lowest.items() if exponent)
        for shared in dict.fromkeys([cleared, *(divisor if len(divisor) == 2 else ())]):
            if shared != ONE:
                below = ring.kept_power(_over(ring, divisor, shared, 1.0), -1)
                found.append(poly.added(ring.times(_over(ring, above, shared, 1.0), below), rest))
    return found


def _quotients(ring: Ring, whole: Polynomial) -> Iterator[tuple[Node, Polynomial, Polynomial]]:
    """Yield each sum that is a divisor, with what it divides, and the other terms."""
    divisors = {atom for monomial in whole for atom, exponent in monomial if atom in ring.sums and exponent == -1}
    for atom in sorted(divisors, key=ring.order.__getitem__):
        above = {ring.product(each, ((atom, 1),)): value for each, value in whole.items() if _degree(each, atom) == -1}
        yield atom, above, {each: value for each, value in whole.items() if _degree(each, atom) != -1}


def _long_division(
    ring: Ring, above: Polynomial, below: Polynomial, name: Node
) -> tuple[Polynomial, Polynomial] | None:
    """Return quotient and remainder as polynomials of one atom; None where there is no quotient."""
    degree = max(_degree(each, name) for each in below)
    leading = {each: value for each, value in below.items() if _degree(each, name) == degree}
    if len(leading) != 1 or degree <= 0 or any(_degree(each, name) < 0 for each in (*above, *below)):
        return None
    ((top, factor),) = leading.items()
    inverse: Monomial = tuple((atom, -exponent) for atom, exponent in top)
    for atom, _ in inverse:
        ring.order.setdefault(atom, len(ring.order))
    quotient: Polynomial = {}
    left = above
    for _ in range(12):
        highest = max((_degree(each, name) for each in left), default=-1)
        if highest < degree:
            break
        step = {
            ring.product(each, inverse): value / factor
            for each, value in left.items()
            if _degree(each, name) == highest
        }
        quotient = poly.added(quotient, step)
        left = poly.added(left, poly.scaled(ring.times(step, below), -1.0))
    return (quotient, left) if quotient else None


def _degree(monomial: Monomial, name: Node) -> Exponent:
    return dict(monomial).get(name, 0)


# -- common factors -------------------------------------------------------------------


def grouped(ring: Ring, whole: Polynomial, depth: int = DEEPEST) -> Node:
    """Return a sum with common factors before brackets, wherever that is shorter."""
    best = poly.flat(ring.library, whole)
    if len(whole) < 2 or depth == 0:
        return best
    ring.effort.left -= 1
    if ring.effort.left < 0:
        return best
    for shared, chosen in _common(ring, whole):
        inside = _over(ring, {each: whole[each] for each in chosen}, *shared)
        rest = {each: value for each, value in whole.items() if each not in chosen}
        try:
            found = _before_bracket(ring, shared, grouped(ring, inside, depth - 1), rest, depth)
        except MissingSymbolError:
            continue
        if found.cost < best.cost:
            best = found
    return best


Shared = tuple[Monomial, float]


def _common(ring: Ring, whole: Polynomial) -> Iterator[tuple[Shared, list[Monomial]]]:
    """Yield factors that all terms or some of them share, with these terms."""
    all_terms = list(whole)
    shared, size = _greatest(all_terms), _shared_size(whole, all_terms)
    if shared or size != 1.0:
        yield (shared, size), all_terms
    if len(whole) < 3:
        return
    counts = Counter((atom, exponent > 0) for each in whole for atom, exponent in each)
    for atom, is_above in sorted((key for key, n in counts.items() if 2 <= n < len(whole)), key=repr):
        chosen = [each for each in whole if _degree(each, atom) != 0 and (_degree(each, atom) > 0) == is_above]
        yield (_greatest(chosen), _shared_size(whole, chosen)), chosen
    sizes = Counter(abs(value) for value in whole.values() if abs(value) != 1.0)
    for value in (value for value, n in sizes.items() if 2 <= n < len(whole)):
        chosen = [each for each in whole if abs(whole[each]) == value]
        yield (_greatest(chosen), value), chosen


def _greatest(monomials: list[Monomial]) -> Monomial:
    """Return the powers that all monomials share."""
    found: list[tuple[Node, Exponent]] = []
    for atom, _ in monomials[0]:
        others = [_degree(each, atom) for each in monomials]
        if all(each > 0 for each in others):
            found.append((atom, min(others)))
        elif all(each < 0 for each in others):
            found.append((atom, max(others)))
    return tuple(found)


def _shared_size(whole: Polynomial, monomials: list[Monomial]) -> float:
    """Return the size of the coefficients if all have the same, otherwise 1."""
    sizes = [abs(whole[each]) for each in monomials]
    return sizes[0] if all(math.isclose(each, sizes[0], rel_tol=SAME) for each in sizes) else 1.0


def _over(ring: Ring, part: Polynomial, shared: Monomial, factor: float) -> Polynomial:
    inverse: Monomial = tuple((atom, -exponent) for atom, exponent in shared)
    return poly.collected({ring.product(each, inverse): [value / factor] for each, value in part.items()})


def _before_bracket(ring: Ring, shared: Shared, bracket: Node, rest: Polynomial, depth: int) -> Node:
    monomial, factor = shared
    ring.order.setdefault(bracket, len(ring.order))
    whole = poly.term(ring.library, ring.product(monomial, ((bracket, 1),)), factor)
    if not rest:
        return whole
    left = grouped(ring, rest, depth - 1)
    has_sum = "+" in ring.library.built_in
    return operation("+", whole, left) if has_sum else added([(False, whole), (False, left)])
