"""The shortest description is that of the equation that the data came from, and each part costs what it should."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from edhie import operator
from edhie.evaluate import read_data
from edhie.evaluate.data import Data
from edhie.evaluate.resolution import FULL_PRECISION, Resolution
from edhie.evaluate.values import values
from edhie.expr import Forest, SymbolLibrary, parse
from edhie.results import Candidates
from edhie.selection.choice import shortest_description
from edhie.selection.description import (
    Criterion,
    data_bits,
    describe,
    description_bits,
    expression_bits,
    joined_rows,
    least_variances,
    residual_bits,
)
from edhie.selection.description_kernels import precision_length
from edhie.selection.noise import CONSTANT, PROPORTIONAL, STUDENT
from edhie.selection.prior.structure_prior import StructurePrior
from edhie.selection.units import claim_bits
from mosaics import data_of, forest_of, free, positive

LIBRARY = free(1)
TRUTH = "3*x0^2 + 1"
OTHERS = (
    "x0", "3*x0^2", "3*x0^2 + 1.1", "2.9*x0^2 + 1", "3*x0^2 + x0", "3*x0^2 + 1 + 0.001*sin(7*x0)",
    "3*x0^2 + 1 + 0*exp(x0)", "8*x0 - 2", "exp(x0)*2", "11",
)  # fmt: skip
NUMBERS = r"(?<![\w^.])\d+(?:\.\d+)?"


def fitted(*texts: str, library: SymbolLibrary = LIBRARY) -> Forest:
    """Expressions whose numbers are constants with these values."""
    exprs = []
    for text in texts:
        bare = forest_of(library, re.sub(NUMBERS, "c", text))
        numbers = [float(each) for each in re.findall(NUMBERS, text)]
        exprs.append(Forest(library, bare.tokens, bare.offsets, np.array(numbers)))
    return Forest.concatenate(exprs)


def candidates_of(forest: Forest, errors: Any) -> Candidates:
    n = len(forest)
    return Candidates(forest, np.asarray(errors, float), forest.sizes.astype(float), np.arange(1, n + 1))


def noisy(text: str, size: float, *, rows: int = 400, is_proportional: bool = False, seed: int = 1) -> Data:
    columns, rng = positive(1, rows), np.random.default_rng(seed)
    y = values(fitted(text), columns)[0]
    noise = size * rng.standard_normal(rows)
    return data_of(columns, y + noise * (np.abs(y) if is_proportional else 1.0))


def constant_bits(text: str, data: Data) -> float:
    """What constants cost: all bits but those of the residuals and of the structure."""
    forest, criterion = fitted(text), Criterion(noise="constant")
    told = data_bits(forest, data, criterion, (CONSTANT,))[0, 0]
    return float(told - residual_bits(values(forest, data.columns), data, criterion)[0])


# -- which is shortest ----------------------------------------------------------------


@pytest.mark.parametrize("noise", ["none", "additive", "proportional"])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_the_truth_is_shortest(noise: str, is_weighted: bool) -> None:
    data = noisy(TRUTH, 0.0 if noise == "none" else 0.05, is_proportional=noise == "proportional")
    if is_weighted:
        data = replace(data, weights=np.random.default_rng(2).uniform(0.5, 2, data.n_rows))
    forest = fitted(TRUTH, *OTHERS)
    told = describe(forest, data)
    assert np.argmin(told.bits) == 0
    assert told.models[0] is (PROPORTIONAL if noise == "proportional" else CONSTANT)
    best = shortest_description(candidates_of(forest, np.linspace(1, 0, len(forest))), data)
    assert best is not None
    assert best.expr == forest[0]


def test_with_standard_errors_the_truth_is_shortest() -> None:
    data = noisy(TRUTH, 0.0)
    sigma = np.random.default_rng(3).uniform(0.01, 1.0, data.n_rows)
    y = data.y + sigma * np.random.default_rng(4).standard_normal(data.n_rows)
    data = replace(data, y=y, sigma=sigma, weights=sigma**-2.0 / np.mean(sigma**-2.0))
    assert np.argmin(description_bits(fitted(TRUTH, *OTHERS), data)) == 0


@pytest.mark.parametrize("unit", [1e-60, 1e-3, 1e3, 1e60])
def test_the_unit_of_the_target_adds_the_same_to_all_residuals(unit: float) -> None:
    data = noisy("1*x0^2", 0.1, rows=200)
    predicted = values(forest_of(LIBRARY, "x0^2", "x0", "sin(x0)", "exp(x0)"), data.columns)
    scaled = replace(data, y=unit * data.y)
    shift = residual_bits(unit * predicted, scaled) - residual_bits(predicted, data)
    np.testing.assert_allclose(shift, 200 * np.log2(unit), rtol=1e-9)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_the_unit_of_the_target_does_not_change_the_order(unit: float) -> None:
    """Of equations with one factor each, whose constants change with the unit."""
    data = noisy("2.718*x0^2", 0.3, rows=200)
    shapes = ["x0^2", "x0", "sin(x0)", "x0^3", "sqrt(x0)"]
    before, after = (
        description_bits(
            fitted(*(f"{scale * 2.718:.12f}*{shape}" for shape in shapes)), replace(data, y=scale * data.y)
        )
        for scale in (1.0, unit)
    )
    assert np.argsort(before).tolist() == np.argsort(after).tolist()


# -- structure and constants ----------------------------------------------------------


def test_a_structure_costs_what_the_prior_says() -> None:
    data = noisy("1*x0", 0.1, rows=64)
    forest = forest_of(LIBRARY, "x0", "sin(exp(x0))")
    prior = StructurePrior.shipped()
    plain = Criterion(forms=None)
    told = description_bits(forest, data, plain) - residual_bits(values(forest, data.columns), data)
    np.testing.assert_allclose(told, prior.bits(forest) + claim_bits(forest, data))
    uniform = expression_bits(forest, data, Criterion(StructurePrior.uniform(), forms=None))
    np.testing.assert_allclose(uniform, forest.sizes * np.log2(len(LIBRARY)))


@pytest.mark.parametrize("rows", [40, 400])
def test_half_the_noise_tells_a_constant_to_one_bit_more(rows: int) -> None:
    more, less = (constant_bits("2.7183*x0", noisy("2.7183*x0", size, rows=rows)) for size in (0.01, 0.02))
    assert more - less == pytest.approx(1.0, abs=0.01)


def test_four_times_the_rows_tell_a_constant_to_one_bit_more() -> None:
    one = noisy("2.7183*x0", 0.01, rows=100)
    four = data_of(np.tile(one.columns, 4), np.tile(one.y, 4))
    assert constant_bits("2.7183*x0", four) - constant_bits("2.7183*x0", one) == pytest.approx(1.0, abs=0.05)


def test_a_plain_number_is_cheaper_than_a_constant_near_it() -> None:
    data = noisy("2*x0", 0.01)
    plain, near = description_bits(fitted("2*x0", "2.00001*x0"), data)
    assert plain < near - 4
    far = description_bits(fitted("2.1*x0"), data)[0]
    assert near < far  # but not where the data speak against it


def test_constants_that_are_correlated_cost_little_more_than_one() -> None:
    slopes = np.random.default_rng(0).standard_normal((2, 100))
    weights, widths = np.ones(100), np.full(2, 8.0)
    single = precision_length(slopes[:1], widths[:1], 0, weights, 1e-6)
    nearly = np.stack([slopes[0], slopes[0] + 1e-5 * slopes[1]])
    alike = precision_length(nearly, widths, 2, weights, 1e-6)
    apart = precision_length(slopes, widths, 2, weights, 1e-6)
    assert single < alike < single + np.log(102)
    assert apart > 1.9 * single


def test_a_constant_that_the_data_do_not_determine_is_free() -> None:
    slopes = np.zeros((1, 50))
    assert precision_length(slopes, np.ones(1), 0, np.ones(50), 1.0) == pytest.approx(0.0)


def test_the_size_of_a_constant_costs_nothing() -> None:
    slopes = np.ones((1, 50))
    sizes = (1.0, 1e3, 1e-3, 1e9)
    costs = [precision_length(slopes / size, np.array([size]), 0, np.ones(50), 1.0) for size in sizes]
    np.testing.assert_allclose(costs, costs[0])


def test_a_constant_costs_at_least_what_one_row_tells() -> None:
    slopes = np.ones((1, 50))
    nothing = precision_length(slopes, np.array([1e-9]), 0, np.ones(50), 1.0)
    assert nothing == pytest.approx(0.5 * np.log(1 + 50))


def test_the_order_of_constants_does_not_matter() -> None:
    slopes = np.random.default_rng(0).standard_normal((4, 50)).cumsum(axis=0)
    widths = np.array([1.0, 0.3, 2.0, 5.0])
    there = precision_length(slopes, widths, 1, np.ones(50), 0.1)
    order = [0, 3, 1, 2]
    back = precision_length(slopes[order], widths[order], 1, np.ones(50), 0.1)
    assert back == pytest.approx(there, rel=1e-12)


def test_a_further_constant_never_makes_the_others_cheaper() -> None:
    data = noisy("2.7183*exp(0.4567*x0) + 0.0012", 0.5, rows=40)
    with_offset, without = (
        constant_bits("2.7183*exp(0.4567*x0) + 0.0012", data),
        constant_bits("2.7183*exp(0.4567*x0)", data),
    )
    assert with_offset > without + 0.5 * np.log2(40) - 0.5


def test_constants_of_one_value_are_one_constant() -> None:
    data = noisy("2.7183*x0", 0.01)
    forest = fitted("3.3334*x0/(x0 + 3.3334)", "3.3334*x0/(x0 + 3.3335)")
    once, twice = description_bits(forest, data) - residual_bits(values(forest, data.columns), data)
    assert once < twice - 2


@pytest.mark.parametrize("n_rows", [1, 2, 3, 4])
def test_as_many_constants_as_rows_say_nothing(n_rows: int) -> None:
    data = data_of(positive(1, n_rows), np.linspace(1, 2, n_rows))
    forest = fitted("1.2345*x0", "1.2345*x0 + 0.7654", "1.2345*x0 + 0.7654*x0^2 + 0.1234")
    assert np.isfinite(description_bits(forest, data)).tolist() == [n_rows > k for k in (1, 2, 3)]


# -- residuals ------------------------------------------------------------------------


def test_residuals_below_the_resolution_gain_nothing() -> None:
    columns = positive(1, 100)
    exact = columns[0] ** 2
    rounded = replace(data_of(columns, np.round(exact, 1)), resolution=Resolution(0.1))
    off = np.stack([rounded.y, rounded.y + 0.02, exact, rounded.y + 0.2])
    at, within, near, beyond = residual_bits(off, rounded)
    most = 0.5 * 100 / np.log(2)  # half a nat a row: what residuals of one standard deviation cost beside none
    assert 0 < within - at < most
    assert near - at < 1.2 * most
    assert beyond - at > 2 * most
    gained = residual_bits(off, replace(rounded, resolution=FULL_PRECISION))
    assert gained[1] - gained[0] > 1000  # without a resolution only float64 limits the gain


def test_standard_errors_are_the_least_that_counts() -> None:
    data = noisy("1*x0", 0.0, rows=50)
    known = replace(data, sigma=np.full(50, 0.1), weights=np.ones(50))
    exact, within = residual_bits(np.stack([data.y, data.y + 0.01]), known)
    assert within - exact < 1
    np.testing.assert_array_equal(least_variances(known, Criterion()), 0.1**2)
    assert (least_variances(known, Criterion(has_resolution=False)) < 1e-20).all()


def test_what_is_no_prediction_takes_infinitely_many_bits() -> None:
    columns = np.array([[-1.0, 0.0, 2.0]])
    data = data_of(columns, np.array([1.0, 0.0, 3.0]))
    bits = description_bits(forest_of(LIBRARY, "x0", "log(x0)", "x0/x0", "exp(exp(exp(exp(x0))))"), data)
    assert np.isfinite(bits).tolist() == [True, False, False, False]
    assert shortest_description(candidates_of(forest_of(LIBRARY, "x0", "x0^2"), [np.inf, np.inf]), data) is None


def test_zeros_and_constants_have_finite_bits() -> None:
    columns = positive(1, 10)
    for y in (np.zeros(10), np.full(10, 2.0), np.where(np.arange(10) < 5, 0.0, 1.0)):
        bits = description_bits(fitted("0*x0", "2", "x0"), data_of(columns, y))
        assert np.isfinite(bits).all()
    assert np.isfinite(description_bits(fitted("2"), data_of(columns[:, :1], np.array([2.0])))).all()


def test_rows_of_weight_0_do_not_count() -> None:
    data, rng = noisy(TRUTH, 0.05, rows=100), np.random.default_rng(0)
    more = data_of(
        np.concatenate([data.columns, positive(1, 50, seed=9)], axis=1),
        np.concatenate([data.y, rng.normal(size=50)]),
        np.repeat([1.0, 0.0], [100, 50]),
    )
    forest, criterion = fitted(TRUTH, "3.1415*x0^2 + 0.8765"), Criterion(noise="constant")
    shift = description_bits(forest, more, criterion) - description_bits(forest, data, criterion)
    assert shift[0] == pytest.approx(shift[1], abs=1e-6)


# -- how it is computed ---------------------------------------------------------------


@pytest.mark.parametrize("noise", ["auto", "constant", "proportional", "both", "student"])
def test_many_at_once_are_as_one_by_one(noise: str) -> None:
    data, criterion = noisy("1*x0^2", 0.1, rows=30), Criterion(noise=noise)
    forest = fitted(*(f"{k}.5*x0 + {k}.1234" for k in range(50)))
    every = describe(forest, data, criterion)
    alone = [describe(forest.take([k]), data, criterion) for k in range(50)]
    np.testing.assert_array_equal(every.bits, [each.bits[0] for each in alone])
    assert every.models == tuple(each.models[0] for each in alone)
    assert len(description_bits(forest.take([]), data)) == 0


@pytest.mark.parametrize("noise", ["constant", "proportional", "student"])
def test_own_operators_cost_as_built_in_ones(noise: str) -> None:
    own = operator("wave", numpy=np.sin, arity=1)
    library = LIBRARY.extended(own)
    data, criterion = noisy("2.3456*sin(1.2345*x0)", 0.05, rows=60), Criterion(noise=noise)
    models = criterion.models(data)
    built_in = data_bits(fitted("2.3456*sin(1.2345*x0)"), data, criterion, models)
    custom = data_bits(fitted("2.3456*wave(1.2345*x0)", library=library), data, criterion, models)
    np.testing.assert_allclose(custom, built_in, rtol=1e-6)


def test_rows_of_two_sets_count_as_those_of_one() -> None:
    data = noisy(TRUTH, 0.05, rows=90)
    one, other = data.take(slice(0, 60)), data.take(slice(60, 90))
    forest = fitted(TRUTH, *OTHERS)
    np.testing.assert_array_equal(description_bits(forest, joined_rows(one, other)), description_bits(forest, data))
    assert joined_rows(one, None) is one


def test_a_small_one_is_described_however_many_have_less_error() -> None:
    columns = positive(1, 30)
    data = data_of(columns, columns[0])
    many = fitted("x0", *(f"{k}.5*x0 + {k}.25" for k in range(3500)))
    best = shortest_description(candidates_of(many, [1.0, *np.linspace(0, 0.5, 3500)]), data)
    assert best is not None
    assert str(best.expr) == "x0"


def test_what_is_not_shorter_gets_a_lower_bound() -> None:
    data = data_of(positive(1, 30), positive(1, 30)[0])
    texts = ("x0", "1/(x0 - 1.234)", "x0 + sin(400*x0)")
    forest = Forest.from_exprs([parse(text, variables=["x0"]) for text in texts])
    bits = description_bits(forest, data)
    between = float(np.median(description_bits(forest, data, below=-np.inf)))
    bounds = description_bits(forest, data, below=between)
    assert (bounds <= bits).all()
    assert np.array_equal(bounds[bounds < between], bits[bounds < between])
    assert np.isinf(bits[2])


def test_an_exact_law_is_short_also_with_standard_errors() -> None:
    x = np.logspace(-2, 3, 24)
    y = 12.3456 * x / (x + 2.3456)
    data = read_data({"x": x}, y, sigma=0.1 * y)
    exact, near = (parse("c*x/(x + c)", variables=["x"]).with_constants([c, 2.3456]) for c in (12.3456, 12.3457))
    bits = description_bits(Forest.from_exprs([exact, near]), data)
    assert bits[0] == pytest.approx(bits[1], abs=0.1)


@pytest.mark.parametrize(
    ("share", "noise", "are_suspected"), [(0.02, 0.3, True), (0.1, 0.05, True), (0.1, 0.3, False), (0.3, 0.05, False)]
)
def test_many_rows_that_are_far_off_are_no_gross_errors(share: float, noise: float, are_suspected: bool) -> None:
    rng = np.random.default_rng(0)
    x = np.linspace(1, 5, 200)
    y = 2.3 * x + noise * np.std(2.3 * x) * rng.standard_normal(200)
    y[: round(200 * share)] += 60.0 * rng.choice([-1.0, 1.0], round(200 * share))
    data = read_data(x, y, names=["x"])
    line = Forest.from_exprs([parse("c*x", variables=["x"]).with_constants([2.3])])
    models = describe(line, data, models=(CONSTANT, STUDENT)).models
    assert (models[0] is STUDENT) == are_suspected
    assert describe(line, data, models=(STUDENT,)).models[0] is STUDENT
