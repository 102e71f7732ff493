"""Polish constants: from a good fit to the optimum, to the last digits.

`BatchedFit` does it for one expression on all rows of a table that is read in batches.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from edhie.arrays import Flags, Numbers
from edhie.evaluate.constants.fitting import FitConfig, Fitted, fit_constants
from edhie.evaluate.constants.jacobian import Response, constants_of_each
from edhie.evaluate.constants.slope_svd import SlopeSVD, Triangle
from edhie.evaluate.constants.uncertainty import TiedConstants, Weigh, linearise
from edhie.evaluate.data import Data
from edhie.evaluate.values import squared_errors
from edhie.expr import Expr, Forest

EPS = float(np.finfo(np.float64).eps)
COARSE_STEPS, FINE_STEPS = 200, 60
LEAST_DAMPING, MOST_DAMPING = 1e-8, 1e6
PRECISION = 1e-13  # directions weaker than this share of the strongest are rounding


def polish(forest: Forest, data: Data, *, lower: float = -math.inf, upper: float = math.inf) -> Fitted:
    """Improve constants that have values, on all rows, until nothing improves; no error gets worse.

    Compiled steps come first. Their normal equations square the condition number and lose half of the digits, so the
    last steps use a singular value decomposition.
    """
    config = FitConfig(
        points=0, starts=1, iterations=COARSE_STEPS, tolerance=1e-12, enough=0.0, rows=None, lower=lower, upper=upper
    )
    best = Fitted(forest, squared_errors(forest, data), is_cut=np.zeros(len(forest), np.bool_))
    best = _better(best, fit_constants(forest, data, config=config).forest, data)
    finer = best.forest.values.copy()
    for k, own in enumerate(constants_of_each(best.forest)):
        if len(own):
            response = Response(best.forest[k : k + 1], data.columns)
            finer[own], _ = gauss_newton(response, response.constants, data.y, data.weights, lower=lower, upper=upper)
    return _better(best, best.forest.with_values(finer), data)


def gauss_newton(
    response: Response,
    constants: Numbers,
    y: Numbers,
    weights: Numbers | None,
    *,
    held: Flags | None = None,
    lower: float = -math.inf,
    upper: float = math.inf,
    steps: int = FINE_STEPS,
) -> tuple[Numbers, float]:
    """Improve constants, except those held, by damped Gauss-Newton steps; return them and their sum of squares."""
    free = np.ones(len(constants), np.bool_) if held is None else ~held
    roots = None if weights is None else np.sqrt(weights)
    current = constants.copy()
    values, slopes = response.jacobian(current)
    residuals, error = _residuals(values, y, roots)
    damping = 0.0
    if not free.any() or not math.isfinite(error):
        return current, error
    for _ in range(steps):
        directions = SlopeSVD.of(slopes[free], weights)
        if directions.gain(residuals, precision=PRECISION) <= EPS * error:
            break
        while True:
            trial = current.copy()
            trial[free] += directions.step(residuals, damping=damping, precision=PRECISION)
            trial = np.where(free, np.clip(trial, lower, upper), trial)
            moved = ~(np.abs(trial - current) <= EPS * np.abs(current))
            reached = _residuals(response.values(trial), y, roots)[1] if np.isfinite(trial).all() else math.inf
            if reached < error or not moved.any():
                break
            damping = max(100.0 * damping, LEAST_DAMPING)
            if damping > MOST_DAMPING:
                return current, error
        if not reached < error:
            break
        gain = error - reached
        current, damping = trial, damping * 0.01 if damping > LEAST_DAMPING else 0.0
        values, slopes = response.jacobian(current)
        residuals, error = _residuals(values, y, roots)
        if gain <= EPS * reached and damping == 0.0:
            break
    return current, error


def _residuals(values: Numbers, y: Numbers, roots: Numbers | None) -> tuple[Numbers, float]:
    """Return weighted residuals and their sum of squares, infinite where one is not finite."""
    with np.errstate(all="ignore"):
        residuals = y - values if roots is None else (y - values) * roots
        total = float(residuals @ residuals)
    return residuals, total if math.isfinite(total) else math.inf


def _better(best: Fitted, other: Forest, data: Data) -> Fitted:
    """Return the better constants of each expression, the first ones where both are equally good."""
    before = best.forest.values
    usable = np.where(np.isnan(other.values), before, other.values)
    errors = squared_errors(other.with_values(usable), data)
    improved = errors < best.squared_errors
    forest = other.with_values(np.where(improved[other.value_owners], usable, before))
    return replace(best, forest=forest, squared_errors=np.where(improved, errors, best.squared_errors))


# -- on a table that is read in batches ------------------------------------------------

ENOUGH = 1e-12  # predicted decrease of the sum of squares over the variance: 10⁻⁶ standard errors from the optimum
NEARLY, STALLED = 1e-6, 0.25  # so small a decrease ends the fit if it is over a quarter of the last: that is rounding
SAME = 1e-12  # relative increase of a sum of squares that rounding explains
PERFECT = 1e-28  # mean squared error over the mean square of the target: rounding


class BatchedFit:
    """Damped Gauss-Newton steps, each of which takes one pass over the rows: `add` all batches, then `advance`."""

    def __init__(
        self,
        expr: Expr,
        weigh: Weigh,
        *,
        ties: TiedConstants | None = None,
        held: Flags | None = None,
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
        response = Response(self._with(self._trial), batch.columns)
        _, self._of_trial = linearise(response, batch, self._weigh, self._ties, self._of_trial)
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
