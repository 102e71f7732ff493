"""Fits of expressions with a user's operators, which have no kernels: from the best of many points, as the others."""

from __future__ import annotations

import numpy as np

from edhie.arrays import Indices, Numbers
from edhie.evaluate.constants.fitting import FitConfig
from edhie.evaluate.constants.jacobian import Response, constants_of_each
from edhie.evaluate.data import Data
from edhie.evaluate.machine.program import plan
from edhie.expr import Forest

EPS = float(np.finfo(np.float64).eps)


def fit_custom(
    fitted: Forest, errors: Numbers, places: Indices, data: Data, config: FitConfig
) -> tuple[Forest, Numbers]:
    """Fit the expressions at `places`; return the whole forest and its sums of squares."""
    values, errors = fitted.values.copy(), errors.copy()
    positions = constants_of_each(fitted)
    for k in places.tolist():
        own = positions[k]
        given = np.clip(values[own], config.lower, config.upper)
        values[own], errors[k] = _fit(fitted[k : k + 1], given, data, config)
    return fitted.with_values(values), errors


def _fit(one: Forest, given: Numbers, data: Data, config: FitConfig) -> tuple[Numbers, float]:
    """Return the best constants of one expression, from those given, if any, and from many points, and their error."""
    # a function of the constants does not use their values, but has to have some
    known = one.with_values(np.where(np.isnan(one.values), 1.0, one.values))
    response, enough = Response(known, data.columns), config.enough * data.squares_to_explain
    best, error = given, float(_errors(response, given[np.newaxis], data)[0])
    if len(given) and error < np.inf:
        best, error = _descended(response, given, data, config)
    if len(given) and error > enough:
        for start in _starting_points(one, response, data, config):
            found, reached = _descended(response, start, data, config)
            if reached < error:
                best, error = found, reached
            if error <= enough:
                break
    return best, float(_errors(response, best[np.newaxis], data)[0])  # exactly that of these constants


def _starting_points(one: Forest, response: Response, data: Data, config: FitConfig) -> Numbers:
    """Return the best of many points, best first, with their linear constants solved for."""
    from edhie.evaluate.constants.starts import leaf_scales, start_value

    program = plan(one)
    free = np.flatnonzero(program.is_free)
    n = min(config.points, 1) if response.is_linear.all() else config.points
    scales = leaf_scales(program, data.columns)
    starts = [[start_value(config.seed, k, j, scales[j]) for j in free.tolist()] for k in range(n)]
    points = np.clip(np.array(starts).reshape(n, len(free)), config.lower, config.upper)
    points = _with_linear_solved(points, response, data, config)
    errors = _errors(response, points, data)
    order = np.argsort(errors, kind="stable")[: config.starts]
    return np.asarray(points[order[np.isfinite(errors[order])]])


def _with_linear_solved(points: Numbers, response: Response, data: Data, config: FitConfig) -> Numbers:
    """Return the points with their linear constants solved for; unchanged where their slopes are not finite."""
    is_linear = response.is_linear
    if not is_linear.any() or not len(points):
        return points
    units = np.concatenate([np.zeros((1, len(is_linear))), np.eye(len(is_linear))[is_linear]])
    asked = np.where(is_linear, 0.0, points)[:, np.newaxis] + units
    found = response.values_at_each(asked.reshape(-1, len(is_linear))).reshape(len(points), len(units), -1)
    solved, roots = points.copy(), 1.0 if data.weights is None else np.sqrt(data.weights)
    with np.errstate(all="ignore"):
        slopes = (found[:, 1:] - found[:, :1]) * roots
        left = (data.y - found[:, 0]) * roots
    usable = np.isfinite(slopes).all(axis=(1, 2)) & np.isfinite(left).all(axis=1)
    for k in np.flatnonzero(usable).tolist():
        answer = np.linalg.lstsq(slopes[k].T, left[k])[0]
        solved[k, is_linear] = np.clip(answer, config.lower, config.upper)
    return solved


def _descended(response: Response, start: Numbers, data: Data, config: FitConfig) -> tuple[Numbers, float]:
    """Return the optimum that SciPy's least squares reach from a start, and its sum of squares."""
    from scipy.optimize import least_squares

    roots = 1.0 if data.weights is None else np.sqrt(data.weights)

    def residuals(constants: Numbers) -> Numbers:
        return np.asarray((response.values(constants) - data.y) * roots)

    def slopes(constants: Numbers) -> Numbers:
        found = response.jacobian(constants)[1] * roots
        return np.where(np.isfinite(found), found, 0.0).T

    is_bounded = (
        max(config.lower, -config.upper) > -np.inf or len(start) > data.n_rows
    )  # "lm" is faster, without bounds
    with np.errstate(all="ignore"):
        if not np.isfinite(residuals(start)).all():
            return start, np.inf
        found = least_squares(
            residuals, start, slopes, method="trf" if is_bounded else "lm", bounds=(config.lower, config.upper),
            x_scale="jac", ftol=max(config.tolerance, EPS), xtol=EPS, gtol=EPS, max_nfev=config.iterations,
        )  # fmt: skip
    return (found.x, 2.0 * found.cost) if np.isfinite(found.cost) else (start, np.inf)


def _errors(response: Response, points: Numbers, data: Data) -> Numbers:
    """Return the weighted sums of squares at several points, infinite where a value is not finite."""
    with np.errstate(all="ignore"):
        squares = np.square(response.values_at_each(points) - data.y)
        totals = squares.sum(axis=1) if data.weights is None else squares @ data.weights
    return np.where(totals < np.inf, totals, np.inf)
