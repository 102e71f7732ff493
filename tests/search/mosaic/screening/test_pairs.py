"""The sums without coefficients that are found are the nearest, under either kind of noise."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.expr import SymbolLibrary
from edhie.search.mosaic.screening.pairs import plain_sums
from mosaics import data_of, forest_of, positive, strict

COLUMNS = positive(2, 100)
TEXTS = ("x0", "x1", "sin(x0)", "exp(x1)", "x0*x1", "cos(x1)", "x0^3", "sqrt(x0)")


@pytest.mark.parametrize(
    ("y", "wanted"),
    [
        (np.sin(COLUMNS[0]) + np.exp(COLUMNS[1]), {"sin(x0) + exp(x1)"}),
        (COLUMNS[0] ** 3 - COLUMNS[0] * COLUMNS[1], {"x0^3 - x0*x1"}),
        (2 * np.cos(COLUMNS[1]), {"cos(x1) + cos(x1)"}),
        (np.sqrt(COLUMNS[0]), {"sqrt(x0)"}),
    ],
)
@pytest.mark.parametrize("noise", ["none", "additive", "proportional"])
def test_the_truth_is_among_them(y: np.ndarray, wanted: set[str], noise: str) -> None:
    drawn = 0.03 * np.random.default_rng(0).normal(size=100)
    y = y + {"none": 0 * y, "additive": drawn, "proportional": drawn * y}[noise]
    found, n_screened = plain_sums(forest_of(strict(), *TEXTS), data_of(COLUMNS, y))
    assert str(found[0]) in wanted
    assert n_screened > 0


def test_only_what_the_library_has() -> None:
    library = SymbolLibrary.of(["sin", "exp"], 1)
    columns = COLUMNS[:1]
    found, n_screened = plain_sums(forest_of(library, "x0", "sin(x0)", "exp(x0)"), data_of(columns, columns[0] + 0.01))
    assert str(found[0]) == "x0"
    assert n_screened == 0
    assert len(plain_sums(forest_of(library), data_of(columns, columns[0]))[0]) == 0


def test_hostile_pieces_and_targets() -> None:
    forest = forest_of(strict(), "x0/(x0 - x0)", "exp(exp(exp(x0)^3))", "x0", "log(x0 - x1)")
    for y in (np.zeros(100), 1e140 * COLUMNS[0], 1e-140 * COLUMNS[0], COLUMNS[0]):
        found, _ = plain_sums(forest, data_of(COLUMNS, y))
        assert {str(expr) for expr in found} <= {"x0", "x0 + x0"}
