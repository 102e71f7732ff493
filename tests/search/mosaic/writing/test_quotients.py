"""Quotients of polynomials are found exactly, and sparse ones under noise; nothing is found where there is none."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.evaluate.values import values
from edhie.expr import Forest, SymbolLibrary
from edhie.search.mosaic.config import MosaicConfig
from edhie.search.mosaic.frames.frame import LINKS
from edhie.search.mosaic.frames.noise_frames import RowNoise, noise_views
from edhie.search.mosaic.writing.quotients import noisy_quotients, quotients
from edhie.search.pieces.spelling import Speller
from mosaics import Numbers, data_of, free, misses, positive, strict

X = positive(2, 150)
A, B = X
Z = np.random.default_rng(0).uniform(1, 5, (4, 800))
SPARSE = {
    "centre of mass": (Z[0] * Z[1] + Z[2] * Z[3]) / (Z[0] + Z[2]),
    "lens": Z[0] * Z[1] / (Z[1] + Z[2] * Z[0]),
    "saturation": 2.5 * Z[0] / (1.8 + Z[0]),
    "root": np.sqrt(Z[0] * Z[1] / (Z[2] + Z[3])),
}
both = pytest.mark.parametrize("library", [free(), strict()], ids=["free", "strict"])


@both
@pytest.mark.parametrize(
    "y",
    [
        (A + 2) / (B + 1), -(A**2) / (A + B + 1), (A * B - 3) / (A**2 + 1),
        np.sqrt((A + B) / (A + 1)), -np.sqrt(A / (B + 1)), np.log((A + 5) / (B + 4)), np.arcsin(A / (A + B)),
    ],
)  # fmt: skip
def test_quotients_are_found(y: Numbers, library: SymbolLibrary) -> None:
    data = data_of(X, y)
    links = [link for link in LINKS if link.holds(y)]
    found = quotients(data, Speller(library), links)
    assert misses(found, data, library).min() < 1e-7
    assert all(set(expr.tokens) <= set(library.names) for expr in found)


@pytest.mark.parametrize("y", [(np.cos(A) - B) / (1 - 2 * B * np.cos(A)), B / (np.exp(A) - 1)])
def test_a_variable_within_a_function(y: Numbers) -> None:
    data = data_of(X, y)
    assert misses(quotients(data, Speller(free()), [LINKS[0]]), data, free()).min() < 1e-7


@pytest.mark.parametrize("y", [np.sin(3 * A) + B, A + np.random.default_rng(0).normal(size=150)])
def test_what_is_none_is_not_found(y: Numbers) -> None:
    assert quotients(data_of(X, y), Speller(free()), [LINKS[0]]) == []


def test_hostile_data() -> None:
    rng = np.random.default_rng(0)
    tables = [
        (np.full((2, 50), 2.0), rng.normal(size=50)),
        (np.zeros((1, 50)), rng.normal(size=50)),
        (10.0 ** rng.uniform(-300, 300, (2, 50)), 10.0 ** rng.uniform(-140, 140, 50)),
        (rng.normal(size=(60, 100)), rng.normal(size=100)),
        (np.ones((1, 1)), np.ones(1)),
        (positive(1, 50), np.zeros(50)),
    ]
    for columns, y in tables:
        speller = Speller(free(len(columns)))
        assert isinstance(quotients(data_of(columns, y), speller, [LINKS[0]]), list)


def test_numbers_where_a_variable_is_0() -> None:
    grid = np.linspace(-2, 2, 41)
    data = data_of(np.stack([grid]), (grid + 3) / (grid**2 + 1))
    library = strict(1)
    found = quotients(data, Speller(library, data), [LINKS[0]])
    assert misses(found, data, library).min() < 1e-7
    bare = SymbolLibrary.of(["+", "-", "*", "/"], 1)  # that has no way to write 1 there
    assert quotients(data, Speller(bare, data), [LINKS[0]]) == []


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", SPARSE)
def test_a_sparse_quotient_is_found_under_noise(name: str, seed: int) -> None:
    y, library = SPARSE[name], free(4)
    size = 0.1 * float(y.std())
    data = data_of(Z, y + size * np.random.default_rng([seed, 1]).standard_normal(len(y)))
    noise = RowNoise(data.y, np.full(len(y), size))
    views = noise_views(data, library, MosaicConfig(), noise)
    found = Forest.from_exprs(noisy_quotients(data, views, Speller(library, data)), library)
    with np.errstate(all="ignore"):
        errors = np.sqrt(np.square(values(found, Z) - y).mean(axis=1))
    short = found.sizes <= 25
    assert errors[short & np.isfinite(errors)].min() < 0.3 * size
