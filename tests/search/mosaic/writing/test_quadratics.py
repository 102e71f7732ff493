"""A polynomial plus or minus a root is found exactly; nothing is found where there is none."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.search.mosaic.writing.quadratics import quadratics
from edhie.search.pieces.spelling import Speller
from mosaics import Numbers, data_of, free, misses, positive

X = positive(2, 150)
A, B = X


@pytest.mark.parametrize("y", [A + np.sqrt(A * B + 1), 3 - 2 * A - np.sqrt(B**2 + 0.5), np.sqrt(A**2 + B**2)])
def test_found(y: Numbers) -> None:
    data, library = data_of(X, y), free()
    found = quadratics(data, Speller(library, data))
    assert misses(found, data, library).min() < 1e-7


@pytest.mark.parametrize("y", [np.sin(A) + B, np.random.default_rng(0).normal(size=150), np.full(150, np.inf)])
def test_what_is_none_is_not_found(y: Numbers) -> None:
    data = data_of(X, A)
    assert quadratics(type(data)(data.columns, y, None, data.names), Speller(free(), data)) == []
