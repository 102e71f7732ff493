"""Peaks: a sum that is written is near the target, and what cannot be one is passed over."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.evaluate.values import values
from edhie.expr import Forest, SymbolLibrary
from edhie.search.mosaic.config import OneVariable
from edhie.search.mosaic.writing.peaks import (
    SHAPES,
    OneVariableData,
    best_peaks,
    peak_expressions,
)
from mosaics import OPERATORS, Numbers, data_of, free

T = np.sort(np.random.default_rng(0).uniform(2, 12, 120))


def bell(place: float, width: float) -> Numbers:
    return np.asarray(np.exp(-(((T - place) / width) ** 2)))


PEAKS = {
    "one on a level": 3 * bell(5, 1) + 2,
    "two on a decay": 3 * bell(5, 1) + 2 * bell(8, 0.8) + 4 * np.exp(-0.2 * T),
    "dip": T - 2 * bell(7, 1.5),
    "resonances": 2 / ((T - 4) ** 2 + 0.5) + 1 / ((T - 9) ** 2 + 0.3) + 0.2,
}


def one_variable(x: Numbers, y: Numbers) -> list[OneVariableData]:
    return list(OneVariableData.each(data_of(x[np.newaxis], y), 1, OneVariable.LEAST_VALUES))


@pytest.mark.parametrize("name", PEAKS)
def test_one_sum_of_peaks_is_near_the_target(name: str) -> None:
    y, library = PEAKS[name], free(1)
    data = data_of(T[np.newaxis], y)
    found = values(Forest.from_exprs(peak_expressions(data, library), library), data.columns)
    assert np.square(found - y).mean(axis=1).min() < 0.05 * y.var()


@pytest.mark.parametrize("x", [np.full(120, 3.0), 1e200 * T, T + 1e6, 1e-200 * T, np.round(T)])
def test_peaks_are_looked_for_in_any_column(x: Numbers) -> None:
    data = data_of(x[np.newaxis], PEAKS["resonances"])
    for expr in peak_expressions(data, free(1)):
        assert np.isfinite([float(each or 0.0) for each in expr.constants]).all()


def test_constants_stand_in_the_order_of_the_template() -> None:
    found = dict(best_peaks(SHAPES[0], *one_variable(T, PEAKS["one on a level"])))
    np.testing.assert_allclose(found["{c}*exp({c}*({x} - {c})^2) + {c}"], [3, -1, 5, 2], rtol=0.4)


def test_where_none_can_be_written_there_is_none() -> None:
    of, peak = SymbolLibrary.of, data_of(T[np.newaxis], PEAKS["dip"])
    for library in (of(["+", "*"], 1, constant=True), of(OPERATORS, 1)):
        assert peak_expressions(peak, library) == []
