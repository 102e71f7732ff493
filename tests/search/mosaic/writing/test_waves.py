"""Waves: frequency, envelope and phase are near the truth, and what cannot be one is passed over."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.evaluate.values import values
from edhie.expr import Forest, SymbolLibrary
from edhie.search.mosaic.writing.waves import wave_expressions, waves_of
from edhie.search.pieces.spelling import Speller
from mosaics import data_of, free

RNG = np.random.default_rng(0)
X = np.sort(RNG.uniform(2, 12, 90))
NOISE = 0.03 * RNG.standard_normal(90)
TRUTHS = {
    "wave": 1.3 * np.sin(2.1 * X + 0.7) + 0.5,
    "damped": 2 * np.exp(-0.3 * X) * np.cos(3 * X + 0.4),
    "growing": 0.1 * np.exp(0.25 * X) * np.cos(1.4 * X),
    "beside a line": np.cos(5 * X) + 0.4 * X - 2,
}


@pytest.mark.parametrize("library", [free(1), SymbolLibrary.of(["+", "-", "*", "sin", "exp"], 1, constant=True)])
@pytest.mark.parametrize("name", TRUTHS)
def test_one_of_the_waves_is_near_the_target(name: str, library: SymbolLibrary) -> None:
    y = TRUTHS[name]
    data = data_of(X[np.newaxis], y + NOISE * np.ptp(y))
    found = values(Forest.from_exprs(wave_expressions(data, Speller(library, data)), library), data.columns)
    assert np.square(found - y).mean(axis=1).min() < 0.1 * y.var()


def test_the_frequency_is_right_to_a_step_of_the_grid() -> None:
    best = min(waves_of(X, TRUTHS["wave"] + NOISE))
    assert abs(best.frequency - 2.1) <= 0.25 * np.pi / np.ptp(X)
    assert np.hypot(best.cosine, best.sine) == pytest.approx(1.3, rel=0.1)


def test_rows_without_weight_do_not_count() -> None:
    y, weights = TRUTHS["wave"].copy(), np.ones(len(X))
    y[::10], weights[::10] = 100.0, 0.0
    assert min(waves_of(X, y, weights)).frequency == min(waves_of(X, TRUTHS["wave"])).frequency


@pytest.mark.parametrize(
    "x", [np.repeat([1.0, 2.0, 3.0], 30), np.full(90, 3.0), 1e200 * X, X + 1e6, -1e300 * X, 1e-200 * X]
)
def test_any_column_is_looked_at(x: np.ndarray) -> None:
    for wave in waves_of(x, TRUTHS["damped"]):
        assert np.isfinite([*wave[:5], *wave.beside]).all()


def test_where_no_wave_can_be_written_there_is_none() -> None:
    data = data_of(X[np.newaxis], TRUTHS["wave"])
    for library in (SymbolLibrary.of(["+", "*", "exp"], 1, constant=True), SymbolLibrary.of(["+", "*", "sin"], 1)):
        assert wave_expressions(data, Speller(library, data)) == []
