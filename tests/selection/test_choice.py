"""The choice: alternatives are different functions with weights, and what nothing supports is not chosen."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from edhie.evaluate.data import Data
from edhie.evaluate.values import squared_errors, values
from edhie.expr import Forest, SymbolLibrary
from edhie.results import Candidates
from edhie.selection.choice import COMPARED, LEFT_OUT_GAIN, Alternative, alternatives, left_out_squares, loses
from edhie.selection.description import Criterion, description_bits, skewed_bits
from edhie.selection.noise import CONSTANT, PROPORTIONAL
from mosaics import OPERATORS, data_of, forest_of

LIBRARY = SymbolLibrary.of([*OPERATORS, "^"], 1, constant=True)
FORMS = ("c*x0 + c", "c*x0^2 + c", "c*x0", "c*exp(c*x0)", "c*x0^c", "c*sin(c*x0) + c", "c", "c*x0^2 + c*x0 + c")


def table(y: str, noise: float, *, rows: int = 60, seed: int = 0, is_proportional: bool = False) -> Data:
    rng = np.random.default_rng([seed, 5])
    columns = rng.uniform(0.5, 4.0, (1, rows))
    clean = eval(y, {"x": columns[0], "np": np})
    return data_of(columns, clean + noise * rng.standard_normal(rows) * (clean if is_proportional else 1.0))


def scored(data: Data, *forms: str) -> Candidates:
    """Forms with their constants near the optimum, as a search leaves them."""
    from edhie.evaluate import THOROUGH, fit_constants

    forest = fit_constants(forest_of(LIBRARY, *forms), data, config=replace(THOROUGH, points=20)).forest
    errors = np.sqrt(squared_errors(forest, data) / data.n_rows)
    return Candidates(forest, errors, forest.sizes.astype(float), np.arange(1, len(forest) + 1))


def chosen(data: Data, *forms: str) -> list[Alternative]:
    return alternatives(scored(data, *(forms or FORMS)), data, Criterion())


def predicted(each: Alternative, data: Data) -> np.ndarray:
    return values(Forest.from_exprs([each.expr]), data.columns)[0]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rows", [14, 60, 300])
def test_alternatives_are_different_functions_with_weights(rows: int, seed: int) -> None:
    data = table("3.3*x + 0.7", 0.4, rows=rows, seed=seed)
    found = chosen(data)
    weights = [each.weight for each in found]
    assert math.isclose(sum(weights), 1.0)
    assert weights[0] == max(weights)
    assert weights[1:] == sorted(weights[1:], reverse=True) or rows < 50
    shown = np.array([predicted(each, data) for each in found])
    apart = np.abs(shown[:, None] - shown[None]).max(axis=-1)[np.triu_indices(len(shown), 1)]
    assert (apart > 1e-6).all()


@pytest.mark.parametrize("seed", range(5))
def test_of_few_rows_the_chosen_one_loses_to_no_shorter_likely_one(seed: int) -> None:
    data = table("3.3*x + 0.7", 1.5, rows=12, seed=seed)
    best, *others = chosen(data)
    own = left_out_squares(best.expr, data, best.model)
    for each in others:
        if each.expr.size < best.expr.size and each.bits < best.bits:
            assert not loses(own, left_out_squares(each.expr, data, best.model))


@pytest.mark.parametrize("seed", range(5))
def test_of_few_rows_no_other_likely_one_foretells_them_much_better(seed: int) -> None:
    data = table("3.3*x + 0.7 + 0.1*x**2", 0.15, rows=14, seed=seed)
    found = chosen(data)
    least = min(each.bits for each in found)
    told = [
        0.5 * data.n_rows * math.log2(left_out_squares(each.expr, data, each.model).mean())
        for each in found
        if each.bits <= least + COMPARED and each.expr.variables
    ]
    assert found[0].expr.variables
    assert told[0] <= min(told) + LEFT_OUT_GAIN


def test_left_out_squares_are_those_of_fits_without_the_row() -> None:
    data = table("3.3*x + 0.7", 0.5, rows=15)
    found = left_out_squares(scored(data, "c*x0 + c").forest[0], data, CONSTANT)
    for k in range(data.n_rows):
        kept = np.delete(np.arange(data.n_rows), k)
        slope, offset = np.polyfit(data.columns[0][kept], data.y[kept], 1)
        assert found[k] == pytest.approx((data.y[k] - slope * data.columns[0][k] - offset) ** 2, rel=1e-6)


def test_an_exponent_that_may_be_whole_is_whole() -> None:
    best = chosen(table("0.37*x**4", 0.05, is_proportional=True), "c*x0^c", "c*x0^c + c", "c")[0]
    assert str(best.expr).endswith("*x0^4")
    assert best.model is PROPORTIONAL


def test_noise_that_is_the_same_in_all_rows_is_named_so() -> None:
    assert chosen(table("3.3*x + 0.7", 0.4, rows=200))[0].model is CONSTANT


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("kind", ["normal", "lognormal", "uniform"])
def test_of_pure_noise_a_constant_is_chosen(kind: str, seed: int) -> None:
    rng = np.random.default_rng([seed, 6])
    draw = {"normal": rng.normal, "lognormal": lambda size: rng.lognormal(0, 0.7, size), "uniform": rng.uniform}[kind]
    data = data_of(rng.uniform(0.5, 4.0, (1, 30)), draw(size=30))
    assert not chosen(data)[0].expr.variables


def test_a_skewed_target_costs_less_as_skewed_noise_and_no_other_does() -> None:
    rng, criterion = np.random.default_rng(0), Criterion()
    columns = rng.uniform(0, 1, (1, 200))
    skewed, even = data_of(columns, rng.lognormal(0, 1, 200)), data_of(columns, rng.normal(10, 1, 200))
    for data, is_shorter in ((skewed, True), (even, False)):
        mean = Forest(LIBRARY, *_constant(float(data.y.mean())))
        assert bool(skewed_bits(data, criterion) < description_bits(mean, data, criterion)[0]) == is_shorter
    assert skewed_bits(replace(even, y=even.y - 10), criterion) == math.inf
    scaled = replace(skewed, y=1e6 * skewed.y)
    # the unit adds the same to each row; the constant, in the logarithm, is a larger number
    assert skewed_bits(scaled, criterion) - skewed_bits(skewed, criterion) == pytest.approx(200 * np.log2(1e6), abs=10)


def _constant(value: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    bare = forest_of(LIBRARY, "c")
    return bare.tokens, bare.offsets, np.array([value])
