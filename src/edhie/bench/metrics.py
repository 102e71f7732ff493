"""Measures of a run; and whether an answer is equivalent to a problem's formula, within the ranges of its variables.

Equivalence is "yes" if both have the same value to 30 digits, computed with 60, at `POINTS` random points. An answer
with fitted numbers is also equivalent if

1. its RMSE is below the threshold of success, which is at the level of rounding errors, and
2. its numbers, refined to many digits, give the same agreement at points that were not used to refine them,
   either as fitted or after those close to an integer are rounded to it.

"No" if they differ at a point, or if the answer is undefined where the formula is not. Ranges matter: on [1, 5]
sqrt(x^2) is x. "Undecided" if it takes too long and SymPy cannot decide it either. Under noise, constants are fitted
to the noise too, so only the form is judged: with `refit`, they are first fitted again, to data without noise.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Literal

import mpmath
import numpy as np

from edhie.arrays import Indices, Numbers
from edhie.bench.problem import BenchmarkProblem
from edhie.evaluate import THOROUGH, fit_constants, read_data
from edhie.expr import Expr, Forest
from edhie.expr.interpret import interpret
from edhie.expr.precise import UndefinedError, precise_value
from edhie.expr.standard_libraries import everything

STRICT = 1e-10  # the RMSE that the paper asks for, whatever the target's size
Real = Any  # mpmath.mpf: mpmath has no types
Point = dict[str, Real]
Verdict = Literal["yes", "no", "undecided"]
POINTS, DIGITS, AGREEMENT = 40, 60, 30
STEP, RIDGE = 30, 50  # digits of the finite-difference step, and of the ridge, which redundant numbers need
ROUNDS = 8
ENOUGH = 50  # digits of agreement at which refining stops
MOST_NUMBERS = 16
NEAR = 1e-4  # distance to an integer; refining converges slowly to some of them, as at a double root


def success_threshold(y: Numbers) -> float:
    """Return the RMSE below which a formula counts as found: the paper's 1e-10, times the target's deviation if over 1.

    On [-20, 20] rounding alone gives the formula of NG-4 a larger RMSE than 1e-10.
    """
    return STRICT * max(1.0, float(np.std(y)))


def bounded_r2(y: Numbers, y_hat: Numbers, train_mean: float) -> float:
    """Return the paper's max(0, R²) on a test set, about the training mean; 0 if a value is not finite."""
    if not np.isfinite(y_hat).all():
        return 0.0
    with np.errstate(all="ignore"):
        left = float(np.square(y - y_hat).sum())
        whole = float(np.square(y - train_mean).sum())
    if not np.isfinite(left):
        return 0.0
    if whole == 0:
        return float(left == 0)
    return max(0.0, 1.0 - left / whole)


def evaluated_to_success(errors: Numbers, executed_at: Indices, threshold: float) -> int | None:
    """Return the number of expressions executed up to the first below the threshold; None if there is none."""
    found = executed_at[errors < threshold]
    return int(found.min()) if len(found) else None


def rank_of_truth(noisy: Numbers, clean: Numbers, threshold: float) -> int | None:
    """Return the rank by noisy error, from 1, of the first expression that is correct without noise.

    Ties keep their order. None if no expression is correct.
    """
    order = np.argsort(noisy, kind="stable")
    right = np.flatnonzero(clean[order] < threshold)
    return int(right[0]) + 1 if len(right) else None


# -- equivalence ----------------------------------------------------------------------------


def freed(expr: Expr, near: float = 0.0) -> tuple[Expr, list[float]]:
    """Return the expression with free constants in place of its numbers, and their values; integers stay.

    Numbers within `near` of an integer are rounded to it and stay too.
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
    """Return the numbers with which the form fits the formula at these points, by Gauss-Newton with many digits.

    Raise `UndefinedError` if the form has no value there, and `TimeoutError` after the deadline.
    """
    with mpmath.workdps(DIGITS):
        wanted = [precise_value(truth, point, deadline=deadline) for point in points]

        def residuals(numbers: list[Real]) -> list[Real]:
            found = (precise_value(form, point, constants=numbers, deadline=deadline) for point in points)
            return [a - b for a, b in zip(found, wanted, strict=True)]

        numbers = [mpmath.mpf(value) for value in values]
        for _ in range(ROUNDS):
            left = residuals(numbers)
            if max(map(abs, left)) <= mpmath.mpf(10) ** -ENOUGH * max(map(abs, wanted)):
                break
            numbers = [a - b for a, b in zip(numbers, _step(residuals, numbers, left), strict=True)]
        return numbers


def _step(residuals: Callable[[list[Real]], list[Real]], numbers: list[Real], left: list[Real]) -> list[Real]:
    """Return the Gauss-Newton step, whose slopes are finite differences; `left` are the present residuals."""
    slopes = []
    for k, number in enumerate(numbers):
        width = mpmath.mpf(10) ** -STEP * max(1, abs(number))
        moved = residuals([*numbers[:k], number + width, *numbers[k + 1 :]])
        slopes.append([(a - b) / width for a, b in zip(moved, left, strict=True)])
    jacobian = mpmath.matrix(slopes).T
    squares = jacobian.T * jacobian
    ridge = mpmath.mpf(10) ** -RIDGE * (sum(squares[k, k] for k in range(len(numbers))) or 1)
    for k in range(len(numbers)):
        squares[k, k] += ridge
    return list(mpmath.lu_solve(squares, jacobian.T * mpmath.matrix(left)))


def is_equivalent(
    expr: Expr, problem: BenchmarkProblem, *, seed: int = 0, refit: bool = False, time_limit: float = 10.0
) -> Verdict | None:
    """Return whether an expression over the problem's variables is its formula; None if the formula is unknown.

    `seed` is that of the data to which it was fitted.
    """
    if problem.truth is None:
        return None
    customs = (symbol for symbol in expr.library.symbols if symbol.is_custom)
    answer = expr.cast(everything(problem.names).extended(*customs))
    X, y = problem.data("train", seed)  # noqa: N806
    data = read_data(X, y, names=problem.names, allow_constant_target=True)
    if refit and answer.constants:
        answer = fit_constants(Forest.from_exprs([answer]), data, config=THOROUGH).forest[0]
    deadline = time.monotonic() + time_limit
    found = _is_same(answer, [], problem, deadline, seed)
    if found != "no" or not freed(answer)[1]:
        return found
    values = interpret(answer, dict(zip(data.names, data.columns, strict=True)))
    with np.errstate(all="ignore"):
        is_success = np.sqrt(np.mean(np.square(values - data.y))) < success_threshold(data.y)
    if not is_success:
        return found
    verdicts = [_is_same_refined(*freed(answer, near), problem, deadline, seed) for near in (0.0, NEAR)]
    return max(verdicts, key=("no", "undecided", "yes").index)


def _is_same_refined(
    form: Expr, numbers: list[float], problem: BenchmarkProblem, deadline: float, seed: int
) -> Verdict:
    """Return whether the form is the formula once its numbers are refined, starting from these."""
    if not numbers:
        return _is_same(form, [], problem, deadline, seed)
    if problem.truth is None or len(numbers) > MOST_NUMBERS:
        return "undecided"
    points = _points(problem, 2 * len(numbers) + 6, np.random.default_rng([seed, POINTS + 1]))
    try:
        better = refined(form, numbers, problem.truth, points, deadline)
    except TimeoutError:
        return "undecided"
    except (UndefinedError, ZeroDivisionError):
        return "no"
    return _is_same(form, better, problem, deadline, seed)


def _is_same(answer: Expr, numbers: list[Real], problem: BenchmarkProblem, deadline: float, seed: int) -> Verdict:
    """Compare values at points of the ranges, to many digits; `numbers` are the values of free constants."""
    truth = problem.truth
    if truth is None or answer.constants.count(None) != len(numbers):
        return "undecided"
    try:
        with mpmath.workdps(DIGITS):
            for point in _points(problem, POINTS, np.random.default_rng([seed, POINTS])):
                if not _agree(answer, numbers, truth, point, deadline):
                    return "no"
    except TimeoutError:
        from edhie.expr.equivalence import equivalent

        return "undecided" if numbers else equivalent(answer, truth, time_limit=1.0, seed=seed).verdict
    return "yes"


def _points(problem: BenchmarkProblem, n: int, rng: np.random.Generator) -> list[Point]:
    rows = problem.points(n, rng).tolist()
    return [{name: mpmath.mpf(value) for name, value in zip(problem.names, row, strict=True)} for row in rows]


def _agree(answer: Expr, numbers: list[Real], truth: Expr, point: Point, deadline: float) -> bool:
    """Return whether both have the same value at a point; True if the formula is undefined there."""
    try:
        wanted = precise_value(truth, point, deadline=deadline)
    except UndefinedError:
        return True
    try:
        found = precise_value(answer, point, constants=numbers, deadline=deadline)
    except UndefinedError:
        return False
    unit = mpmath.mpf(10) ** -AGREEMENT
    return bool(abs(found - wanted) <= unit * max(abs(wanted), abs(found), unit))
