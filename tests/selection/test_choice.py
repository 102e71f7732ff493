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
from edhie.selection.choice import HALVING, Alternative, alternatives
from edhie.selection.description import Criterion, data_bits, skewed_bits
from edhie.selection.noise import CONSTANT, PROPORTIONAL, STUDENT
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
    assert weights == sorted(weights, reverse=True)
    shown = np.array([predicted(each, data) for each in found])
    apart = np.abs(shown[:, None] - shown[None]).max(axis=-1)[np.triu_indices(len(shown), 1)]
    assert (apart > 1e-6).all()


def test_weights_are_those_of_the_descriptions() -> None:
    data = table("3.3*x + 0.7", 0.4, rows=20)
    first, *others = chosen(data)
    for each in others:
        assert each.weight / first.weight == pytest.approx(2.0 ** ((first.bits - each.bits) / HALVING), rel=1e-9)


@pytest.mark.parametrize("rows", [40, 400])
def test_gross_errors_are_suspected(rows: int) -> None:
    data = table("3.3*x + 0.7", 0.05, rows=rows)
    y = data.y.copy()
    y[:: rows // 8] += 20.0
    best = chosen(replace(data, y=y))[0]
    assert best.model is STUDENT
    slope, _ = sorted(best.expr.constants, reverse=True)
    assert slope == pytest.approx(3.3, abs=0.1)


def test_a_law_over_many_decades_is_chosen() -> None:
    rng = np.random.default_rng(4)
    x = 10 ** rng.uniform(0, 8, 30)
    data = data_of(x[np.newaxis], 6.67e-11 * x**-2 * (1 + 0.1 * rng.standard_normal(30)))
    assert str(chosen(data, "c*x0^c", "c/(x0 + c)^2", "c*x0 + c", "c")[0].expr).endswith("x0^-2")


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
        assert bool(skewed_bits(data, criterion) < data_bits(mean, data, criterion, (CONSTANT,))[0, 0]) == is_shorter
    assert skewed_bits(replace(even, y=even.y - 10), criterion) == math.inf
    scaled = replace(skewed, y=1e6 * skewed.y)
    # the unit adds the same to each row; the constant, in the logarithm, is a larger number
    assert skewed_bits(scaled, criterion) - skewed_bits(skewed, criterion) == pytest.approx(200 * np.log2(1e6), abs=10)


def _constant(value: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    bare = forest_of(LIBRARY, "c")
    return bare.tokens, bare.offsets, np.array([value])


def test_two_laws_that_people_know_are_compared_though_the_rows_hardly_tell_them_apart() -> None:
    x = np.linspace(1.0, 1.5, 12)[np.newaxis]
    data = data_of(x, 3.0 * x[0] ** 0.75 * (1.0 + 0.03 * np.cos(9.0 * x[0])))
    found = chosen(data, "c*x0^c", "c*x0 + c", "c*exp(c*x0)", "c*x0/(x0 + c)")
    assert len({each.expr.tokens for each in found}) == len(found) >= 3


def test_a_number_and_its_freed_constant_are_one_law() -> None:
    data = table("3.0*x**0.75", 0.01)
    library = SymbolLibrary.of([*OPERATORS, "^"], 1, constant=True, numbers=True)
    forest = forest_of(library, "c*x0^c", "c*x0^0.75").with_values(np.array([3.0, 0.7501, 3.0, 0.75]))
    candidates = Candidates(forest, np.full(2, 0.01), np.full(2, 5.0), np.arange(1, 3))
    assert len(alternatives(candidates, data, Criterion())) == 1
