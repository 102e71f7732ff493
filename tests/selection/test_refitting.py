"""Constants at the optimum of a noise model, and plain numbers where these are shorter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from edhie.evaluate.constants.fitting import FitConfig
from edhie.evaluate.values import values
from edhie.expr import Forest
from edhie.selection.choice import FROM_HERE
from edhie.selection.description import Criterion, describe
from edhie.selection.noise import CONSTANT, PROPORTIONAL, STUDENT, NoiseModel
from edhie.selection.refitting import refitted, with_equal_constants, with_plain_numbers
from mosaics import Numbers, data_of, forest_of, free, positive

LIBRARY = free(1)
X = np.sort(positive(1, 100))
RNG = np.random.default_rng(0)


def fitted(text: str, *constants: float) -> Forest:
    bare = forest_of(LIBRARY, text)
    return Forest(LIBRARY, bare.tokens, bare.offsets, np.array(constants))


def least(function: Any, *around: float) -> Numbers:
    from scipy.optimize import minimize

    return minimize(function, around, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-12}).x


# -- the optimum ----------------------------------------------------------------------


def test_least_squares_under_constant_noise() -> None:
    y = 2.71 * X[0] + 1.23 + 0.1 * RNG.normal(size=100)
    found = refitted(fitted("c*x0 + c", 2.512345, 1.012345), data_of(X, y), CONSTANT, FROM_HERE)
    np.testing.assert_allclose(found.values, np.polyfit(X[0], y, 1), rtol=1e-8)


def test_relative_errors_under_noise_in_proportion() -> None:
    y = 2.71 * np.exp(1.61 * X[0]) * (1 + 0.05 * RNG.normal(size=100))
    found = refitted(fitted("c*exp(c*x0)", 2.512345, 1.712345), data_of(X, y), PROPORTIONAL, FROM_HERE)
    slope, level = np.polyfit(X[0], np.log(y), 1)  # to first order of the noise the same
    np.testing.assert_allclose(found.values, [np.exp(level), slope], rtol=5e-3)
    again = refitted(found, data_of(X, y), PROPORTIONAL, FROM_HERE)
    np.testing.assert_allclose(again.values, found.values, rtol=1e-5)


def test_the_likelihood_of_student_is_greatest() -> None:
    y = 2.71 * X[0] + 1.23 + 0.1 * RNG.normal(size=100)
    y[::15] += 20
    data = data_of(X, y)
    found = refitted(fitted("c*x0 + c", *np.polyfit(X[0], y, 1)), data, STUDENT, FROM_HERE)
    np.testing.assert_allclose(found.values, [2.71, 1.23], atol=0.1)
    shape, criterion = fitted("c*x0 + c", 1.0, 1.0), Criterion(has_precision=False)

    def length(constants: Any) -> float:
        one = Forest(LIBRARY, shape.tokens, shape.offsets, np.asarray(constants, float))
        return float(describe(one, data, criterion, (STUDENT,)).bits[0])

    np.testing.assert_allclose(found.values, least(length, 2.71, 1.23), rtol=2e-3)


@pytest.mark.parametrize("model", [CONSTANT, PROPORTIONAL, STUDENT], ids=lambda each: each.name)
def test_plain_numbers_and_bounds_stay(model: NoiseModel) -> None:
    y = 2.71 * X[0] ** 2 + 1.23 + 0.1 * RNG.normal(size=100)
    found = refitted(fitted("c*x0^2 + c", 3.0, 1.512345), data_of(X, y), model, FROM_HERE)
    assert found.values[0] == 3.0
    assert found.values[1] != 1.512345
    bounded = FitConfig(points=0, starts=1, iterations=100, rows=None, lower=-1.0, upper=2.0)
    within = refitted(fitted("c*x0^2 + c", 1.912345, 1.512345), data_of(X, y), model, bounded)
    assert (np.abs(within.values) <= 2.0).all()


def test_what_has_no_value_stays_as_it_is() -> None:
    data = data_of(X - 2, X[0])
    one = fitted("c*log(x0)", 1.512345)
    for model in (CONSTANT, PROPORTIONAL, STUDENT):
        np.testing.assert_array_equal(refitted(one, data, model, FROM_HERE).values, one.values)
    nothing = forest_of(LIBRARY, "x0")
    assert refitted(nothing, data, PROPORTIONAL, FROM_HERE) is nothing


# -- plain numbers --------------------------------------------------------------------


def plain(one: Forest, y: Numbers, model: NoiseModel = CONSTANT) -> tuple[Numbers, float, float]:
    data, criterion = data_of(X, y), Criterion()
    one = refitted(one, data, model, FROM_HERE)
    before = float(describe(one, data, criterion, (model,)).bits[0])
    found, bits = with_plain_numbers(one, data, model, criterion, FROM_HERE)
    assert bits == describe(found, data, criterion, (model,)).bits[0]
    return found.values, before, bits


def test_a_constant_near_a_plain_number_becomes_it() -> None:
    y = 2 * X[0] ** 2 + 0.7421 + 0.01 * RNG.normal(size=100)
    values_, before, after = plain(fitted("c*x0^2 + c", 2.012345, 0.712345), y)
    assert values_[0] == 2.0
    assert values_[1] == pytest.approx(0.7421, abs=0.01)
    assert after < before


def test_what_the_data_speak_against_is_not_rounded() -> None:
    y = 2.0123 * X[0] ** 2 + 0.7421 + 1e-4 * RNG.normal(size=100)
    values_, before, after = plain(fitted("c*x0^2 + c", 2.02345, 0.712345), y)
    np.testing.assert_allclose(values_, [2.0123, 0.7421], atol=1e-3)
    assert after == before


def test_without_noise_numbers_are_found_among_rounding() -> None:
    values_, _, _ = plain(fitted("c*exp(c*x0)", 0.512345, 1.512345), 0.5 * np.exp(1.5 * X[0]))
    assert values_.tolist() == [0.5, 1.5]
    predicted = values(fitted("c*exp(c*x0)", *values_), X)[0]
    np.testing.assert_allclose(predicted, 0.5 * np.exp(1.5 * X[0]))


@pytest.mark.parametrize(("second", "is_one"), [(9.1, True), (8.3, False)])
def test_constants_that_the_data_do_not_tell_apart_may_be_one(second: float, is_one: bool) -> None:
    y = 9.1 - second * np.exp(-0.7 * X[0]) + 0.01 * np.random.default_rng(1).normal(size=100)
    data = data_of(X, y)
    one = refitted(fitted("c - c*exp(c*x0)", 9.12, second + 0.01, -0.7), data, CONSTANT, FROM_HERE)
    found = with_equal_constants(one, data, CONSTANT)
    assert [each.values[0] == each.values[1] for each in found] == [True] * is_one
