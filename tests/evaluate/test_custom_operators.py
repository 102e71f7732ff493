"""Values for many constants at once are those that come one by one, whatever a user's operator does with columns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from edhie.evaluate.constants.fitting import FitConfig, fit_constants
from edhie.evaluate.constants.jacobian import Response
from edhie.evaluate.data import Data
from edhie.evaluate.values import MOST_NUMBERS, Interpreted, numpy_values
from edhie.expr import Expr, Forest, SymbolLibrary, operator, parse

Numbers = NDArray[np.float64]
X = np.linspace(0.2, 3.0, 23)[np.newaxis]
POINTS = np.random.default_rng(0).normal(1.0, 0.7, (9, 4))


def only_so_many(a: Numbers) -> Numbers:
    if a.shape not in ((), (1,), X[0].shape):
        raise ValueError("not my column")
    return np.asarray(np.tanh(a))


def written_into(a: Numbers) -> Numbers:
    a = np.atleast_1d(a)
    a[a > 1] = 1.0
    return a


OWN: dict[str, Callable[..., Numbers]] = {
    "by_row": np.arctan,
    "of_column": lambda a: a - np.mean(a),
    "running": np.cumsum,
    "only_so_many": only_so_many,
    "flat": lambda a: np.float64(2.0),
    "whole": lambda a: np.sign(a).astype(np.int64),
}
LIBRARY = SymbolLibrary.of(
    ["+", "-", "*", "/", "exp", "sin", *(operator(name, 1, numpy=function) for name, function in OWN.items()),
     operator("pair", 2, numpy=np.hypot), operator("written_into", 1, numpy=written_into)],
    ["x"], constant=True, numbers=True,
)  # fmt: skip


def one_by_one(expr: Expr, constants: Numbers) -> Numbers:
    return np.array([numpy_values(expr.with_constants(row.tolist()), X) for row in constants])


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize(
    "form", ["c*{f}(c*x) + c*sin(c)", "{f}({f}(x) + c)/(c + x*x) - c*c", "c + pair(c*x, {f}(x))*exp(c) - {f}(c)"]
)
def test_together_as_one_by_one(name: str, form: str) -> None:
    expr = parse(form.format(f=name), LIBRARY)
    constants = POINTS[:, : len(expr.constants)]
    found = Interpreted(expr, X).values(constants)
    np.testing.assert_allclose(found, one_by_one(expr, constants), rtol=1e-13, atol=1e-14)


def test_an_operator_may_write_into_what_it_gets() -> None:
    expr = parse("written_into(c*x) + written_into(x + 1) + c", LIBRARY)
    many = Interpreted(expr, X)
    for _ in range(2):  # what was computed once is still there
        np.testing.assert_allclose(many.values(POINTS[:, :2]), one_by_one(expr, POINTS[:, :2]), rtol=1e-14)


def test_constants_that_are_no_numbers_and_columns_that_are_long() -> None:
    expr = parse("c*by_row(c*x)", LIBRARY)
    many = np.tile(POINTS[:, :2], (MOST_NUMBERS // X.size // 9 + 2, 1))
    many[[3, -2], 0] = np.nan, np.inf
    found = Interpreted(expr, X).values(many)
    assert np.isnan(found[[3, -2]]).all()
    whole = np.isfinite(many[:, 0])
    np.testing.assert_allclose(found[whole], (many[:, :1] * np.arctan(many[:, 1:] * X))[whole], rtol=1e-13)
    assert Interpreted(expr, X).values(np.empty((0, 2))).shape == (0, X.size)


def test_linear_constants_are_known_and_have_slopes() -> None:
    response = Response(parse("c*by_row(c*x) + c*x - c", LIBRARY).with_constants([2.0, 0.7, -3.0, 1.0]), X)
    assert response.is_linear.tolist() == [True, False, True, True]
    values, slopes = response.jacobian(response.constants)
    expected = [np.arctan(0.7 * X[0]), X[0], np.full(X.size, -1.0)]
    np.testing.assert_allclose(slopes[[0, 2, 3]], expected, rtol=1e-11)
    np.testing.assert_allclose(slopes[1], 2 * X[0] / (1 + (0.7 * X[0]) ** 2), rtol=1e-9)
    np.testing.assert_array_equal(values, response.values(response.constants))


@pytest.mark.parametrize("name", ["by_row", "of_column", "only_so_many"])
def test_all_of_them_are_fitted_and_the_same_again(name: str) -> None:
    form = parse(f"c*{name}(c*x + c) + c*x", LIBRARY)
    y = numpy_values(form.with_constants([1.7, 0.8, -0.6, 0.4]), X)
    data = Data(X, y, None, ("x",))
    found, again = (fit_constants(Forest.from_exprs([form]), data, config=FitConfig(iterations=60)) for _ in range(2))
    assert found.squared_errors[0] < 1e-12
    np.testing.assert_array_equal(found.forest.values, again.forest.values)
