"""Constants at the optimum of a noise model, and at plain numbers where that shortens the description."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import numpy as np

from edhie.arrays import Indices, Numbers
from edhie.evaluate.constants.fitting import FitConfig, fit_constants, with_numbers
from edhie.evaluate.constants.jacobian import Response, constants_among_values
from edhie.evaluate.data import Data
from edhie.evaluate.values import values
from edhie.expr import Forest
from edhie.selection.description import Criterion, describe
from edhie.selection.noise import CONSTANT, PROPORTIONAL, STUDENT, NoiseModel, has_one_sign, relative_weights
from edhie.selection.plain_numbers import exact_literals, literal_bits, literals_near

ROUNDS = 4  # of reweighting: weights depend on predictions, and these on constants
ROBUST_ROUNDS = 30  # of reweighting where weights depend on residuals, which change more
STANDARD_ERRORS = 2.5  # within which a plain number may replace a constant
PLAIN_GAIN = 3.0  # bits that a plain number has to save, except in exponents: many constants are near one by chance
MOST_PLAIN = 3  # plain numbers that are tried for a constant
LOGARITHMIC_ROUNDS = 12  # of fits of logarithms
LEAST_STEP = 0.01  # of a fit of logarithms
NO_GAIN = 1e-6  # relative decrease of squares below which that fit has converged
SETTLED = 1e-7  # relative change of constants below which reweighting has converged
ALIKE = 0.1  # relative difference of two constants that may be one
SURE = 1e-9  # relative distance within which a plain number is tried even without noise


def refitted(forest: Forest, data: Data, model: NoiseModel, config: FitConfig) -> Forest:
    """Return expressions with constants at the optimum of a noise model; plain numbers stay as they are.

    `config` has the settings of the fit, which starts at the present values, and the bounds of constants.
    """
    if len(forest.values) == 0:
        return forest
    if model is CONSTANT:
        return _fitted(forest, data, config)
    return Forest.concatenate([_reweighted(forest.take([k]), data, model, config) for k in range(len(forest))])


def _reweighted(one: Forest, data: Data, model: NoiseModel, config: FitConfig) -> Forest:
    if model is PROPORTIONAL and has_one_sign(data.y):
        found = _logarithmic(one, data, config)
        if found is not None:
            return found
    for _ in range(ROBUST_ROUNDS if model is STUDENT else ROUNDS):
        with np.errstate(all="ignore"):
            predicted = np.asarray(values(one, data.columns)[0], np.float64)
            weights = relative_weights(model, predicted, data) if np.isfinite(predicted).all() else None
        if weights is None or not np.isfinite(weights).all():
            return one
        before, one = one, _fitted(one, replace(data, weights=weights), config)
        if np.allclose(before.values, one.values, rtol=SETTLED, atol=0.0):
            break
    return one


def _logarithmic(one: Forest, data: Data, config: FitConfig) -> Forest | None:
    """Return an expression with the least squares of log(y/f); None if f has another sign than y in a row.

    Each round fits f to f + step·f·log(y/f), with weights 1/f²: for a step of 1, these are the same squares to first
    order. Steps are shortened where they fail.
    """
    best, least, step = one, np.inf, 1.0
    base = np.ones(data.n_rows) if data.weights is None else data.weights
    for _ in range(LOGARITHMIC_ROUNDS):
        with np.errstate(all="ignore"):
            tried = np.asarray(values(one, data.columns)[0], np.float64)
            squares = float(base @ np.square(np.log(data.y / tried)))
        if squares < least:
            is_settled = not squares < least * (1.0 - NO_GAIN)
            best, least, predicted = one, squares, tried
            step = min(1.0, 2.0 * step)
            if is_settled:
                break
        elif np.isinf(least) or step < LEAST_STEP:
            break
        else:
            step *= 0.3
        with np.errstate(all="ignore"):
            target = predicted * (1.0 + step * np.log(data.y / predicted))
            relative = base * np.square(np.median(np.abs(predicted)) / predicted)
        if not np.isfinite(relative).all():
            break
        one = _fitted(best, replace(data, y=target, weights=relative), config)
    return best if np.isfinite(least) else None


def _fitted(forest: Forest, data: Data, config: FitConfig) -> Forest:
    """Fit all constants except plain numbers."""
    is_plain = np.isfinite(literal_bits(forest.values)) | ~constants_among_values(forest)
    found = fit_constants(with_numbers(forest, is_plain), data, config=config).forest.values
    return forest.with_values(np.where(np.isfinite(found) & ~is_plain, found, forest.values))


def with_plain_numbers(
    one: Forest, data: Data, model: NoiseModel, criterion: Criterion, config: FitConfig
) -> tuple[Forest, float]:
    """Return one expression with plain numbers for constants where that shortens its description, and its bits.

    All constants are tried at once, then one by one, in order of their distance to a plain number in standard errors.
    """
    one = one.with_values(exact_literals(one.values))
    bits = float(describe(one, data, criterion, (model,)).bits[0])

    def replaced(places: list[int], numbers: list[float]) -> tuple[float, Forest]:
        changed = one.values.copy()
        changed[places] = numbers
        found = refitted(one.with_values(changed), data, model, config)
        return float(describe(found, data, criterion, (model,)).bits[0]), found

    tried = _replacements(one, data, model)
    if len(tried) > 1:  # without noise, replacing one alone would enlarge the residuals
        places = [place for place, _ in tried]
        length, found = replaced(places, [numbers[0] for _, numbers in tried])
        if length < bits - _least_gain(one, places):
            bits, one = length, found
            tried = _replacements(one, data, model)
    given_up: set[int] = set()
    while tried:
        place, numbers = tried.pop(0)
        length, found = min((replaced([place], [number]) for number in numbers), key=lambda each: each[0])
        if length < bits - _least_gain(one, [place]):
            bits, one = length, found
            tried = [each for each in _replacements(one, data, model) if each[0] not in given_up]
        else:
            given_up.add(place)
    return one, bits


def quickly_plain(one: Forest, data: Data, model: NoiseModel, config: FitConfig) -> list[tuple[Forest, float]]:
    """Return one expression with plain numbers for all constants near one, and the bits that these have to save.

    The list is empty if no constant is near a plain number. Faster than `with_plain_numbers`, as all are tried at once.
    """
    tried = _replacements(one, data, model)
    if not tried:
        return []
    changed = one.values.copy()
    for place, numbers in tried:
        changed[place] = numbers[0]
    found = refitted(one.with_values(changed), data, model, config)
    return [(found, _least_gain(one, [place for place, _ in tried]))]


def _least_gain(one: Forest, places: list[int]) -> float:
    """Return the bits that plain numbers at these positions among the values have to save; nothing for exponents."""
    return PLAIN_GAIN * len(set(places) - _exponents(one))


def _exponents(one: Forest) -> set[int]:
    """Return the positions among the values of numbers that are exponents."""
    has_slot = one.library.has_slot[one.tokens]
    right = one.right[one.tokens == one.library.ids.get("^", -1)]
    return set((np.cumsum(has_slot) - 1)[right[has_slot[right]]].tolist())


def with_equal_constants(one: Forest, data: Data, model: NoiseModel) -> list[Forest]:
    """Return one expression with two constants of one size, for each two whose sizes hardly differ.

    Where they are factors of terms, the normal form has one constant less: `a*(1 - exp(-x))` for `a - b*exp(-x)`.
    """
    places, covariance = _constants(one, data, model)
    found = []
    for i, j in combinations(range(len(places)), 2):
        first, second = one.values[places[[i, j]]]
        sign = np.sign(first) * np.sign(second)
        error = math.sqrt(max(covariance[i, i] + covariance[j, j] - 2.0 * sign * covariance[i, j], 0.0))
        if abs(first - sign * second) <= min(STANDARD_ERRORS * error, ALIKE * abs(first)):
            changed = one.values.copy()
            changed[places[j]] = sign * first
            found.append(one.with_values(changed))
    return found


def _replacements(one: Forest, data: Data, model: NoiseModel) -> list[tuple[int, list[float]]]:
    """Return the positions of constants among the values, with plain numbers near them; the nearest first."""
    (places, covariance), exponents = _constants(one, data, model), _exponents(one)
    found = []
    for place, error in zip(places.tolist(), np.sqrt(np.diag(covariance)).tolist(), strict=True):
        value = float(one.values[place])
        reach = max(STANDARD_ERRORS * error, SURE * abs(value))
        near = literals_near(value, min(reach, 0.5 * abs(value)), of_pi=place not in exponents)[:MOST_PLAIN]
        if near:
            distance = min(abs(each - value) for each in near) / max(error, 1e-300)
            found.append((distance, place, near))
    return [(place, near) for _, place, near in sorted(found)]


def _constants(one: Forest, data: Data, model: NoiseModel) -> tuple[Indices, Numbers]:
    """Return the positions among the values of constants that are no plain numbers, and their covariance."""
    response = Response(one, data.columns)
    predicted, slopes = response.jacobian(response.constants)
    places = np.flatnonzero(constants_among_values(one))
    free = np.flatnonzero(~np.isfinite(literal_bits(one.values[places])))
    none = np.empty(0, np.int64), np.empty((0, 0))
    if len(free) == 0 or not np.isfinite(predicted).all():
        return none
    weights = relative_weights(model, predicted, data)
    weights = np.ones(data.n_rows) if weights is None else weights
    freedom = max(data.n_rows - len(free), 1)
    variance = float(weights @ np.square(data.y - predicted)) / freedom + float(np.mean(np.square(data.rounding)))
    own = slopes[free]
    with np.errstate(all="ignore"):
        precision = (own * weights) @ own.T
        if not np.isfinite(precision).all():
            return none
        scale = np.sqrt(np.maximum(np.diag(precision), np.finfo(np.float64).tiny))  # constants differ by many decades
        inverse = np.linalg.pinv(precision / np.outer(scale, scale), rcond=1e-14)
        covariance = inverse / np.outer(scale, scale) * variance
    covariance[np.diag_indices(len(free))] = np.maximum(np.diag(covariance), 0.0)
    return places[free], covariance
