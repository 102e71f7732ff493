"""Readable numbers in place of fitted constants, where the error stays the same."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.constants.jacobian import Response
from edhie.evaluate.constants.neutral_numbers import narrowed, without_neutral
from edhie.evaluate.constants.polish import gauss_newton, polish
from edhie.evaluate.constants.readable_numbers import ReadableNumber, in_full, number_library, readable_numbers
from edhie.evaluate.constants.slope_svd import SlopeSVD
from edhie.evaluate.data import Data, error_limit
from edhie.evaluate.values import squared_errors
from edhie.expr import Expr, Forest

BEYOND_PREDICTION = 3.0  # times the distance that a constant may be moved by its slopes


def readable(expr: Expr, data: Data, *, slack: float = 1e-6) -> Expr:
    """Return the expression with readable numbers for its constants; its error rises by a share of `slack` at most.

    Constants are replaced one by one, those that the data determine best first, by the simplest number for which the
    others can compensate: `0.4999999*x0` becomes `x0/2`. Error is the sum of squares; a rise below the ninth digit of
    the target is rounding and does not count. An expression that is not finite on the data is returned unchanged.
    """
    best = polish(Forest.from_exprs([expr]), data)
    polished, error = best.forest[0], float(best.squared_errors[0])
    if not expr.constants or not math.isfinite(error):
        return expr
    limit = error_limit(error, data, slack=slack)
    wide = number_library(expr.library)
    state = _Rounding(polished, data, error)
    chosen: dict[int, ReadableNumber] = {}
    for turn in range(len(expr.constants)):
        share = error + (limit - error) * (turn + 1) / len(expr.constants)
        k, reach = state.most_certain(share)
        for candidate in readable_numbers(float(state.constants[k]), reach, wide):
            if state.hold(k, candidate.value, share):
                break
        else:  # rounding errors: it is held at its own value
            candidate = in_full(float(state.constants[k]))
            state.hold(k, candidate.value, math.inf)
        chosen[k] = candidate
    exact = Expr(expr.library.with_numbers(), _with_numbers(polished, [in_full(c).tokens for c in state.constants]))
    spelled = Expr(wide, _with_numbers(polished, [chosen[k].tokens for k in range(len(chosen))]))
    spelled = narrowed(spelled, expr.library)
    for found in (without_neutral(spelled), spelled):
        if squared_errors(Forest.from_exprs([found]), data)[0] <= limit:
            return found
    return exact


class _Rounding:
    """Constants of one expression, some held at numbers, the others refitted."""

    def __init__(self, expr: Expr, data: Data, error: float) -> None:
        self.response, self.data, self.error = Response(expr, data.columns), data, error
        self.constants = self.response.constants
        self.held: NDArray[np.bool_] = np.zeros(len(self.constants), np.bool_)

    def most_certain(self, limit: float) -> tuple[int, float]:
        """Return the constant with the least relative error among those left, and the distance that it may be moved."""
        free = np.flatnonzero(~self.held)
        _, slopes = self.response.jacobian(self.constants)
        directions = SlopeSVD.of(slopes[free], self.data.weights)
        spread = np.sqrt(np.diag(directions.inverse(self.response.precision)))
        with np.errstate(all="ignore"):
            relative = np.where(self.constants[free] != 0, spread / np.abs(self.constants[free]), np.inf)
        best = int(np.nanargmin(relative))
        # with the others refitted, the error rises by (distance/spread)²
        reach = BEYOND_PREDICTION * math.sqrt(max(limit - self.error, 0.0)) * spread[best]
        return int(free[best]), math.inf if math.isnan(reach) else float(reach)

    def hold(self, k: int, value: float, limit: float) -> bool:
        """Hold a constant at a number and refit the others, if the error stays within the limit."""
        trial, held = self.constants.copy(), self.held.copy()
        trial[k], held[k] = value, True
        found, error = gauss_newton(self.response, trial, self.data.y, self.data.weights, held=held)
        if not error <= limit:
            return False
        self.constants, self.held, self.error = found, held, error
        return True


def _with_numbers(expr: Expr, numbers: list[tuple[str, ...]]) -> list[str]:
    """Return the expression's tokens with each constant replaced by the tokens of a number."""
    following = iter(numbers)
    pieces = (next(following) if token == expr.library.constant else (token,) for token in expr.tokens)
    return [token for piece in pieces for token in piece]
