"""Polishing: to the last digit, and never for the worse."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edhie.evaluate.constants.fitting import FitConfig, fit_constants
from edhie.evaluate.constants.polish import polish
from edhie.evaluate.data import Data
from edhie.evaluate.reading import read_data
from edhie.evaluate.values import squared_errors
from edhie.expr import Expr, Forest, SymbolLibrary, parse
from strategies import GAUSS, LIBRARIES, TAME_NUMBERS, exprs

X = np.linspace(0.1, 5, 60)
SOME_VALUES = st.floats(-3, 3) | st.sampled_from([0.0, 1.0, -1e-9, 1e9])


def data_of(library: SymbolLibrary, *, weighted: bool) -> Data:
    columns = np.array([X * (k + 1) - k for k in range(len(library.variables))])
    y = 2 * np.sin(columns[0]) + 1
    return Data(columns, y, np.linspace(0, 2, len(X)) if weighted else None, library.variables)


@settings(max_examples=60)
@given(
    st.sampled_from(["feynman", "trig", "everything", "a user's operators"]).flatmap(
        lambda name: st.lists(
            exprs(LIBRARIES[name], numbers=TAME_NUMBERS, values=SOME_VALUES, max_symbols=14), min_size=1, max_size=3
        )
    ),
    st.booleans(),
)
def test_no_error_gets_worse(trees: list[Expr], weighted: bool) -> None:
    forest = Forest.from_exprs(trees)
    data = data_of(forest.library, weighted=weighted)
    found = polish(forest, data)
    before, after = squared_errors(forest, data), squared_errors(found.forest, data)
    assert (after <= before).all()
    np.testing.assert_array_equal(after, found.squared_errors)
    np.testing.assert_array_equal(found.forest.tokens, forest.tokens)


@pytest.mark.parametrize(
    ("text", "start", "truth"),
    [
        ("c*x0 + c", [1.0, 1.0], [3.7, -0.2]),
        ("c*sin(c*x0) + c", [1.9, 2.9, 0.8], [2.0, 3.0, 1.0]),
        ("c*exp(c*x0)", [1.0, -1.0], [2.5, -0.3]),
        ("c*x0^c/(c + x0)", [1.5, 1.8, 0.7], [1.1, 2.3, 0.5]),
        ("c*x0^5 + c*x0^4 + c*x0^3 + c*x0^2 + c*x0 + c", [1.0] * 6, [0.1, -0.2, 0.3, -0.4, 0.5, -0.6]),
        ("exp(c*x0) + 1e6*c*x0^2", [0.9, 1e-6], [0.5, 1e-7]),
    ],
)
def test_without_noise_the_truth_is_reached_to_rounding(text: str, start: list[float], truth: list[float]) -> None:
    expr = parse(text)
    data = read_data(X, expr.with_constants(truth)(x0=X))
    found = polish(Forest.from_exprs([expr.with_constants(start)]), data)
    assert found.squared_errors[0] < 1e-28 * data.squares_to_explain
    np.testing.assert_allclose(found.forest[0].constants, truth, rtol=1e-11)


def test_ill_conditioned_sums_keep_their_digits() -> None:
    """Normal equations see a condition of 1e16 here, and nothing below the eighth digit."""
    expr = parse("c*x0^3 + c*x0^2 + c*x0 + c")
    x = np.linspace(100, 101, 80)
    truth = [1.0, -2.0, 3.0, -4.0]
    data = read_data(x, expr.with_constants(truth)(x0=x))
    fitted = fit_constants(Forest.from_exprs([expr]), data)
    found = polish(fitted.forest, data)
    assert found.squared_errors[0] <= fitted.squared_errors[0]
    assert found.squared_errors[0] < 1e-28 * float(data.y @ data.y)


def test_slopes_that_do_not_exist_do_not_stop_it() -> None:
    x = np.linspace(0, 2, 30)
    data = read_data(x, np.sqrt(3 * x))
    expr = parse("sqrt(c*x0)")
    assert polish(Forest.from_exprs([expr.with_constants([1.0])]), data).forest[0].constants == pytest.approx([3.0])
    assert fit_constants(Forest.from_exprs([expr]), data).forest[0].constants == pytest.approx([3.0])


def test_bounds_hold_from_wherever_it_begins() -> None:
    data = read_data(X, 5 * X)
    for start in (2.5, 1.0, 7.0):
        one = Forest.from_exprs([parse("c*x0").with_constants([start])])
        assert fit_constants(one, data, config=FitConfig(lower=2, upper=3)).forest.values.tolist() == [3.0]
    assert polish(one, data, lower=2, upper=8).forest.values == pytest.approx([5.0])


def test_a_users_operator_and_nothing_to_polish() -> None:
    library = SymbolLibrary.of(["+", "*", GAUSS], ["x"], constant=True, numbers=True)
    data = Data(X[np.newaxis], 2 * np.exp(-np.square(0.7 * X)), None, ("x",))
    forest = Forest.from_exprs([parse("c*gauss(c*x)", library).with_constants([1, 1]), parse("2*x", library)])
    found = polish(forest, data)
    assert found.forest.values == pytest.approx([2.0, 0.7, 2.0], rel=1e-8)
    assert len(polish(forest[:0], data).forest) == 0
