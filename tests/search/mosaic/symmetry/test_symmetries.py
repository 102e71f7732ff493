"""Symmetries are found from data alone, and what is left is a function of fewer variables."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.evaluate.values import values
from edhie.expr import Expr, Forest
from edhie.expr.standard_libraries import everything
from edhie.search.mosaic.symmetry.symmetries import Reduction, find_reduction
from mosaics import Numbers, data_of

A, B, C, D = X = np.random.default_rng(0).uniform(1, 3, (4, 400))
LIBRARY = everything(4)


def found_in(y: Numbers) -> Reduction | None:
    return find_reduction(data_of(X, y), LIBRARY, np.random.default_rng(0))


def derived(reduction: Reduction, columns: Numbers) -> Numbers:
    return values(Forest.from_exprs([Expr(LIBRARY, each) for each in reduction.variables], LIBRARY), columns)


@pytest.mark.parametrize(
    ("y", "n_left", "moved"),
    [
        (A / D * np.tanh(B / C), 1, [1, 3, 3, 1]),  # B and C in another unit
        (np.exp(-A * B / (C * D)), 1, [2, 0.5, 1, 1]),
        (D**2 * np.log(1 + A**2 / (B * C)), 1, [2, 4, 1, 1]),
        (D * np.cos(A) * (1 + B / C) ** 1.5, 1, [1, 3, 3, 1]),
    ],
    ids=["ratio", "two ratios", "powers", "a cosine"],
)
def test_fewer_variables_are_left(y: Numbers, n_left: int, moved: list[float]) -> None:
    reduction = found_in(y)
    assert reduction is not None
    assert len(reduction.variables) == n_left
    unchanged = derived(reduction, np.ascontiguousarray(X * np.array(moved)[:, np.newaxis]))
    np.testing.assert_allclose(unchanged, derived(reduction, X), rtol=1e-12)


def test_a_difference() -> None:
    reduction = found_in(D / (4 + B * np.cos(A - C)))
    assert reduction is not None
    assert sorted(reduction.variables) == [("-", "x0", "x2"), ("x1",)]
    assert reduction.scale == ((("x3",), 1),)


def test_without_symmetry_nothing_is_found() -> None:
    assert found_in(np.exp(A) + np.sin(2 * B) + np.sqrt(C) * np.log(D + A)) is None
    assert found_in(np.random.default_rng(1).normal(size=400)) is None
    assert found_in(np.ones(400)) is None


def test_few_rows_say_nothing() -> None:
    few = np.ascontiguousarray(X[:, :60])
    assert find_reduction(data_of(few, few[0] / few[1]), LIBRARY, np.random.default_rng(0)) is None


def test_the_library_has_to_write_it() -> None:
    y = np.exp(-A / B)
    assert find_reduction(data_of(X, y), LIBRARY, np.random.default_rng(0)) is not None
    no_division = type(LIBRARY)(tuple(each for each in LIBRARY.symbols if each.name != "/"))
    assert find_reduction(data_of(X, y), no_division, np.random.default_rng(0)) is None
