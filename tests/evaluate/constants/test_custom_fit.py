"""Expressions with a user's operators are fitted like all others, only slower."""

from typing import Any

import numpy as np
import pytest

from edhie.errors import ExpressionError
from edhie.evaluate.constants.fitting import THOROUGH, FitConfig, fit_constants
from edhie.evaluate.data import Data
from edhie.evaluate.values import squared_errors
from edhie.expr import Forest, SymbolLibrary, operator, parse
from strategies import GAUSS, HYPOT

ROOT = operator("root", 1, numpy=np.sqrt)
BREAKS = operator("breaks", 1, numpy=lambda a: np.where(a > 1, np.exp(1000 * a), np.nan))
LIBRARY = SymbolLibrary.of(["+", "-", "*", "sin", GAUSS, HYPOT, ROOT, BREAKS], ["x"], constant=True, numbers=True)
X = np.linspace(-1, 4, 80)


def data_for(text: str, constants: list[float], weights: np.ndarray | None = None) -> Data:
    return Data(X[np.newaxis], parse(text, LIBRARY).with_constants(constants)(x=X) + 0 * X, weights, ("x",))


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("c*gauss(c*x + c) + c", [2.0, 1.5, -2.0, 1.0]),
        ("c*hypot(x, c)", [0.7, 2.0]),
        ("c*sin(c*x) + gauss(x)", [1.2, 2.1]),
        ("root(x + 1 + c*c)", [1.5, 1.5]),
        ("gauss(x)", []),
    ],
)
@pytest.mark.parametrize("weights", [None, np.linspace(0, 1, len(X))], ids=["even", "weighted"])
def test_the_truth_is_found(text: str, truth: list[float], weights: np.ndarray | None) -> None:
    data = data_for(text, truth, weights)
    forest = Forest.from_exprs([parse(text, LIBRARY), parse("c*x", LIBRARY)])
    found = fit_constants(forest, data, config=FitConfig(iterations=60))
    assert found.squared_errors[0] < 1e-16
    np.testing.assert_allclose(found.squared_errors, squared_errors(found.forest, data), rtol=1e-9, atol=1e-25)


def test_it_begins_where_constants_are_and_gets_no_worse() -> None:
    data = data_for("sin(c*x) + gauss(x)", [9.0])
    warm = Forest.from_exprs([parse("sin(c*x) + gauss(x)", LIBRARY).with_constants([9.1])])
    found = fit_constants(warm, data, config=FitConfig(points=0))
    assert found.forest.values == pytest.approx([9.0])
    assert found.squared_errors[0] <= squared_errors(warm, data)[0]


def test_bounds_and_the_seed_hold() -> None:
    data = data_for("c*gauss(c*x)", [2.0, 1.5])
    forest = Forest.from_exprs([parse("c*gauss(c*x)", LIBRARY)])
    config = FitConfig(lower=0.5, upper=1.8)
    found = fit_constants(forest, data, config=config)
    assert ((found.forest.values >= 0.5) & (found.forest.values <= 1.8)).all()
    np.testing.assert_array_equal(found.forest.values, fit_constants(forest, data, config=config).forest.values)


def test_what_cannot_be_computed_has_an_infinite_error_and_no_warning() -> None:
    data = data_for("c*x", [1.0])
    forest = Forest.from_exprs(
        [parse("root(c*x)", LIBRARY), parse("c*breaks(c*x)", LIBRARY), parse("gauss(c)", LIBRARY)]
    )
    found = fit_constants(forest, data, config=FitConfig(points=8))
    assert np.isinf(found.squared_errors[:2]).all()
    assert np.isfinite(found.squared_errors[2])
    assert np.isnan(found.forest.values[:3]).all()


def test_points_without_values_are_passed_over() -> None:
    data = Data(X[np.newaxis], np.sqrt(X + 2.5), None, ("x",))
    found = fit_constants(Forest.from_exprs([parse("root(x + c)", LIBRARY)]), data, config=THOROUGH)
    assert found.forest.values == pytest.approx([2.5])


def test_operators_cannot_change_the_data() -> None:
    doubled = operator("doubled", 1, numpy=lambda a: np.multiply(a, 2.0, out=a))
    library = SymbolLibrary.of(["*", doubled], ["x"], constant=True)
    data = Data(X[np.newaxis].copy(), X, None, ("x",))
    for forest in (Forest.from_exprs([parse(text, library)]) for text in ("doubled(x)", "c*doubled(x)")):
        with pytest.raises(ValueError, match="read-only"):
            fit_constants(forest, data)
        np.testing.assert_array_equal(data.columns[0], X)


@pytest.mark.parametrize("function", [lambda a: a + 1j, lambda a: np.zeros(3), lambda a: "text"])
def test_operators_that_give_no_column_of_numbers_are_told(function: Any) -> None:
    library = SymbolLibrary.of(["+", operator("odd", 1, numpy=function)], ["x"], constant=True)
    data = Data(X[np.newaxis], X, None, ("x",))
    with pytest.raises(ExpressionError, match="one real number per row"):
        squared_errors(Forest.from_exprs([parse("odd(x)", library)]), data)
    with pytest.raises(ExpressionError, match="one real number per row"):
        fit_constants(Forest.from_exprs([parse("odd(x + c)", library)]), data)
