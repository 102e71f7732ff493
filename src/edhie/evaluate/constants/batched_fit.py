"""`BatchedFit`: the constants of one expression at the optimum on all rows of a table that is read in batches."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.arrays import Numbers
from edhie.evaluate.constants.jacobian import Response
from edhie.evaluate.constants.polish import EPS, LEAST_DAMPING, MOST_DAMPING, PRECISION
from edhie.evaluate.constants.slope_svd import SlopeSVD, Triangle
from edhie.evaluate.constants.uncertainty import TiedConstants
from edhie.evaluate.data import Data
from edhie.expr import Expr

Weigh = Callable[[Numbers, Data], Numbers | None]
"""From predictions and rows to the weights of the rows; None if all are equal."""
ENOUGH = 1e-12  # predicted decrease of the sum of squares over the variance: 10⁻⁶ standard errors from the optimum
NEARLY, STALLED = 1e-6, 0.25  # so small a decrease ends the fit if it is over a quarter of the last: that is rounding
SAME = 1e-12  # relative increase of a sum of squares that rounding explains
PERFECT = 1e-28  # mean squared error over the mean square of the target: rounding


def linearise(
    expr: Expr, batch: Data, weigh: Weigh, triangle: Triangle, ties: TiedConstants | None
) -> tuple[Numbers, Triangle]:
    """Return the values of an expression on some rows, and the triangle with its slopes and residuals there."""
    response = Response(expr, batch.columns)
    ties = ties or TiedConstants.none(len(response.constants))
    if triangle.n_rows == 0:
        triangle = Triangle.empty(ties.n_different)
    with np.errstate(all="ignore"):
        values, slopes = response.jacobian(response.constants)
        triangle = triangle.plus(ties.together(slopes), batch.y - values, weigh(values, batch))
    return values, triangle


class BatchedFit:
    """Damped Gauss-Newton steps, each of which takes one pass over the rows: `add` all batches, then `advance`."""

    def __init__(
        self,
        expr: Expr,
        weigh: Weigh,
        *,
        ties: TiedConstants | None = None,
        held: NDArray[np.bool_] | None = None,
        reweights: bool = False,
        lower: float = -math.inf,
        upper: float = math.inf,
    ) -> None:
        self.expr = expr
        """The expression with the best constants so far."""
        constants = np.array(expr.constants, np.float64)
        self._ties = ties or TiedConstants.none(len(constants))
        is_held = np.zeros(len(constants)) if held is None else held.astype(np.float64)
        self._free = self._ties.different(is_held) == 0
        self.is_done = not self._free.any()
        self._weigh, self._reweights = weigh, reweights  # weights that depend on predictions change with each step
        self._bounds = lower, upper
        self._best = self._trial = self._ties.different(constants)
        self._of_best = self._of_trial = Triangle.empty(0)
        self._target = 0.0  # sum of its squares
        self._merit = self._gain = math.inf
        self._damping = 0.0

    def add(self, batch: Data) -> None:
        """Add rows to the pass."""
        if self._of_trial.n_rows and not math.isfinite(self._of_trial.squared_error):
            return
        _, self._of_trial = linearise(self._with(self._trial), batch, self._weigh, self._of_trial, self._ties)
        self._target += float(batch.y @ batch.y)

    def advance(self) -> None:
        """End the pass: accept or reject the trial constants, and choose the next."""
        tried, self._of_trial = self._of_trial, Triangle.empty(0)
        target, self._target = self._target, 0.0
        error = tried.squared_error
        gain = self._directions(tried).gain(tried.residuals, precision=PRECISION) if math.isfinite(error) else math.inf
        merit = gain / error if self._reweights and error > 0 else error
        if not math.isfinite(merit) and not self._of_best.n_rows:
            self.is_done = True  # it has no value in some row
            return
        if merit <= self._merit * (1.0 + SAME):
            last, self._gain, self._merit = self._gain, gain, merit
            self._best, self._of_best, self.expr = self._trial, tried, self._with(self._trial)
            unit = error / tried.n_rows
            has_stalled = gain <= NEARLY * unit and gain > STALLED * last
            self.is_done = gain <= ENOUGH * unit or has_stalled or error <= PERFECT * target
            self._damping = 0.1 * self._damping if self._damping > LEAST_DAMPING else 0.0
        else:
            self._damping = max(100.0 * self._damping, LEAST_DAMPING)
            self.is_done = self._damping > MOST_DAMPING
        if not self.is_done:
            self._step()

    def _step(self) -> None:
        directions = self._directions(self._of_best)
        trial = self._best.copy()
        trial[self._free] += directions.step(self._of_best.residuals, damping=self._damping, precision=PRECISION)
        trial = np.where(self._free, np.clip(trial, *self._bounds), trial)
        has_moved = ~(np.abs(trial - self._best) <= EPS * np.abs(self._best))
        self._trial = trial
        self.is_done = not (has_moved.any() and np.isfinite(trial).all())

    def _directions(self, triangle: Triangle) -> SlopeSVD:
        return SlopeSVD.of(triangle.slopes[self._free])

    def _with(self, parameters: Numbers) -> Expr:
        return self.expr.with_constants(parameters[list(self._ties.of)].tolist())
