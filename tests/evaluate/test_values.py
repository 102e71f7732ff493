"""Values and sums of squares by the kernels: what NumPy and mpmath say, whatever the data and the threads."""

from __future__ import annotations

import warnings

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from agreement import tolerance, value_at
from edhie.errors import EdhieError, ExpressionError
from edhie.evaluate.data import Data
from edhie.evaluate.machine.program import plan
from edhie.evaluate.parallel import using_threads
from edhie.evaluate.values import squared_errors, values
from edhie.expr import Expr, Forest, SymbolLibrary, parse
from edhie.expr import standard_libraries as standard
from edhie.expr.interpret import interpret, numpy_function
from edhie.expr.symbols import OPERATORS
from edhie.grammar import load, universal_grammar
from strategies import LIBRARIES, TAME_NUMBERS, exprs

EVERYTHING = standard.everything(2)
HOSTILE = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 3.0, 1e308, -1e308, 5e-324, -1e-310, np.inf, -np.inf, np.nan])
PAIRS = np.ascontiguousarray(np.array(np.meshgrid(HOSTILE, HOSTILE)).reshape(2, -1))


def drawn(n: int, library: SymbolLibrary = EVERYTHING, seed: int = 0) -> Forest:
    """Random expressions with random constants and numbers."""
    rng = np.random.default_rng(seed)
    forest = universal_grammar(library).sample(n, rng, max_height=8)
    return Forest(library, forest.tokens, forest.offsets, rng.normal(0, 3, len(forest.values)))


def by_numpy(expr: Expr, columns: NDArray[np.float64]) -> NDArray[np.float64]:
    found = interpret(expr, dict(zip(expr.library.variables, columns, strict=True)))
    return np.array(np.broadcast_to(found, columns.shape[1:]))


def data_of(columns: NDArray[np.float64], y: NDArray[np.float64], weights: NDArray[np.float64] | None = None) -> Data:
    return Data(columns, y, weights, tuple(f"x{j}" for j in range(len(columns))))


@pytest.mark.parametrize("name", list(OPERATORS))
def test_every_operator_means_what_numpy_says(name: str) -> None:
    symbol = EVERYTHING[name]
    forest = Forest.from_exprs([Expr(EVERYTHING, (name, *("x0", "x1")[: symbol.arity]))])
    with np.errstate(all="ignore"):
        expected = numpy_function(symbol)(*PAIRS[: symbol.arity])
    found = values(forest, PAIRS)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-15)
    if name not in ("min", "max", "sign", "abs"):  # of 0 and -0 NumPy returns either
        assert (np.signbit(found) == np.signbit(expected))[~np.isnan(found)].all()


@given(exprs(EVERYTHING, numbers=TAME_NUMBERS, values=st.floats(-3, 3), max_symbols=15), st.integers(0, 2**32 - 1))
def test_values_are_those_of_mpmath(expr: Expr, seed: int) -> None:
    columns = np.random.default_rng(seed).uniform(-3, 3, (2, 3))
    for row, found in enumerate(values(Forest.from_exprs([expr]), columns)[0]):
        expected = value_at(expr, {"x0": columns[0, row], "x1": columns[1, row]})
        if expected is not None:
            with mpmath.workdps(60):
                bound = tolerance(expected) + mpmath.mpf(1e-12) * abs(expected.exact)
                assert abs(mpmath.mpf(float(found)) - expected.exact) <= bound, (str(expr), found)


@pytest.mark.parametrize("rows", [0, 1, 2, 255, 256, 257, 1000])
def test_any_number_of_rows(rows: int) -> None:
    forest = drawn(200, seed=rows)
    columns = np.random.default_rng(rows).uniform(0.5, 2, (2, rows))
    found = values(forest, columns)
    assert found.shape == (len(forest), rows)
    for k, expr in enumerate(forest):
        expected = by_numpy(expr, columns)
        ordinary = np.abs(expected) < 1e6
        np.testing.assert_allclose(found[k][ordinary], expected[ordinary], rtol=1e-6)


@pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)
def test_every_library(library: SymbolLibrary) -> None:
    rng = np.random.default_rng(0)
    columns = rng.uniform(0.5, 2, (len(library.variables), 40))
    forest = universal_grammar(library).sample(100, rng, max_height=5)
    forest = Forest(library, forest.tokens, forest.offsets, rng.normal(size=len(forest.values)))
    for expr, found in zip(forest, values(forest, columns), strict=True):
        expected = by_numpy(expr, columns)
        ordinary = np.abs(expected) < 1e6
        np.testing.assert_allclose(found[ordinary], expected[ordinary], rtol=1e-6)


def test_a_hundred_thousand_expressions_on_hostile_data() -> None:
    forest = drawn(100_000)
    rng = np.random.default_rng(1)
    columns = rng.choice(HOSTILE, (2, 33))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with using_threads(2):
            found = values(forest, columns)
            sums = squared_errors(forest, data_of(columns, np.ones(33)))
    for k in rng.integers(0, len(forest), 500).tolist():
        expected = by_numpy(forest[k], columns)
        wild = np.isnan(expected) | np.isinf(expected) | (np.abs(expected) > 1e3)
        np.testing.assert_array_equal(np.isnan(found[k])[~wild], False)
    assert (sums[~np.isfinite(found).all(1)] == np.inf).all()
    assert not np.isnan(sums).any()


def test_neither_threads_nor_neighbours_change_anything() -> None:
    forest = drawn(300)
    columns = np.random.default_rng(0).uniform(-2, 2, (2, 777))
    alone = np.concatenate([values(forest[k : k + 1], columns) for k in range(len(forest))])
    for threads in (1, 2, 3, None):
        with using_threads(threads):
            np.testing.assert_array_equal(values(forest, columns), alone)
    data = data_of(columns, columns[0])
    sums = squared_errors(forest, data)
    with using_threads(2):
        np.testing.assert_array_equal(squared_errors(forest[::-1], data)[::-1], sums)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_sums_of_squares(is_weighted: bool) -> None:
    forest = drawn(400)
    rng = np.random.default_rng(0)
    columns, y = rng.uniform(0.5, 2, (2, 1000)), rng.normal(size=1000)
    weights = rng.random(1000) if is_weighted else None
    found = squared_errors(forest, data_of(columns, y, weights))
    with np.errstate(all="ignore"):
        expected = ((values(forest, columns) - y) ** 2 * (1 if weights is None else weights)).sum(1)
    expected[~np.isfinite(expected)] = np.inf
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    bounds = np.where(rng.random(len(forest)) < 0.5, found, 0.5 * found)
    bounded = squared_errors(forest, data_of(columns, y, weights), bounds=bounds)
    np.testing.assert_array_equal(bounded, np.where(found <= bounds, found, np.inf))


def test_results_never_overwrite_operands() -> None:
    program = plan(drawn(2000))
    for operand in (program.left, program.right):
        assert (program.targets != operand).all()


def test_a_forest_without_expressions() -> None:
    forest = Forest.from_exprs([], EVERYTHING)
    assert values(forest, np.ones((2, 5))).shape == (0, 5)
    assert squared_errors(forest, data_of(np.ones((2, 5)), np.ones(5))).shape == (0,)


def test_what_is_missing_is_told() -> None:
    forest = Forest.from_exprs([parse("x0", EVERYTHING), parse("c*x0", EVERYTHING)])
    with pytest.raises(ExpressionError, match=r"'c' has no value in expression 1, 'c\*x0'"):
        values(forest, np.ones((2, 3)))
    with pytest.raises(EdhieError, match="2 variables; the data has the shape"):
        values(forest[:1], np.ones((3, 3)))
    with pytest.raises(EdhieError, match="contiguous rows of float64"):
        values(forest[:1], np.ones((3, 2)).T)


def test_the_papers_grammars() -> None:
    for name in ("nguyen-2", "feynman-2"):
        forest = load(name).sample(300, np.random.default_rng(0), max_height=7)
        forest = forest.with_values(np.full(len(forest.values), 1.5))
        columns = np.random.default_rng(0).uniform(0.5, 1.5, (2, 50))
        for expr, found in zip(forest, values(forest, columns), strict=True):
            expected = by_numpy(expr, columns)
            ordinary = np.abs(expected) < 1e3
            np.testing.assert_allclose(found[ordinary], expected[ordinary], rtol=1e-8, atol=1e-12)
