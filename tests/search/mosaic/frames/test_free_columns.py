"""What comes free: complete polynomials, and bases that are orthonormal and span all columns, dependent ones too."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from edhie.search.mosaic.frames.free_columns import FreeColumns, logarithm_columns, orthonormal, polynomial_columns
from mosaics import Numbers, positive

RNG = np.random.default_rng(0)
X = positive(1, 80)[0]
TABLES = {
    "one variable": positive(1),
    "two variables": positive(2),
    "three of both signs": RNG.normal(size=(3, 100)),
    "a constant column": np.stack([np.full(80, 2.0), X]),
    "a column of zeros": np.stack([np.zeros(80), X]),
    "a column twice": np.stack([X, X, positive(1, 80, 5)[0]]),
    "one distinct value": np.full((2, 50), 1.5),
    "few rows": positive(2, 5),
    "one row": positive(2, 1),
    "large and small": np.stack([1e100 * X, 1e-100 * X]),
}


@pytest.fixture(params=TABLES)
def table(request: pytest.FixtureRequest) -> Numbers:
    return TABLES[request.param]


def blocks_of(table: Numbers) -> list[FreeColumns]:
    scale = RNG.uniform(0.5, 2, table.shape[1])
    polynomials = [polynomial_columns(table, scale, most=most) for most in (66, 1)]
    return [*polynomials, *(logarithm_columns(table, scale, is_rich=rich) for rich in (True, False))]


def test_bases_are_orthonormal_and_span_all_columns(table: Numbers) -> None:
    for block in blocks_of(table):
        basis = block.basis
        np.testing.assert_allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=1e-12)
        columns = block.columns * block.row_scale
        left = np.linalg.norm(block.without(columns), axis=1)
        assert (left <= 1e-8 * np.linalg.norm(columns, axis=1)).all()
        target = RNG.normal(size=table.shape[1])
        rest = block.without(target)
        np.testing.assert_allclose(rest @ basis, 0, atol=1e-12)
        np.testing.assert_allclose(block.without(rest), rest, atol=1e-12)


def test_what_comes_after_a_dependent_column_is_spanned_whole() -> None:
    columns = RNG.normal(size=(6, 40))
    columns[2] = columns[0] - 3 * columns[1]
    basis = orthonormal(columns.T)
    assert basis.shape == (40, 5)
    np.testing.assert_allclose(columns - (columns @ basis) @ basis.T, 0, atol=1e-10)


@pytest.mark.parametrize(("n", "rows"), [(1, 80), (2, 80), (2, 12), (3, 500), (5, 256), (30, 256), (70, 256), (2, 3)])
def test_polynomials_are_complete(n: int, rows: int) -> None:
    variables = np.random.default_rng(1).uniform(0.5, 2, (n, rows))
    block = polynomial_columns(variables, np.ones(rows))
    degree = int(block.exponents.sum(axis=1).max())
    assert len(block.exponents) == math.comb(n + degree, degree) == len(np.unique(block.exponents, axis=0))
    assert len(block.exponents) <= max(rows // 4, 1)
    assert not block.exponents[0].any()
    if n <= 3:
        wanted = {each for each in product(range(degree + 1), repeat=n) if sum(each) <= degree}
        assert set(map(tuple, block.exponents.tolist())) == wanted
    for exponents, column in zip(block.exponents, block.columns, strict=True):
        np.testing.assert_allclose(column, np.prod(variables ** exponents[:, np.newaxis], axis=0), rtol=1e-14)


def test_without_riches_there_is_only_a_constant() -> None:
    ones, variables = np.ones(80), positive(3)
    for block in (polynomial_columns(variables, ones, most=1), logarithm_columns(variables, ones, is_rich=False)):
        np.testing.assert_array_equal(block.columns, np.ones((1, 80)))


def test_columns_whose_squares_overflow_are_left_out() -> None:
    block = polynomial_columns(np.stack([1e120 * X, X]), np.ones(80))
    assert np.isfinite(np.square(block.columns)).all()
    assert block.exponents[:, 0].max() == 1
    assert block.exponents[:, 1].max() > 1


def test_logarithms_are_of_variables_that_are_nowhere_0() -> None:
    variables = np.stack([X, -X, np.where(np.arange(80) == 3, 0.0, X)])
    block = logarithm_columns(variables, np.ones(80))
    assert block.exponents.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    np.testing.assert_allclose(block.columns, [np.ones(80), np.log(X), np.log(X)])


def test_regressors_are_values_and_in_products_logarithms_too() -> None:
    scale = RNG.uniform(0.5, 2, 80)
    pieces = np.stack([X, X - 1.0, np.where(np.arange(80) == 0, 0.0, X)])
    found, which, is_log = polynomial_columns(positive(1), scale).regressors(pieces)
    np.testing.assert_array_equal(found, pieces * scale)
    assert (which.tolist(), is_log.any()) == ([0, 1, 2], False)
    found, which, is_log = logarithm_columns(positive(1), scale).regressors(pieces)
    assert which.tolist() == [0, 1, 2, 0, 1]
    assert is_log.tolist() == [False] * 3 + [True] * 2
    np.testing.assert_allclose(found[3:], np.log(np.abs(pieces[:2])) * scale)


def test_a_piece_that_the_columns_have_already_is_worth_nothing() -> None:
    block = polynomial_columns(positive(1), np.ones(80))
    _, squares = block.residuals(np.stack([3 * X**2 - X, np.sin(5 * X), np.full(80, 2.0)]))
    assert (squares > 0).tolist() == [False, True, False]
