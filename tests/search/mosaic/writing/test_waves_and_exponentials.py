"""Waves and sums of exponentials: one that is written is near the target, and what cannot be one is passed over."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from edhie.evaluate.values import values
from edhie.expr import Forest, SymbolLibrary
from edhie.search.mosaic.config import OneVariable
from edhie.search.mosaic.writing.peaks import OneVariableData
from edhie.search.mosaic.writing.waves_and_exponentials import (
    Wave,
    best_exponentials,
    exponential_expressions,
    product_waves,
    wave_expressions,
    waves_of,
)
from edhie.search.pieces.spelling import Speller
from mosaics import Numbers, data_of, free, misses

RNG = np.random.default_rng(0)
X = np.sort(RNG.uniform(2, 12, 90))
NOISE = 0.03 * RNG.standard_normal(90)
WAVES = {
    "wave": 1.3 * np.sin(2.1 * X + 0.7) + 0.5,
    "damped": 2 * np.exp(-0.3 * X) * np.cos(3 * X + 0.4),
    "growing": 0.1 * np.exp(0.25 * X) * np.cos(1.4 * X),
    "beside a line": np.cos(5 * X) + 0.4 * X - 2,
}
T = np.sort(np.random.default_rng(0).uniform(1, 12, 60))
EXPONENTIALS = {
    "decay": 3 * np.exp(-1.8 * T) + 1.2 * np.exp(-0.25 * T),
    "rise and decay": 5 * (np.exp(-0.3 * T) - np.exp(-1.1 * T)),
    "to a level": 2 - np.exp(-0.2 * T) + 3 * np.exp(-T),
    "three": 0.1 * np.exp(-0.1 * T) + 2 * np.exp(-0.5 * T) + 20 * np.exp(-2 * T),
}


def one_variable(x: Numbers, y: Numbers, weights: Numbers | None = None) -> list[OneVariableData]:
    return list(OneVariableData.each(data_of(x[np.newaxis], y, weights), 1, OneVariable.LEAST_VALUES))


def best_wave(y: Numbers, weights: Numbers | None = None) -> Wave:
    return min(waves_of(*one_variable(X, y, weights)))


@pytest.mark.parametrize("library", [free(1), SymbolLibrary.of(["+", "-", "*", "sin", "exp"], 1, constant=True)])
@pytest.mark.parametrize("name", WAVES)
def test_one_of_the_waves_is_near_the_target(name: str, library: SymbolLibrary) -> None:
    y = WAVES[name]
    data = data_of(X[np.newaxis], y + NOISE * np.ptp(y))
    found = values(Forest.from_exprs(wave_expressions(data, Speller(library, data)), library), data.columns)
    assert np.square(found - y).mean(axis=1).min() < 0.1 * y.var()


def test_the_frequency_is_right_to_a_step_of_the_grid() -> None:
    best = best_wave(WAVES["wave"] + NOISE)
    assert abs(best.frequency - 2.1) <= 0.25 * np.pi / np.ptp(X)
    assert np.hypot(best.cosine, best.sine) == pytest.approx(1.3, rel=0.1)


def test_rows_without_weight_do_not_count() -> None:
    y, weights = WAVES["wave"].copy(), np.ones(len(X))
    y[::10], weights[::10] = 100.0, 0.0
    assert best_wave(y, weights).frequency == best_wave(WAVES["wave"]).frequency


@pytest.mark.parametrize(
    "x", [np.repeat([1.0, 2.0, 3.0], 30), np.full(90, 3.0), 1e200 * X, X + 1e6, -1e300 * X, 1e-200 * X, X - 1e4]
)
def test_any_column_is_looked_at(x: Numbers) -> None:
    for one in one_variable(x, WAVES["damped"]):
        for wave in waves_of(one):
            assert np.isfinite([*wave[:5], *wave.beside]).all()
    for one in one_variable(x[:60], EXPONENTIALS["decay"]):
        for n, with_constant in OneVariable.EXPONENTIALS:
            found = best_exponentials(one, n, with_constant=with_constant)
            assert found is None or np.isfinite([*found[0], *found[1]]).all()


@pytest.mark.parametrize("name", EXPONENTIALS)
def test_one_sum_of_exponentials_is_near_the_target(name: str) -> None:
    y, library = EXPONENTIALS[name], free(1)
    data = data_of(T[np.newaxis], y)
    found = values(Forest.from_exprs(exponential_expressions(data, Speller(library, data)), library), data.columns)
    assert np.square(found - y).mean(axis=1).min() < 0.01 * y.var()


def test_three_exponentials_are_told_from_two() -> None:
    misses = {}
    (one,) = one_variable(T, EXPONENTIALS["three"])
    for n in (2, 3):
        found = best_exponentials(one, n, with_constant=False)
        assert found is not None
        misses[n] = np.square(one.y - found[1] @ np.exp(np.outer(found[0], T))).sum()
    assert misses[3] < 0.2 * misses[2]


def test_where_none_can_be_written_there_is_none() -> None:
    of, data = SymbolLibrary.of, data_of(X[np.newaxis], WAVES["wave"])
    for library in (of(["+", "*", "exp"], 1, constant=True), of(["+", "*", "sin"], 1)):
        assert wave_expressions(data, Speller(library, data)) == []
    data = data_of(T[np.newaxis], EXPONENTIALS["decay"])
    for library in (of(["+", "*", "sin"], 1, constant=True), of(["+", "*", "exp"], 1)):
        assert exponential_expressions(data, Speller(library, data)) == []


@pytest.mark.parametrize(
    "angle", [lambda a, b, c: 4 * a * b / c, lambda a, b, c: 6 * a * b, lambda a, b, c: 9 * a / (b * c)]
)
def test_waves_of_products(angle: Callable[..., Numbers]) -> None:
    columns = np.random.default_rng(0).uniform(1, 3, (3, 400))
    data = data_of(columns, 2 + np.sin(angle(*columns)))
    found = product_waves(data, Speller(free(3), data))
    assert misses(found, data, free(3)).min() < 0.3 * np.std(data.y)


def test_no_wave_of_a_product() -> None:
    columns = np.random.default_rng(0).uniform(1, 3, (3, 400))
    data = data_of(columns, np.random.default_rng(1).normal(size=400))
    assert product_waves(data, Speller(free(3), data)) == []
