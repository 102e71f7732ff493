"""Fit expressions with a user's operators, which have no kernels: by SciPy, on values from NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.constants.config import FitConfig
from edhie.evaluate.constants.jacobian import Response, constants_among_values
from edhie.evaluate.data import Data
from edhie.evaluate.program import plan
from edhie.expr import Forest

Numbers = NDArray[np.float64]

LEAST_TOLERANCE = 1e-15  # what SciPy takes
BEYOND = 1e150  # residuals whose squares still are numbers


def fit_custom(
    fitted: Forest, errors: Numbers, places: NDArray[np.int64], data: Data, config: FitConfig
) -> tuple[Forest, Numbers]:
    """The forest and its sums of squares with the expressions at `places` fitted; the others stay as they are."""
    values, errors = fitted.values.copy(), errors.copy()
    slots = np.flatnonzero(constants_among_values(fitted))
    bounds = np.searchsorted(slots, fitted.value_offsets)
    for k in places.tolist():
        own = slots[bounds[k] : bounds[k + 1]]
        one = fitted[k : k + 1]
        given = np.clip(values[own], config.lower, config.upper)
        response = _response(one, data)
        best, errors[k] = (given, _error(response, given, data)) if not np.isnan(given).any() else (given, np.inf)
        enough = config.enough * data.squares_to_explain
        for start in _starts(one, response, given, data, config) if len(own) else []:
            if errors[k] <= enough:
                break
            found = _descended(response, start, data, config)
            error = _error(response, found, data)
            if error < errors[k]:
                best, errors[k] = found, error
        values[own] = best
    return Forest(fitted.library, fitted.tokens, fitted.offsets, values), errors


def _response(one: Forest, data: Data) -> Response:
    """The expression as a function of its constants, which need no values for that."""
    known = np.where(np.isnan(one.values), 1.0, one.values)
    return Response(Forest(one.library, one.tokens, one.offsets, known), data.columns)


def _starts(one: Forest, response: Response, given: Numbers, data: Data, config: FitConfig) -> list[Numbers]:
    """The given values where there are, and the best of many points, as for all other expressions."""
    from edhie.evaluate.constants.linear_parts import find_linear
    from edhie.evaluate.constants.scales import leaf_scales
    from edhie.evaluate.constants.starts import start_value

    program = plan(one, keep=True)
    free = np.flatnonzero(program.is_free)
    scales = leaf_scales(program, data.columns)
    is_linear = np.zeros(program.n_registers, np.bool_)
    find_linear(program, 0, is_linear)
    points = []
    for start in range(config.points):
        point = np.array([start_value(config.seed, start, j, scales[j]) for j in free.tolist()])
        point = np.clip(point, config.lower, config.upper)
        points.append(_solved(response, point, is_linear[free], data, config))
    reached = np.array([_error(response, point, data) for point in points])
    order = [i for i in np.argsort(reached, kind="stable").tolist() if np.isfinite(reached[i])]
    warm = [] if np.isnan(given).any() else [given]
    return warm + [points[i] for i in order[: config.starts]]


def _solved(response: Response, point: Numbers, is_linear: NDArray[np.bool_], data: Data, config: FitConfig) -> Numbers:
    """The point with its linear constants where the others want them; as it is where that is not known."""
    origin = np.where(is_linear, 0.0, point)
    roots = np.ones(data.n_rows) if data.weights is None else np.sqrt(data.weights)
    with np.errstate(all="ignore"):
        base = response.values(origin)
        units = np.eye(len(point), dtype=np.bool_)[is_linear]
        slopes = np.array([(response.values(np.where(unit, 1.0, origin)) - base) * roots for unit in units])
        left = (data.y - base) * roots
    if not is_linear.any() or not (np.isfinite(slopes).all() and np.isfinite(left).all()):
        return point
    solved = point.copy()
    solved[is_linear] = np.clip(np.linalg.lstsq(slopes.T, left)[0], config.lower, config.upper)
    return solved


def _descended(response: Response, start: Numbers, data: Data, config: FitConfig) -> Numbers:
    """Where SciPy's trust region leads from a start; the start where it fails."""
    from scipy.optimize import least_squares

    roots = np.ones(data.n_rows) if data.weights is None else np.sqrt(data.weights)

    def residuals(constants: Numbers) -> Numbers:
        left = (response.values(constants) - data.y) * roots
        return np.asarray(np.where(np.isfinite(left), np.clip(left, -BEYOND, BEYOND), BEYOND))

    def slopes(constants: Numbers) -> Numbers:
        found = response.jacobian(constants)[1] * roots
        return np.where(np.isfinite(found), np.clip(found, -BEYOND, BEYOND), 0.0).T

    tolerance = max(config.tolerance, LEAST_TOLERANCE)
    with np.errstate(all="ignore"):
        try:
            found = least_squares(
                residuals, start, slopes, bounds=(config.lower, config.upper), max_nfev=config.iterations,
                ftol=tolerance, xtol=LEAST_TOLERANCE, gtol=None, x_scale="jac",
            )  # fmt: skip
        except (ValueError, np.linalg.LinAlgError):  # a singular or an overflowing step
            return start
    return np.asarray(found.x)


def _error(response: Response, constants: Numbers, data: Data) -> float:
    """The weighted sum of squares, infinite where a value is not finite."""
    with np.errstate(all="ignore"):
        squares = np.square(response.values(constants) - data.y)
        total = float(squares.sum() if data.weights is None else squares @ data.weights)
    return total if total < np.inf else np.inf
