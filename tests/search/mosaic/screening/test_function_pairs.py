"""Couples of shapes: what two functions with a constant each make together."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.evaluate import Data, FitConfig, fit_constants, read_data, values
from edhie.expr import Forest, SymbolLibrary, parse
from edhie.expr.interpret import interpret
from edhie.expr.standard_libraries import everything
from edhie.fit.generator import answer_library
from edhie.generators import load
from edhie.generators.saving import general_for
from edhie.search.mosaic.screening.function_pairs import function_pairs
from edhie.search.pieces.function_grid import function_grid

FROM_HERE = FitConfig(points=0, starts=1, iterations=30, tolerance=1e-14)


def library(n: int) -> SymbolLibrary:
    general = answer_library(load(general_for(n)), strict=False, undoing=True)
    return general.with_variables([f"x{k}" for k in range(n)])


def data_of(formula: str, n: int, rows: int = 250) -> Data:
    X = np.random.default_rng(0).uniform(0.2, 5, (rows, n))  # noqa: N806
    truth = parse(formula, everything(n))
    return read_data(X, interpret(truth, {f"x{k}": X[:, k] for k in range(n)}))


def coupled(data: Data, relevance: np.ndarray | None = None) -> Forest:
    over_variables = library(data.n_variables)
    relevance = np.ones(data.n_variables) if relevance is None else relevance
    some = function_grid(over_variables, data.columns, relevance)
    return function_pairs(some, values(some, data.columns), data, relevance)[0]


@pytest.mark.parametrize(
    ("formula", "n"),
    [
        ("1.7*exp(-0.23*x0) - 1.7*exp(-1.1*x0)", 1),
        ("2*exp(-0.3*x0) + 5*exp(-2*x0) + 1", 1),
        ("3*exp(-0.4*x0)*sin(2.7*x0)", 1),
        ("4*(1 - exp(-0.8*x0))/(1.3 + x1)", 2),
        ("1.5*x1*exp(-0.37*x0) + 0.8*x0*exp(-0.9*x1)", 2),
        ("x1*exp(-0.21*x0) - x1*exp(-1.3*x0)", 2),
    ],
)
def test_with_constants_fitted_one_of_them_is_the_law(formula: str, n: int) -> None:
    data = data_of(formula, n)
    fitted = fit_constants(coupled(data), data, config=FROM_HERE).forest
    left = np.square(values(fitted, data.columns) - data.y).sum(axis=1)
    assert np.nanmin(left) < 1e-16 * np.square(data.y).sum()


def test_every_two_families_have_their_chance() -> None:
    """Nothing crowds out others: the best couple of each two families is written, and none twice."""
    forest = coupled(data_of("exp(-x0)", 1))
    assert len(forest.unique()) == len(forest)
    plain = [each for each in forest if each.tokens[0] == "+" and each.tokens.count("+") == 1]
    families = {tuple(token for token in each.tokens if token not in ("+", "c", "x0")) for each in plain}
    assert len(families) > len(plain) // 2


def test_of_many_variables_those_that_matter() -> None:
    relevance = np.array([1.0, 9.0, 1.0, 9.0, 9.0, 1.0])
    used = {name for each in coupled(data_of("x1*exp(-x3) + x4", 6), relevance) for name in each.variables}
    assert used == {"x1", "x3", "x4"}


@pytest.mark.filterwarnings("error")
def test_where_nothing_can_be_coupled_nothing_is() -> None:
    data = data_of("exp(-x0)", 1)
    empty = Forest.from_exprs([], library(1))
    assert len(function_pairs(empty, np.empty((0, data.n_rows)), data, np.ones(1))[0]) == 0
    bare = Forest.from_exprs([parse("exp(x0)", SymbolLibrary.of(["+", "*", "exp"], 1))] * 2)
    assert len(function_pairs(bare, np.ones((2, data.n_rows)), data, np.ones(1))[0]) == 0


@pytest.mark.filterwarnings("error")
def test_weights_count() -> None:
    """Rows of weight 0 change nothing."""
    data = data_of("2*exp(-0.3*x0) + 5*exp(-2*x0)", 1, 200)
    spoilt, weights = data.y.copy(), np.ones(200)
    spoilt[:40], weights[:40] = 1e3, 0.0
    weighted = Data(data.columns, spoilt, weights, data.names)
    some = function_grid(library(1), data.columns, np.ones(1))
    found, _ = function_pairs(some, values(some, data.columns), weighted, np.ones(1))
    fitted = fit_constants(found, data, config=FROM_HERE).forest
    left = np.square(values(fitted, data.columns) - data.y).sum(axis=1)
    assert np.nanmin(left) < 1e-16 * np.square(data.y).sum()
