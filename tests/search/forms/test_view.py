from __future__ import annotations

import numpy as np
import pytest

from edhie.evaluate import values
from edhie.evaluate.data import Data
from edhie.expr import Forest, SymbolLibrary, parse
from edhie.form import Form
from edhie.search.forms.view import undone, view_of

LIBRARY = SymbolLibrary.of(
    "+ - * / ^ neg inv ^2 ^3 ^4 ^5 sqrt cbrt exp log log10 abs sin cos tan asin acos atan sinh cosh tanh".split(),
    2,
    constant=True,
    numbers=True,
)
COLUMNS = np.random.default_rng(0).uniform(0.2, 0.9, (2, 50))


def data_of(y: np.ndarray, weights: np.ndarray | None = None) -> Data:
    return Data(COLUMNS, np.asarray(y, np.float64), weights, ("x0", "x1"))


def predicted(forest: Forest) -> np.ndarray:
    return values(forest, COLUMNS)[0]


@pytest.mark.parametrize(
    "text",
    [
        "f(x0)", "x1 + f(x0)", "f(x0) - x1", "x1 - f(x0)", "x1*f(x0)", "f(x0)/x1", "x1/f(x0)", "f(x0)^x1", "x1^f(x0)",
        "-f(x0)", "inv(f(x0))", "f(x0)^2", "f(x0)^3", "f(x0)^4", "f(x0)^5", "sqrt(f(x0))", "cbrt(f(x0))", "exp(f(x0))",
        "log(f(x0))", "log10(f(x0))", "abs(f(x0))", "sin(f(x0))", "cos(f(x0))", "tan(f(x0))", "asin(f(x0))",
        "acos(f(x0))", "atan(f(x0))", "sinh(f(x0))", "cosh(f(x0))", "tanh(f(x0))",
        "2*log(1 + x1*f(x0)^2)/x1 - sin(x1)",
    ],
)  # fmt: skip
def test_what_is_undone_is_what_stood_there(text: str) -> None:
    template = Form.parse(text, LIBRARY)
    y = predicted(template.filled([Forest.from_exprs([parse("x0^3 + 0.05", LIBRARY)])]))
    held = np.concatenate([COLUMNS, COLUMNS[:1]])  # something near stands there now
    found = undone(template.outline, template.hole_tokens[0], held, y)
    assert found is not None
    np.testing.assert_allclose(found, COLUMNS[0] ** 3 + 0.05, rtol=1e-6)


def test_angles_are_the_nearest() -> None:
    for text, inner in (("sin(f(x0))", 7.0), ("cos(f(x0))", -9.0), ("tan(f(x0))", 20.0)):
        template = Form.parse(text, LIBRARY)
        truth = inner + 0.3 * COLUMNS[0]
        y = values(template.outline, np.concatenate([COLUMNS, truth[np.newaxis]]))[0]
        found = undone(template.outline, template.hole_tokens[0], np.vstack([COLUMNS, truth - 0.02]), y)
        np.testing.assert_allclose(found, truth, rtol=1e-6)


@pytest.mark.parametrize("text", ["f(x0)*exp(0.7*x1) + g(x1)", "f(x0)*x1 - f(x0)/3 + g(x1)", "2 - f(x0) + g(x1)"])
@pytest.mark.parametrize("weights", [None, np.linspace(0.1, 2.0, 50)])
def test_where_the_whole_is_affine_the_wanted_values_are_exact(text: str, weights: np.ndarray | None) -> None:
    template = Form.parse(text, LIBRARY)
    f, other, g = (Forest.from_exprs([parse(each, LIBRARY)]) for each in ("sin(x0)", "exp(x0) + x0^2", "x1^3"))
    then = predicted(template.filled([other, g]))
    view = view_of(template, template.filled([f, g]), 0, data_of(then, weights))
    assert view is not None
    assert view.names == ("x0",)
    np.testing.assert_allclose(view.y, np.exp(view.columns[0]) + view.columns[0] ** 2, rtol=1e-8)
    now = predicted(template.filled([f, g]))
    away = np.square(view.y - np.sin(view.columns[0])) * (1.0 if view.weights is None else view.weights)
    squares = np.square(then - now) * (1.0 if weights is None else weights)
    np.testing.assert_allclose(away / away.sum(), squares / squares.sum(), rtol=1e-6, atol=1e-9)


def test_each_call_makes_up_for_the_residual_by_itself() -> None:
    template = Form.parse("f(x0) + g(x1)*f(x1)", LIBRARY)
    f, other, g = (Forest.from_exprs([parse(each, LIBRARY)]) for each in ("sin(x0)", "exp(x0)", "2 + x1"))
    y = predicted(template.filled([other, g]))
    view = view_of(template, template.filled([f, g]), 0, data_of(y))
    assert view is not None
    assert view.weights is not None
    assert view.n_rows == 100
    first, second = view.y.reshape(2, 50)
    np.testing.assert_array_equal(view.columns[0], COLUMNS.ravel())
    np.testing.assert_allclose(first + (2 + COLUMNS[1]) * np.sin(COLUMNS[1]), y, rtol=1e-9)
    np.testing.assert_allclose(np.sin(COLUMNS[0]) + (2 + COLUMNS[1]) * second, y, rtol=1e-9)
    ratio = view.weights[50:] / view.weights[:50]
    np.testing.assert_allclose(ratio, np.square(2 + COLUMNS[1]), rtol=1e-6)


def test_inside_of_a_function_the_target_is_undone() -> None:
    template = Form.parse("log(f(x0, x1))", LIBRARY)
    f, other = (Forest.from_exprs([parse(each, LIBRARY)]) for each in ("x0 + 5", "x0^2 + 3*x1"))
    view = view_of(template, template.filled([f]), 0, data_of(predicted(template.filled([other]))))
    assert view is not None
    np.testing.assert_allclose(view.y, predicted(other), rtol=1e-9)


@pytest.mark.parametrize(("text", "part"), [("f(x0)*0 + x1", "sin(x0)"), ("exp(f(x0))", "exp(x0*2000)")])
def test_a_part_without_influence_or_with_values_that_overflow_has_no_view(text: str, part: str) -> None:
    template = Form.parse(text, LIBRARY)
    whole = template.filled([Forest.from_exprs([parse(part, LIBRARY)])])
    assert view_of(template, whole, 0, data_of(np.full(50, -1.0))) is None


def test_rows_that_cannot_be_undone_are_left_out() -> None:
    template = Form.parse("sqrt(f(x0))", LIBRARY)
    y = np.where(np.arange(50) < 10, -1.0, 0.7)
    view = view_of(template, template.filled([Forest.from_exprs([parse("x0 + 0.1", LIBRARY)])]), 0, data_of(y))
    assert view is not None
    assert view.n_rows == 40
    np.testing.assert_allclose(view.y, 0.49)
