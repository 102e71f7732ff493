"""Is an answer the formula that was looked for? Yes, no or undecided, inside the ranges of a problem.

An answer is the formula where one of these holds:

1. At `POINTS` random points of the ranges both have the same value to 30 digits, computed with 60. Where that takes too
   long, SymPy may prove it.
2. It holds numbers that were fitted, its RMSE is at the level of rounding (the threshold of success), and 1 holds once
   the numbers are snapped to readable ones near by: 1/2, pi/4, …
3. It holds numbers that were fitted, its RMSE is at the level of rounding, and at `FRESH` new points it is off by less
   than 1e-6 of the value, or of a thousandth of the values' deviation where a value is smaller. The points reach beyond
   the data's ranges by a quarter of their width: what only comes close inside them leaves the formula there.

It is not where it has no value at a point at which the formula has one, or differs at one. Ranges matter: on [1, 5]
sqrt(x^2) is x. Undecided is what takes too long. Under noise constants are fitted to the noise too, so that the form is
what is judged: with `refit`, its constants are first fitted again, to data without noise.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any, Literal

import mpmath
import numpy as np
from numpy.typing import NDArray

from edhie.bench.metrics import success_threshold
from edhie.bench.problem import Problem
from edhie.evaluate import THOROUGH, Data, fit_constants, read_data
from edhie.evaluate.constants.rounding import readable
from edhie.expr import Expr, Forest
from edhie.expr.interpret import interpret
from edhie.expr.precise import UndefinedError, precise_value
from edhie.expr.standard_libraries import everything

Verdict = Literal["yes", "no", "undecided"]
POINTS, DIGITS, AGREEMENT = 40, 60, 30
FRESH, CLOSE, SMALL, BEYOND = 2000, 1e-6, 1e-3, 0.25
SNAP_SLACK = 1e-3  # the share by which snapping may raise an error that is only rounding
MOST_SNAPPED = 8  # more numbers than these take long, and hardly one of them would be readable


def is_equivalent(
    expr: Expr, problem: Problem, *, seed: int = 0, refit: bool = False, time_limit: float = 10.0
) -> Verdict | None:
    """Whether an expression over the problem's variables is its formula; None where nobody knows that.

    `seed` is that of the data that it was found in.
    """
    if problem.truth is None:
        return None
    customs = (symbol for symbol in expr.library.symbols if symbol.is_custom)
    answer = expr.cast(everything(problem.names).extended(*customs))
    data = _data(problem, seed)
    if refit and answer.constants:
        answer = fit_constants(Forest.from_exprs([answer]), data, config=THOROUGH).forest[0]
    deadline = time.monotonic() + time_limit
    found = _is_same(answer, problem, deadline, seed)
    if found != "no" or not _has_fitted_numbers(answer):
        return found
    if not _rmse(answer, data) < success_threshold(data.y):
        return "no"
    if time.monotonic() < deadline and _is_same(_snapped(answer, data), problem, deadline, seed) == "yes":
        return "yes"
    return "yes" if _stays_close(answer, problem, seed) else "no"


def _is_same(answer: Expr, problem: Problem, deadline: float, seed: int) -> Verdict:
    """By values at points of the ranges, to many digits."""
    truth = problem.truth
    if truth is None or None in answer.constants:
        return "undecided"
    rng = np.random.default_rng([seed, POINTS])
    try:
        with mpmath.workdps(DIGITS):
            for row in problem.points(POINTS, rng):
                point = {name: mpmath.mpf(float(value)) for name, value in zip(problem.names, row, strict=True)}
                if not _agree(answer, truth, point, deadline):
                    return "no"
    except TimeoutError:
        from edhie.expr.equivalence import equivalent

        return equivalent(answer, truth, time_limit=1.0, seed=seed).verdict
    return "yes"


def _agree(answer: Expr, truth: Expr, point: Mapping[str, Any], deadline: float) -> bool:
    """Whether both have the same value at a point; true where the formula has none."""
    try:
        wanted = precise_value(truth, point, deadline=deadline)
    except UndefinedError:
        return True
    try:
        found = precise_value(answer, point, deadline=deadline)
    except UndefinedError:
        return False
    unit = mpmath.mpf(10) ** -AGREEMENT
    return bool(abs(found - wanted) <= unit * max(abs(wanted), abs(found), unit))


# -- numbers that were fitted ---------------------------------------------------------


def _has_fitted_numbers(expr: Expr) -> bool:
    """Whether it holds a constant, or a number that is not whole."""
    numbers = [float(token) for token in expr.tokens if expr.library[token].kind == "number"]
    return bool(expr.constants) or any(number != int(number) for number in numbers if math.isfinite(number))


def _snapped(answer: Expr, data: Data) -> Expr:
    """The expression with readable numbers for those that were fitted."""
    free = answer.numbers_to_constants()
    return readable(free, data, slack=SNAP_SLACK) if len(free.constants) <= MOST_SNAPPED else answer


def _data(problem: Problem, seed: int) -> Data:
    X, y = problem.data("train", seed)  # noqa: N806
    return read_data(X, y, names=problem.names, allow_constant_target=True)


def _rmse(expr: Expr, data: Data) -> float:
    found = _values(expr, data.names, data.columns)
    return float(np.sqrt(np.mean(np.square(found - data.y)))) if np.isfinite(found).all() else math.inf


def _stays_close(answer: Expr, problem: Problem, seed: int) -> bool:
    """Whether values agree inside the ranges and a bit beyond, wherever the formula has one."""
    if problem.truth is None:
        return False
    share = np.random.default_rng([seed, FRESH]).uniform(size=(len(problem.variables), FRESH))
    ends = np.array([_widened(each.low, each.high) for each in problem.variables])
    columns = ends[:, :1] + share * (ends[:, 1:] - ends[:, :1])
    wanted = _values(problem.truth, problem.names, columns)
    is_known = np.isfinite(wanted)
    found, wanted = _values(answer, problem.names, columns)[is_known], wanted[is_known]
    if not len(wanted) or not np.isfinite(found).all():
        return False
    unit = np.maximum(np.abs(wanted), SMALL * np.std(wanted))
    return bool((np.abs(found - wanted) <= CLOSE * unit).all())


def _widened(low: float, high: float) -> tuple[float, float]:
    """The range and a quarter of it on both sides; it does not come to a sign that it did not have."""
    more = BEYOND * (high - low)
    below = low - more if low < 0 else max(low - more, low / 2)
    above = high + more if high > 0 else min(high + more, high / 2)
    return below, above


def _values(expr: Expr, names: tuple[str, ...], columns: NDArray[np.float64]) -> NDArray[np.float64]:
    found = interpret(expr, dict(zip(names, columns, strict=True)))
    return np.array(np.broadcast_to(found, columns.shape[1:]), dtype=np.float64)
