"""Polish constants: from a good fit to the optimum, to the last digits."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.arrays import Numbers
from edhie.evaluate.constants.fitting import FitConfig, Fitted, fit_constants
from edhie.evaluate.constants.jacobian import Response, constants_of_each
from edhie.evaluate.constants.slope_svd import SlopeSVD
from edhie.evaluate.data import Data
from edhie.evaluate.values import squared_errors
from edhie.expr import Forest

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
    return _better(best, _finely(best.forest, data, lower, upper), data)


def gauss_newton(
    response: Response,
    constants: Numbers,
    y: Numbers,
    weights: Numbers | None,
    *,
    held: NDArray[np.bool_] | None = None,
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


def _finely(forest: Forest, data: Data, lower: float, upper: float) -> Forest:
    """Improve the constants of each expression by Gauss-Newton steps."""
    values = forest.values.copy()
    for k, own in enumerate(constants_of_each(forest)):
        if len(own):
            response = Response(forest[k : k + 1], data.columns)
            found, _ = gauss_newton(response, response.constants, data.y, data.weights, lower=lower, upper=upper)
            values[own] = found
    return forest.with_values(values)


def _better(best: Fitted, other: Forest, data: Data) -> Fitted:
    """Return the better constants of each expression, the first ones where both are equally good."""
    before = best.forest.values
    usable = np.where(np.isnan(other.values), before, other.values)
    errors = squared_errors(other.with_values(usable), data)
    improved = errors < best.squared_errors
    forest = other.with_values(np.where(improved[other.value_owners], usable, before))
    return replace(best, forest=forest, squared_errors=np.where(improved, errors, best.squared_errors))
