"""Sums, products and powers as people write them: where minus signs go, constants first, equal factors as powers.

Products and sums ask for the signs of their parts, and those may be products and sums again.
"""

from __future__ import annotations

import math
from functools import lru_cache, partial, reduce

from edhie.expr.nodes import PRODUCT, SUM, Node, operation
from edhie.expr.numerals import numeral
from edhie.expr.symbols import ODD
from edhie.finish.numbers import SHORT, spelling

Terms = list[tuple[bool, Node]]
"""Terms of a sum without their signs; True for those that are subtracted."""


# -- signs ----------------------------------------------------------------------------


@lru_cache(10_000)
def split(node: Node) -> tuple[bool, Node]:
    """Return whether a node begins with a minus sign, and the node without it."""
    if node.number is not None:
        return (True, _of_number(node, -node.number)) if node.number < 0 else (False, node)
    if node.op in PRODUCT:
        is_negative, above, below = factors(node)
        return is_negative, quotient(above, below) if is_negative else node
    if node.op in SUM:
        terms = summands(node)
        is_negative = all(each for each, _ in terms)
        return is_negative, added([(False, each) for _, each in terms]) if is_negative else node
    if node.op in ODD:
        is_negative, inner = split(node.operands[0])
        return is_negative, node.over(inner) if is_negative else node
    return False, node


def opposite(node: Node, *, through_functions: bool = True) -> Node | None:
    """Return a node of the opposite value that is no larger, or None."""
    if node.number is not None:
        return _of_number(node, -node.number)
    if node.op in ("*", "/"):
        return _opposite_product(node, through_functions)
    if node.op in SUM:
        terms = [(not is_negative, each) for is_negative, each in summands(node)]
        if any(not is_negative for is_negative, _ in terms):
            return added(terms)
        for k, (_, each) in enumerate(terms):
            first = opposite(each, through_functions=through_functions)
            if first is not None:
                return added([(False, first), *terms[:k], *terms[k + 1 :]], in_order=True)
    if _is_log_of_quotient(node):  # -log(a/b) is log(b/a)
        ratio = node.operands[0]
        return node.over(ratio.over(*reversed(ratio.operands)))
    if node.op in ODD and through_functions:
        inner = opposite(node.operands[0])
        return None if inner is None else node.over(inner)
    return None


def _is_log_of_quotient(node: Node) -> bool:
    return node.op == "log" and node.operands[0].op == "/"


def negative(node: Node, room: float) -> Node:
    """Return a node of the opposite value; a sign inside a function changes only if `neg` makes it cost over `room`."""
    if (found := opposite(node, through_functions=False)) is not None:
        return found
    if "neg" in node.library.built_in and node.cost < room:
        return _negated(node)
    return opposite(node) or _negated(node)


def _negated(node: Node) -> Node:
    """Return the negation of a product with its sign at the first factor, where it is written."""
    if node.op not in ("*", "/"):
        return operation("neg", node)
    first, second = node.operands
    return node.over(_negated(first), second)


def _opposite_product(node: Node, through_functions: bool) -> Node | None:
    """Change the sign of one factor: of a difference, else of a constant, else of any that can be."""
    is_negative, above, below = factors(node)
    if is_negative:
        return quotient(above, below)
    every = [*above, *below]
    differences = [k for k, each in enumerate(every) if each.op in SUM and any(minus for minus, _ in summands(each))]
    numbers = [k for k, each in enumerate(every) if each.number is not None]
    sums = [k for k, each in enumerate(every) if each.op in SUM or _is_log_of_quotient(each)]
    for k in [*differences, *numbers, *sums, *(range(len(every)) if through_functions else ())]:
        other = opposite(every[k])
        if other is not None and k >= len(above) and every[k].number is not None:
            continue  # no division by a negative number
        if other is not None:
            every[k] = other
            return quotient(every[: len(above)], every[len(above) :])
    return None


def _of_number(node: Node, value: float) -> Node:
    value = value or 0.0  # -0.0 is 0.0
    if node.kind == "constant":
        return Node(node.library, node.token, (), value)
    return Node(node.library, numeral(value))


# -- products -------------------------------------------------------------------------


def factors(node: Node) -> tuple[bool, list[Node], list[Node]]:
    """Return the sign of a product, its factors and its divisors without their signs, in order."""
    is_negative = False
    sides: tuple[list[Node], list[Node]] = ([], [])
    waiting = [(node, 0)]
    while waiting:
        each, side = waiting.pop()
        if each.op in PRODUCT:
            is_negative ^= each.op == "neg"
            if each.op != "neg":
                waiting.append((each.operands[1], side ^ (each.op == "/")))
            waiting.append((each.operands[0], side))
            continue
        has_sign, bare = split(each)
        is_negative ^= has_sign
        sides[side].append(bare)
    return is_negative, *sides


def quotient(above: list[Node], below: list[Node]) -> Node:
    """Return factors over divisors: constants first, no ones, equal factors as powers, 1/exp(2*x) as exp(-2*x).

    A factor x^(-2) beside others becomes a divisor.
    """
    above, below = _with_one_number(above, below)
    upright = [_without_negative_exponent(each) for each in above]
    has_others = any(other is None and each.number != 1.0 for each, other in zip(above, upright, strict=True))
    if has_others and any(upright) and "/" in above[0].library.built_in:
        above = [each for each, other in zip(above, upright, strict=True) if other is None]
        below = [*below, *filter(None, upright)]
    decaying = {k: other for k, each in enumerate(below) if (other := _inverse_exp(each)) is not None}
    above = _in_order([*above, *decaying.values()])
    below = _in_order([each for k, each in enumerate(below) if k not in decaying])
    below = [each for each in below if each.number != 1.0]
    top = _multiplied([each for each in above if each.number != 1.0] or above[:1])
    return operation("/", top, _multiplied(below)) if below else top


def _with_one_number(above: list[Node], below: list[Node]) -> tuple[list[Node], list[Node]]:
    """Return factors and divisors with one number in place of several, if it is as plain, and no fitted divisor."""
    numbers = [each for each in (*above, *below) if each.number is not None and each.number != 1.0]
    kinds = [each for each in numbers if each.kind == "constant"]
    is_one = len(numbers) < 2 and not (kinds and kinds[0] in below)
    if is_one or any(each.number == 0.0 for each in numbers):
        return above, below
    value = math.prod(each.number or 1.0 for each in above) / math.prod(each.number or 1.0 for each in below)
    is_quotient = not kinds and sum(each in above for each in numbers) == 1 and _are_whole(numbers)
    if is_quotient and len(numeral(value)) > SHORT:  # 4*x/3
        return above, below
    is_plain = len(numeral(value)) <= SHORT or spelling(value) is not None
    if not (math.isfinite(value) and value) or not (kinds or is_plain):
        return above, below
    one = _of_number((kinds or numbers)[0], value)
    rest = [each for each in above if each.number is None], [each for each in below if each.number is None]
    return ([one, *rest[0]] if value != 1.0 or not rest[0] else rest[0]), rest[1]


def _are_whole(numbers: list[Node]) -> bool:
    values = [each.number for each in numbers if each.number is not None and each.number.is_integer()]
    return len(values) == len(numbers) == 2 and math.gcd(*map(int, values)) == 1


def _without_negative_exponent(node: Node) -> Node | None:
    """Return x^2 for x^(-2), of which it is the reciprocal; None for any other node."""
    number = node.operands[1].number if node.op == "^" else None
    if number is None or number >= 0:
        return None
    base, exponent = node.operands
    written = whole_power(base, int(-number)) if number.is_integer() else None
    return written[0] if written and len(written) == 1 else node.over(base, _of_number(exponent, -number))


def _inverse_exp(node: Node) -> Node | None:
    """Return the factor that replaces a division by exp(k*u), where k is a number; None for any other divisor."""
    if node.op != "exp" or "*" not in node.library.built_in:
        return None
    (exponent,) = node.operands
    if exponent.op not in ("*", "/"):
        return None
    _, above, below = factors(exponent)
    has_number = any(each.number is not None for each in (*above, *below))
    return node.over(negative(exponent, math.inf)) if has_number else None


def _in_order(given: list[Node]) -> list[Node]:
    rest = sorted((each for each in given if not each.is_coefficient), key=_rank)
    return [*(each for each in given if each.is_coefficient), *merged_powers(rest)]


def _rank(node: Node) -> tuple[int, int]:
    """Return the place among factors: variables and their powers as in the table, other factors, sums."""
    base = power_of(node)[0]
    if base.kind == "variable":
        return 0, base.library.ids[base.token]
    return 1 + (node.op in SUM), 0


def _multiplied(given: list[Node]) -> Node:
    return reduce(partial(operation, "*"), given)


# -- sums -----------------------------------------------------------------------------


def summands(node: Node) -> Terms:
    """Return the terms of a sum, without their signs, in order."""
    found: Terms = []
    waiting = [(False, node)]
    while waiting:
        is_negative, each = waiting.pop()
        if each.op in SUM:
            waiting.append((is_negative ^ (each.op == "-"), each.operands[1]))
            waiting.append((is_negative, each.operands[0]))
            continue
        has_sign, bare = split(each)
        if has_sign and bare.op in SUM:  # -(a + b) is two terms
            waiting.append((not is_negative, bare))
        else:
            found.append((is_negative ^ has_sign, bare))
    return found


def added(terms: Terms, *, in_order: bool = False, room: float = 0.0) -> Node:
    """Return the sum of terms without zeros, beginning with one that is not subtracted where there is one."""
    terms = [each for each in terms if each[1].number != 0.0] or terms[:1]
    terms = terms if in_order else _by_degree(terms)
    first = 0 if in_order else next((k for k, (is_negative, _) in enumerate(terms) if not is_negative), None)
    if first is None:
        first, whole = 0, negative(terms[0][1], room)
    else:
        whole = terms[first][1]
    for is_negative, each in terms[:first] + terms[first + 1 :]:
        token, other = ("-", "+") if is_negative else ("+", "-")
        if token not in each.library.built_in and (turned := opposite(each)) is not None:
            whole = operation(other, whole, turned)
        else:
            whole = operation(token, whole, each)
    return whole


def _by_degree(terms: Terms) -> Terms:
    """Return terms with a constant or a long number last; those of a polynomial with any number last, by degree."""
    degrees = [_degree(each) for _, each in terms]
    known = [each for each in degrees if each is not None]
    if len(known) < len(terms):
        return sorted(terms, key=lambda each: each[1].kind == "constant" or _is_long(each[1]))
    if len({name for name, _ in known if name}) > 1:
        return sorted(terms, key=lambda each: each[1].is_coefficient)
    return [term for _, term in sorted(zip(known, terms, strict=True), key=lambda each: -each[0][1])]


def _is_long(node: Node) -> bool:
    return node.number is not None and len(numeral(node.number)) > SHORT - 1


def _degree(node: Node) -> tuple[str, int] | None:
    """Return the variable and the exponent of a number times a whole power; None for any other node."""
    if node.op == "*" and node.operands[0].is_coefficient:
        node = node.operands[1]
    elif node.op == "/" and node.operands[1].is_coefficient:
        node = node.operands[0]
    if node.is_coefficient:
        return "", 0
    base, exponent = power_of(node)
    return (base.token, exponent) if base.kind == "variable" else None


# -- powers ---------------------------------------------------------------------------


def merged_powers(given: list[Node]) -> list[Node]:
    """Return factors with equal ones, and powers of equal ones, as one power where that is shorter."""
    if len(given) < 2 and (not given or given[0].op[:1] != "^"):
        return given
    groups: dict[Node | tuple[Node, int], list[tuple[int, Node]]] = {}
    for k, each in enumerate(given):
        base, exponent = power_of(each)
        # constants that are yet to be fitted are not equal, whatever they look like
        key: Node | tuple[Node, int] = base if base.is_fitted else (each, k)
        groups.setdefault(key, []).append((exponent, each))
    found: list[Node] = []
    for key, members in groups.items():
        if len(members) == 1 and members[0][0] == 1:
            found.append(members[0][1])
            continue
        originals = [each for _, each in members]
        written = whole_power(key, sum(exponent for exponent, _ in members)) if isinstance(key, Node) else None
        # n factors take n - 1 signs of multiplication
        found += written if written is not None and _length(written) <= _length(originals) else originals
    return found


def power_of(node: Node) -> tuple[Node, int]:
    """Return the base below whole powers, and the product of their exponents."""
    exponent = 1
    while (own := _whole_exponent(node)) is not None:
        exponent, node = exponent * own, node.operands[0]
    return node, exponent


def _whole_exponent(node: Node) -> int | None:
    if node.op[:1] != "^":
        return None
    if len(node.operands) == 1:
        return int(node.op[1:])
    number = node.operands[1].number
    is_whole = node.operands[1].kind == "number" and number is not None and number.is_integer() and number > 1
    return int(number) if is_whole and number is not None else None


def whole_power(base: Node, exponent: int) -> list[Node] | None:
    """Return one factor that is a whole power of the base; None where the library has no such power."""
    if exponent == 1:
        return [base]
    if f"^{exponent}" in base.library.built_in:
        return [operation(f"^{exponent}", base)]
    if "^" in base.library.built_in and base.library.has_numbers:
        return [operation("^", base, Node(base.library, numeral(exponent)))]
    return None


def _length(nodes: list[Node]) -> float:
    return sum(each.cost for each in nodes) + len(nodes)
