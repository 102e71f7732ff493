"""Sums of exponentials: one that is written is near the target, and what cannot be one is passed over."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.evaluate.values import values
from edhie.expr import Forest, SymbolLibrary
from edhie.search.mosaic.config import OneVariable
from edhie.search.mosaic.writing.exponentials import best_exponentials, exponential_expressions
from edhie.search.pieces.spelling import Speller
from mosaics import data_of, free

X = np.sort(np.random.default_rng(0).uniform(1, 12, 60))
TRUTHS = {
    "decay": 3 * np.exp(-1.8 * X) + 1.2 * np.exp(-0.25 * X),
    "rise and decay": 5 * (np.exp(-0.3 * X) - np.exp(-1.1 * X)),
    "to a level": 2 - np.exp(-0.2 * X) + 3 * np.exp(-X),
    "three": 0.1 * np.exp(-0.1 * X) + 2 * np.exp(-0.5 * X) + 20 * np.exp(-2 * X),
}


@pytest.mark.parametrize("name", TRUTHS)
def test_one_sum_is_near_the_target(name: str) -> None:
    y, library = TRUTHS[name], free(1)
    data = data_of(X[np.newaxis], y)
    found = values(Forest.from_exprs(exponential_expressions(data, Speller(library, data)), library), data.columns)
    assert np.square(found - y).mean(axis=1).min() < 0.01 * y.var()


@pytest.mark.parametrize("x", [np.full(60, 3.0), 1e200 * X, X + 1e6, 1e-200 * X, X - 1e4])
@pytest.mark.parametrize(("n", "with_constant"), OneVariable.EXPONENTIALS)
def test_any_column_is_looked_at(x: np.ndarray, n: int, with_constant: bool) -> None:
    found = best_exponentials(x, TRUTHS["decay"], np.ones(60), n, with_constant=with_constant)
    assert found is None or np.isfinite([*found[0], *found[1]]).all()


def test_where_none_can_be_written_there_is_none() -> None:
    data = data_of(X[np.newaxis], TRUTHS["decay"])
    for library in (SymbolLibrary.of(["+", "*", "sin"], 1, constant=True), SymbolLibrary.of(["+", "*", "exp"], 1)):
        assert exponential_expressions(data, Speller(library, data)) == []


def test_three_exponentials_are_told_from_two() -> None:
    y, ones = TRUTHS["three"], np.ones(60)
    misses = {}
    for n in (2, 3):
        found = best_exponentials(X, y, ones, n, with_constant=False)
        assert found is not None
        rates, coefficients = found
        misses[n] = np.square(y - coefficients @ np.exp(np.outer(rates, X))).sum()
    assert misses[3] < 0.2 * misses[2]
