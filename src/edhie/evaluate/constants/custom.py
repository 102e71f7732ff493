"""Fits of expressions with a user's operators, which have no kernels: as compiled ones, on values from NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.constants.config import FitConfig
from edhie.evaluate.constants.jacobian import Response, constants_of_each
from edhie.evaluate.data import Data
from edhie.evaluate.program import plan
from edhie.expr import Forest

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]


def fit_custom(
    fitted: Forest, errors: Numbers, places: NDArray[np.int64], data: Data, config: FitConfig
) -> tuple[Forest, Numbers]:
    """Fit the expressions at `places`; return the whole forest and its sums of squares."""
    values, errors = fitted.values.copy(), errors.copy()
    positions = constants_of_each(fitted)
    for k in places.tolist():
        own = positions[k]
        given = np.clip(values[own], config.lower, config.upper)
        values[own], errors[k] = _Fit(fitted[k : k + 1], data, config).best(given)
    return Forest(fitted.library, fitted.tokens, fitted.offsets, values), errors


class _Fit:
    """A fit of one expression."""

    def __init__(self, one: Forest, data: Data, config: FitConfig) -> None:
        from edhie.evaluate.constants.linear_parts import find_linear

        known = np.where(np.isnan(one.values), 1.0, one.values)  # as a function of its constants it needs no values
        self._response = Response(Forest(one.library, one.tokens, one.offsets, known), data.columns)
        self._program = plan(one, keep=True)
        is_linear = np.zeros(self._program.n_registers, np.bool_)
        find_linear(self._program, 0, is_linear)
        self._free = np.flatnonzero(self._program.is_free)
        self._is_linear: Flags = is_linear[self._free]
        self._data = data
        self._config = config
        self._enough = config.enough * data.squares_to_explain
        self._roots = 1.0 if data.weights is None else np.sqrt(data.weights)

    def best(self, given: Numbers) -> tuple[Numbers, float]:
        """Return the best constants, from those given, if any, and from many points, and their sum of squares."""
        best, error = given, self._error(given)
        starts = [given] if len(given) and error < np.inf else []
        for start in starts:
            best, error = self._levenberg_marquardt(start)
        if len(given) and error > self._enough:
            for start in self._points():
                found, reached = self._levenberg_marquardt(start)
                if reached < error:
                    best, error = found, reached
                if error <= self._enough:
                    break
        return best, self._error(best)  # to the bit what these constants leave, whatever they were found with

    def _points(self) -> Numbers:
        """Return the best of many points, best first, with their linear constants solved for."""
        from edhie.evaluate.constants.starts import leaf_scales, start_value

        config, n = self._config, self._config.points
        n = min(n, 1) if self._is_linear.all() else n
        scales = leaf_scales(self._program, self._data.columns)
        starts = [[start_value(config.seed, k, j, scales[j]) for j in self._free.tolist()] for k in range(n)]
        points = self._solved(np.clip(np.array(starts).reshape(n, len(self._free)), config.lower, config.upper))
        errors = self._errors(points)
        order = np.argsort(errors, kind="stable")[: config.starts]
        return points[order[np.isfinite(errors[order])]]

    def _solved(self, points: Numbers) -> Numbers:
        """Return the points with their linear constants solved for; unchanged where these have no finite slopes."""
        is_linear, n_linear = self._is_linear, int(self._is_linear.sum())
        if not n_linear or not len(points):
            return points
        units = np.concatenate([np.zeros((1, len(is_linear))), np.eye(len(is_linear))[is_linear]])
        asked = np.where(is_linear, 0.0, points)[:, np.newaxis] + units
        found = self._response.values_at_each(asked.reshape(-1, len(is_linear))).reshape(len(points), 1 + n_linear, -1)
        solved = points.copy()
        with np.errstate(all="ignore"):
            slopes = (found[:, 1:] - found[:, :1]) * self._roots
            left = (self._data.y - found[:, 0]) * self._roots
        usable = np.isfinite(slopes).all(axis=(1, 2)) & np.isfinite(left).all(axis=1)
        for k in np.flatnonzero(usable).tolist():
            answer = np.linalg.lstsq(slopes[k].T, left[k])[0]
            solved[k, is_linear] = np.clip(answer, self._config.lower, self._config.upper)
        return solved

    def _levenberg_marquardt(self, start: Numbers) -> tuple[Numbers, float]:
        """Return the optimum reached from a start, and its sum of squares; linear constants are not damped."""
        from edhie.evaluate.constants.least_squares import FIRST_DAMPING, LEAST_DAMPING, MOST_DAMPING, SETTLED
        from edhie.evaluate.constants.solve import solve_damped

        config, strength = self._config, FIRST_DAMPING
        current, step, work = start, np.empty(len(start)), np.empty((len(start), len(start)))
        error, products, slope = self._equations(current)
        for _ in range(config.iterations):
            if error <= self._enough or not error < np.inf:
                break
            reached = np.inf
            damping = np.where(self._is_linear, LEAST_DAMPING, strength)
            if solve_damped(products, slope, damping, step, work):
                trial = np.clip(current + step, config.lower, config.upper)
                promised = slope @ step if strength < SETTLED else np.inf  # of the fall of the sum of squares
                if (trial == current).all() or promised < config.tolerance * error:
                    break
                reached, *equations = self._equations(trial)
            if reached < error:
                gain = (error - reached) / error
                current, error, (products, slope) = trial, reached, equations
                strength = max(strength * 0.1, LEAST_DAMPING)
                if gain < config.tolerance and strength < SETTLED:
                    break
            else:
                strength *= 10.0
                if strength > MOST_DAMPING:
                    break
        return current, error

    def _equations(self, constants: Numbers) -> tuple[float, Numbers, Numbers]:
        """Return the sum of squares and the normal equations of a step; slopes that are not finite count as 0."""
        values, slopes = self._response.jacobian(constants, is_linear=self._is_linear)
        with np.errstate(all="ignore"):
            left = (self._data.y - values) * self._roots
            error = float(left @ left)
            slopes = slopes * self._roots
            slopes[~np.isfinite(slopes)] = 0.0
            return error if error < np.inf else np.inf, slopes @ slopes.T, slopes @ left

    def _errors(self, points: Numbers) -> Numbers:
        """The weighted sums of squares at several points, infinite where a value is not finite."""
        with np.errstate(all="ignore"):
            squares = np.square(self._response.values_at_each(points) - self._data.y)
            totals = squares.sum(axis=1) if self._data.weights is None else squares @ self._data.weights
        return np.where(totals < np.inf, totals, np.inf)

    def _error(self, constants: Numbers) -> float:
        return float(self._errors(constants[np.newaxis])[0])
