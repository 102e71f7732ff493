"""Curves with two constants inside: each family finds its own curves, and what cannot be one is passed over."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.evaluate.values import values
from edhie.expr import Forest, SymbolLibrary
from edhie.search.mosaic.writing.curves import FAMILIES, best_of, curve_expressions
from mosaics import OPERATORS, data_of

X = np.sort(np.random.default_rng(0).uniform(1, 12, 60))
LIBRARY = SymbolLibrary.of([*OPERATORS, "^"], 1, constant=True)
TRUTHS = {
    "gauss": 2 + 3 * np.exp(-(((X - 4.4) / 1.3) ** 2)),
    "lorentz": 5 / ((X - 7.1) ** 2 + 1.7),
    "logistic": 50 / (1 + np.exp(-(X - 6) / 1.1)),
    "arctan": 3 - 2 * np.arctan(0.8 * (X - 5)),
    "shifted power": 4 * (X + 2.2) ** -1.7,
    "decay over a line": 20 * np.exp(-0.2 * X) / (X + 0.8),
    "saturation": 9 * (1 - np.exp(-0.35 * X)),
    "vapour pressure": 3 * np.exp(-7 / (X + 0.9)),
}


@pytest.mark.parametrize("name", TRUTHS)
def test_one_curve_is_near_the_target(name: str) -> None:
    data = data_of(X[np.newaxis], TRUTHS[name])
    found = values(Forest.from_exprs(curve_expressions(data, LIBRARY), LIBRARY), data.columns)
    assert np.square(found - data.y).mean(axis=1).min() < 0.05 * data.y.var()


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.template)
@pytest.mark.parametrize("x", [np.full(60, 3.0), 1e200 * X, X + 1e6, 1e-200 * X, X - 1e4, -X])
def test_any_column_is_looked_at(family: object, x: np.ndarray) -> None:
    for with_constant in (False, True):
        found = best_of(family, x, TRUTHS["gauss"], np.ones(60), with_constant=with_constant)  # type: ignore[arg-type]
        assert found is None or np.isfinite(found).all()


def test_where_none_can_be_written_there_is_none() -> None:
    data = data_of(X[np.newaxis], TRUTHS["gauss"])
    for library in (SymbolLibrary.of(["+", "*"], 1, constant=True), SymbolLibrary.of(OPERATORS, 1)):
        assert curve_expressions(data, library) == []
