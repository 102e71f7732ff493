"""Equivalence of two expressions: yes, no, or undecided, in bounded time; and simplification by SymPy."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import Any, Literal

import mpmath

from edhie.errors import EdhieError
from edhie.expr.canonical import canonical_expr
from edhie.expr.expression import Expr
from edhie.expr.numerals import numeral
from edhie.expr.parser import parse
from edhie.expr.precise import value_or_none
from edhie.expr.standard_libraries import everything
from edhie.expr.symbols import NAMED_LITERALS, Precedence, Symbol
from edhie.expr.sympy_pool import shared_worker
from edhie.expr.sympy_tasks import expr_from, request

DIGITS = 60
AGREEMENT = -30  # values that differ by less than 10^-30 of their size, at 60 digits, agree
NOISE = -50  # and so do values that are both of the size of rounding errors
# A difference counts if it is the same at two precisions, of which either holds every digit of
# numbers from 2^-MAX_BITS to 2^MAX_BITS: then it is neither lost in rounding nor made by it.
DECIDING_DIGITS = (3000, 3300)
WANTED_POINTS = 24
MAX_TRIES = 600
SIMPLE_POINTS, SIMPLE_TRIES, SIMPLE_DIGITS = 12, 100, 30  # at which a simplification is checked
MAX_PERMUTED = 4
# Rationals made of numbers of 16 bits in all differ by at least 2^-32, and have no more than 2^16 in size, so that 53
# bits tell them apart, a few rounding errors included.
EXACT_BITS = 16.0


@dataclass(frozen=True)
class Equivalence:
    """The verdict and its reason; true in a condition only for `yes`."""

    verdict: Literal["yes", "no", "undecided"]
    reason: str
    agrees_numerically: bool = False
    """True where they agreed to 30 digits at every point tried, which is strong evidence but no proof."""
    same_domain: bool | None = None
    """True where they were defined at the same points among those tried."""
    witness: dict[str, float] | None = None
    """A point at which they differ, for the verdict `no`."""

    def __bool__(self) -> bool:
        return self.verdict == "yes"


def equivalent(a: Expr | str, b: Expr | str, *, time_limit: float = 10.0, seed: int = 0) -> Equivalence:
    """Decide whether a and b have the same value wherever both are defined.

    First by canonical form; then at random points of both domains to 60 digits, where one difference settles it; then
    by SymPy, which can prove a yes. It all takes `time_limit` seconds at most. Numbers count as they print: 0.1 is one
    tenth. Unfitted constants stand for any values: expressions that hold some are equivalent if a renaming of the
    constants makes them so, and otherwise undecided.

    >>> equivalent("sin(x)^2 + cos(x)^2", "1").verdict
    'yes'
    >>> equivalent("x + 1", "x + 2").verdict
    'no'
    """
    a, b = (parse(each) if isinstance(each, str) else each for each in (a, b))
    names = dict.fromkeys((*a.library.variables, *b.library.variables))
    customs = {symbol.name: symbol for symbol in (*a.library.symbols, *b.library.symbols) if symbol.is_custom}
    library = everything(list(names)).extended(*customs.values())
    left, right = a.cast(library), b.cast(library)
    if left == right and None not in left.constants:
        return Equivalence("yes", "they are the same expression", True, True)
    if folds_exactly(left, right):
        left_form, right_form = canonical_expr(left), canonical_expr(right)
        if left_form == right_form:
            return Equivalence("yes", f"both have the canonical form {left_form}", True)
        if None in left_form.constants or None in right_form.constants:
            left, right = left_form, right_form  # in which constants are merged
    deadline = time.monotonic() + time_limit  # from here: the first canonical form may have to be compiled
    if None in left.constants or None in right.constants:
        return _by_renaming(left, right, deadline, seed)
    found = _compare(left, right, [], [], deadline, seed)
    if found.verdict == "no" or not found.agrees_numerically:
        return found
    return _prove(left, right, [], found, deadline)


def _by_renaming(left: Expr, right: Expr, deadline: float, seed: int) -> Equivalence:
    count = left.constants.count(None)
    if count != right.constants.count(None) or count > MAX_PERMUTED:
        return Equivalence("undecided", "they hold unfitted constants that cannot be matched")
    draw = random.Random(seed)
    values = [mpmath.mpf(draw.uniform(0.5, 3.0)) for _ in range(count)]
    for order in permutations(range(count)):
        found = _compare(left, right, values, [values[i] for i in order], deadline, seed)
        if found.agrees_numerically:
            return _prove(left, right, list(order), found, deadline)
    return Equivalence("undecided", "no renaming of the unfitted constants makes them agree, other relations may")


def _compare(
    left: Expr, right: Expr, left_values: list[Any], right_values: list[Any], deadline: float, seed: int
) -> Equivalence:
    """Compare values at random points of both domains: `no` with a witness, or undecided."""

    def at(point: dict[str, Any], digits: int) -> list[Any]:
        sides = ((left, left_values), (right, right_values))
        return [value_or_none(expr, point, digits, constants=own, deadline=deadline) for expr, own in sides]

    agreed = only_one = 0
    try:
        for point in _points(left.library.variables, seed):
            values = at(point, DIGITS)
            if None in values:
                only_one += values != [None, None]
                continue
            if not _close(*values) and _differ(*(at(point, digits) for digits in DECIDING_DIGITS)):
                witness = {name: float(value) for name, value in point.items()}
                shown = ", ".join(f"{name} = {value:.6g}" for name, value in witness.items())
                what = " and ".join(mpmath.nstr(value, 8) for value in at(point, DECIDING_DIGITS[0]))
                return Equivalence("no", f"their values are {what} at {shown or 'every point'}", witness=witness)
            agreed += 1
            if agreed >= WANTED_POINTS:
                break
    except TimeoutError:
        return Equivalence("undecided", "the time was over before their values were compared")
    if not agreed:
        return Equivalence("undecided", "no point was found at which both are defined")
    return Equivalence("undecided", f"they agree to 30 digits at {agreed} points", True, only_one == 0)


def _points(names: tuple[str, ...], seed: int) -> Iterator[dict[str, Any]]:
    """Yield random points at several scales, without round numbers."""
    draw = random.Random(seed)
    scales = (lambda: draw.uniform(-3, 3), lambda: draw.uniform(0, 2), lambda: draw.uniform(-1, 1),
              lambda: draw.uniform(0, 20), lambda: 10 ** draw.uniform(-5, 6) * draw.choice((-1, 1)))  # fmt: skip
    for i in range(MAX_TRIES):
        yield {name: mpmath.mpf(scales[i % len(scales)]()) for name in names}


def _differ(one: list[Any], other: list[Any]) -> bool:
    """Return True where values differ beyond doubt, given both of them at two precisions."""
    if None in one or None in other:
        return False
    with mpmath.workdps(DECIDING_DIGITS[1]):
        first, second = one[0] - one[1], other[0] - other[1]
    return bool(first != 0 and abs(first - second) < abs(first) / 1000)


def _close(a: Any, b: Any) -> bool:
    difference = abs(a - b)
    return bool(difference <= mpmath.mpf(10) ** AGREEMENT * max(abs(a), abs(b)) or difference < mpmath.mpf(10) ** NOISE)


def _prove(left: Expr, right: Expr, order: list[int], found: Equivalence, deadline: float) -> Equivalence:
    remaining = deadline - time.monotonic()
    answer = shared_worker().ask(request("prove_zero", [left, right], constants=order), remaining)
    if answer.get("zero"):
        return Equivalence("yes", "SymPy proves it", True, found.same_domain)
    if "difference" in answer:
        return Equivalence("no", f"they differ by {answer['difference']}", True, found.same_domain)
    why = "SymPy found no proof in the time" if answer.get("timed_out") else "SymPy found no proof"
    return Equivalence("undecided", f"{found.reason}, and {why}", True, found.same_domain)


# -- where canonical forms are proofs -------------------------------------------------


def folds_exactly(*exprs: Expr) -> bool:
    """Return True where equal canonical forms prove that the expressions are equal, although doubles round.

    Only few and short numbers may occur (1/3 and 0.25 are short, pi is not), and no function of numbers alone, such as
    sqrt(2).
    """
    return sum(expr.fold(_leaf_bits, _operator_bits)[0] for expr in exprs) <= EXACT_BITS


Bits = tuple[float, bool, str]
"""Bits of the numbers in a part, counted as often as powers repeat them; whether it varies; the text of a number."""


def _leaf_bits(symbol: Symbol, token: str, value: float | None) -> Bits:
    if value is None:
        return 0.0, True, ""
    text = numeral(value)
    if symbol.name in NAMED_LITERALS:
        return math.inf, False, text
    number = Fraction(text)
    return float(number.numerator.bit_length() + number.denominator.bit_length() - 1), False, text


def _operator_bits(symbol: Symbol, operands: list[Bits]) -> Bits:
    bits = sum(operand[0] for operand in operands)
    varies = any(operand[1] for operand in operands)
    if symbol.precedence == Precedence.POWER:
        exponent = symbol.name[1:] or operands[1][2]
        if exponent.lstrip("-").isdigit():
            bits += (abs(int(exponent)) - 1) * operands[0][0]
        elif not all(operand[1] for operand in operands):
            return math.inf, varies, ""
    elif symbol.style == "function" and symbol.name != "inv" and not varies:
        return math.inf, varies, ""
    return bits, varies, ""


# -- simplification ----------------------------------------------------------------------


def simplify(expr: Expr, *, time_limit: float = 5.0) -> Expr:
    """Return the shortest of SymPy's simplification, the canonical form and the expression itself.

    SymPy runs in its own process and is stopped after `time_limit` seconds. Its result is used only if it agrees with
    the input at random points of the input's domain. The library of the result has numbers and the operators that
    SymPy introduced.

    >>> from edhie.expr import parse
    >>> str(simplify(parse("sin(x0)^2 + cos(x0)^2 + x0 + x0")))
    '2*x0 + 1'
    """
    candidates = [expr, canonical_expr(expr)]
    answer = shared_worker().ask(request("simplify", [expr]), time_limit)
    if "error" not in answer:
        try:
            found = expr_from(answer, expr.library)
        except EdhieError:
            found = expr
        if _agree(expr, found, answer["constants"]):
            candidates += [canonical_expr(found), found]
    return min(reversed(candidates), key=lambda candidate: candidate.size)  # of equals, SymPy's


def _agree(a: Expr, b: Expr, places: list[int]) -> bool:
    """Return True where b has a's values at random points of a's domain; its constants are those of a at `places`."""
    draw = random.Random(0)
    agreed = 0
    for _ in range(SIMPLE_TRIES):
        point = {name: mpmath.mpf(draw.uniform(-4, 4)) for name in a.library.variables}
        constants = [mpmath.mpf(draw.uniform(-4, 4)) for _ in a.constants]
        unfitted = [value for value, known in zip(constants, a.constants, strict=True) if known is None]
        left = value_or_none(a, point, SIMPLE_DIGITS, constants=unfitted)
        if left is None:
            continue
        right = value_or_none(b, point, SIMPLE_DIGITS, constants=[constants[i] for i in places])
        if right is None or abs(left - right) > 1e-8 * max(1, abs(left)):
            return False
        agreed += 1
        if agreed == SIMPLE_POINTS:
            break
    return agreed > 0
