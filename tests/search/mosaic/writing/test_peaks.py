"""Peaks on a background: one that is written is near the target, whatever the column; heights are those of the rows."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.evaluate.values import values
from edhie.expr import Forest, SymbolLibrary
from edhie.search.mosaic.writing.peaks import SHAPES, best_peaks, peak_expressions
from mosaics import Numbers, data_of, free

X = np.sort(np.random.default_rng(0).uniform(2, 12, 120))


def bell(place: float, width: float) -> Numbers:
    return np.asarray(np.exp(-(((X - place) / width) ** 2)))


TRUTHS = {
    "one on a level": 3 * bell(5, 1) + 2,
    "two on a decay": 3 * bell(5, 1) + 2 * bell(8, 0.8) + 4 * np.exp(-0.2 * X),
    "a dip on a line": X - 2 * bell(7, 1.5),
    "resonances": 2 / ((X - 4) ** 2 + 0.5) + 1 / ((X - 9) ** 2 + 0.3) + 0.2,
}


@pytest.mark.parametrize("name", TRUTHS)
def test_one_sum_is_near_the_target(name: str) -> None:
    y, library = TRUTHS[name], free(1)
    data = data_of(X[np.newaxis], y)
    found = values(Forest.from_exprs(peak_expressions(data, library), library), data.columns)
    assert np.square(found - y).mean(axis=1).min() < 0.05 * y.var()


@pytest.mark.parametrize("x", [np.full(120, 3.0), 1e200 * X, X + 1e6, 1e-200 * X, np.round(X)])
def test_any_column_is_looked_at(x: Numbers) -> None:
    data = data_of(x[np.newaxis], TRUTHS["resonances"])
    for expr in peak_expressions(data, free(1)):
        assert np.isfinite([float(each or 0.0) for each in expr.constants]).all()


def test_constants_stand_in_the_order_of_the_template() -> None:
    found = dict(best_peaks(SHAPES[0], X, TRUTHS["one on a level"], np.ones(len(X))))
    np.testing.assert_allclose(found["{c}*exp({c}*({x} - {c})^2) + {c}"], [3, -1, 5, 2], rtol=0.4)


def test_where_none_can_be_written_there_is_none() -> None:
    data = data_of(X[np.newaxis], TRUTHS["one on a level"])
    for library in (SymbolLibrary.of(["+", "*", "sin"], 1, constant=True), SymbolLibrary.of(["+", "*", "exp"], 1)):
        assert peak_expressions(data, library) == []
