"""Full simplification: slow, by SymPy, within a time limit, and checked."""

from __future__ import annotations

import random

import mpmath

from edhie.errors import EdhieError
from edhie.expr.canonical import canonical_expr
from edhie.expr.expression import Expr
from edhie.expr.precise import UndefinedError, precise_value
from edhie.expr.sympy_pool import shared_worker
from edhie.expr.sympy_tasks import expr_from, request

CHECKED_POINTS = 6
DIGITS = 30


def simplify(expr: Expr, *, time_limit: float = 5.0) -> Expr:
    """The shortest of SymPy's simplification, the canonical form and the expression itself.

    SymPy works in a process of its own and is stopped after `time_limit` seconds. Its result
    counts only if it agrees with the input at random points where that is defined. The
    result's library has numbers and, where SymPy brings them in, further operators.

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
        if _agree(expr, found):
            candidates.append(found)
    return min(reversed(candidates), key=lambda candidate: candidate.size)  # of equals, SymPy's


def _agree(a: Expr, b: Expr) -> bool:
    """Whether b has a's values at some random points of a's domain; unfitted constants are left aside."""
    if a.constants.count(None):
        return True  # SymPy may have renumbered them
    draw = random.Random(0)
    for _ in range(CHECKED_POINTS * 4):
        with mpmath.workdps(DIGITS):
            point = {name: mpmath.mpf(draw.uniform(-4, 4)) for name in a.library.variables}
            try:
                left = precise_value(a, point)
            except UndefinedError:
                continue
            try:
                right = precise_value(b, point)
            except UndefinedError:
                return False
            if abs(left - right) > mpmath.mpf(10) ** (-8) * max(1, abs(left)):
                return False
    return True
