"""Full simplification by SymPy, within a time limit and with a check of the result."""

from __future__ import annotations

import random

import mpmath

from edhie.errors import EdhieError
from edhie.expr.canonical import canonical_expr
from edhie.expr.expression import Expr
from edhie.expr.precise import value_or_none
from edhie.expr.sympy_pool import shared_worker
from edhie.expr.sympy_tasks import expr_from, request

WANTED_POINTS = 12
MAX_TRIES = 100
DIGITS = 30


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
    for _ in range(MAX_TRIES):
        point = {name: mpmath.mpf(draw.uniform(-4, 4)) for name in a.library.variables}
        constants = [mpmath.mpf(draw.uniform(-4, 4)) for _ in a.constants]
        unfitted = [value for value, known in zip(constants, a.constants, strict=True) if known is None]
        left = value_or_none(a, point, DIGITS, constants=unfitted)
        if left is None:
            continue
        right = value_or_none(b, point, DIGITS, constants=[constants[i] for i in places])
        if right is None or abs(left - right) > 1e-8 * max(1, abs(left)):
            return False
        agreed += 1
        if agreed == WANTED_POINTS:
            break
    return agreed > 0
