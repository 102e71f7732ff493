"""Fitted numbers carried on to many digits, to tell a form that is a formula from one that comes close.

A fit in doubles cannot tell: a polynomial of degree nine is the sine to ten digits. With its numbers refined to more
digits than doubles have, a form that holds the formula agrees to all of them, and one that does not stays where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mpmath

from edhie.expr import Expr
from edhie.expr.precise import precise_value

Real = Any  # mpmath.mpf: mpmath has no types
Point = dict[str, Real]
DIGITS = 80
STEP, RIDGE = 30, 50  # digits: of the step of a difference, and of what makes numbers that are not needed stay
ROUNDS = 8
ENOUGH = 50  # digits that agree
MOST_NUMBERS = 16


def freed(expr: Expr, near: float = 0.0) -> tuple[Expr, list[float]]:
    """The expression with its fitted numbers free, and their values; whole ones stay: no fit gives them by chance.

    Those that are `near` to a whole number are put there and stay too.
    """
    tokens: list[str] = []
    constants: list[float | None] = []
    values: list[float] = []
    fitted = iter(expr.constants)
    for token in expr.tokens:
        kind = expr.library[token].kind
        value = next(fitted) if kind == "constant" else float(token) if kind == "number" else None
        if value is None or (kind == "number" and value.is_integer()):
            tokens.append(token)
            continue
        tokens.append(str(expr.library.constant))
        is_free = abs(value - round(value)) > near
        constants.append(None if is_free else float(round(value)))
        if is_free:
            values.append(value)
    return Expr(expr.library, tokens, constants), values


def refined(form: Expr, values: Sequence[float], truth: Expr, points: Sequence[Point], deadline: float) -> list[Real]:
    """The numbers with which the form fits the formula at these points, by Gauss and Newton's method in many digits.

    Raises `UndefinedError` where the form has no value, and `TimeoutError` once the deadline is over.
    """
    with mpmath.workdps(DIGITS):
        wanted = [precise_value(truth, point, deadline=deadline) for point in points]

        def misses(numbers: list[Real]) -> list[Real]:
            found = (precise_value(form, point, constants=numbers, deadline=deadline) for point in points)
            return [a - b for a, b in zip(found, wanted, strict=True)]

        numbers = [mpmath.mpf(value) for value in values]
        for _ in range(ROUNDS):
            left = misses(numbers)
            if max(map(abs, left)) <= mpmath.mpf(10) ** -ENOUGH * max(map(abs, wanted)):
                break
            numbers = [a - b for a, b in zip(numbers, _step(misses, numbers, left), strict=True)]
        return numbers


def _step(misses: Callable[[list[Real]], list[Real]], numbers: list[Real], left: list[Real]) -> list[Real]:
    """The least step that takes the misses away, as far as straight slopes say."""
    slopes = []
    for k, number in enumerate(numbers):
        width = mpmath.mpf(10) ** -STEP * max(1, abs(number))
        moved = misses([*numbers[:k], number + width, *numbers[k + 1 :]])
        slopes.append([(a - b) / width for a, b in zip(moved, left, strict=True)])
    jacobian = mpmath.matrix(slopes).T
    squares = jacobian.T * jacobian
    ridge = mpmath.mpf(10) ** -RIDGE * (sum(squares[k, k] for k in range(len(numbers))) or 1)
    for k in range(len(numbers)):
        squares[k, k] += ridge
    return list(mpmath.lu_solve(squares, jacobian.T * mpmath.matrix(left)))
