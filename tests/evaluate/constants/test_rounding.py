"""Readable numbers, where the error allows them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edhie.evaluate.constants.polish import polish
from edhie.evaluate.constants.readable_numbers import number_library, readable_numbers
from edhie.evaluate.constants.rounding import readable
from edhie.evaluate.data import Data, error_limit
from edhie.evaluate.reading import read_data
from edhie.evaluate.values import squared_errors
from edhie.expr import Expr, Forest, SymbolLibrary, parse
from strategies import GAUSS, LIBRARIES, TAME_NUMBERS, exprs

X = np.linspace(0.1, 5, 100)


def error_of(expr: Expr, data: Data) -> float:
    return float(squared_errors(Forest.from_exprs([expr]), data)[0])


@pytest.mark.parametrize(
    ("text", "found", "truth", "expected"),
    [
        ("c*x0", [0.4999999], [0.5], "x0/2"),
        ("c*x0", [3.14159], [math.pi], "pi*x0"),
        ("c + x0", [0.333333], [1 / 3], "1/3 + x0"),
        ("c*x0", [9.81], [9.81], "9.81*x0"),
        ("c*x0 + c", [9.81, 1e-12], [9.81, 0.0], "9.81*x0"),
        ("c*x0", [1.0000001], [1.0], "x0"),
        ("c*x0 + x0^2", [-0.99999], [-1.0], "-x0 + x0^2"),
        ("x0 + c", [-2.00001], [-2.0], "x0 - 2"),
        ("sin(c*x0 + c)", [2.9999, 0.785398], [3.0, math.pi / 4], "sin(3*x0 + pi/4)"),
        ("c*exp(c*x0^2)", [0.39894, -0.5001], [1 / math.sqrt(2 * math.pi), -0.5], "1/sqrt(2*pi)*exp(-1/2*x0^2)"),
        ("c/x0", [0.0795], [1 / (4 * math.pi)], "1/(4*pi)/x0"),
        ("c*x0^c", [1.4142, 0.50001], [math.sqrt(2), 0.5], "sqrt(2)*sqrt(x0)"),
        ("c*x0", [9.8], [math.pi**2], "pi^2*x0"),
        ("c*x0", [6.62607015e-34], [6.62607015e-34], "6.62607015e-34*x0"),
        ("c*x0", [299792458.0], [299792458.0], "299792458*x0"),
        ("c*x0", [0.5772156649015329], [0.5772156649015329], "0.577215665*x0"),
        ("c*c*x0", [0.7, 0.3], [0.5, 0.5], "x0/4"),
        ("x0^2", [], [], "x0^2"),
    ],
)
def test_without_noise(text: str, found: list[float], truth: list[float], expected: str) -> None:
    data = read_data(X, parse(text).with_constants(truth)(x0=X))
    assert str(readable(parse(text).with_constants(found), data)) == expected


def test_with_noise_only_as_far_as_the_error_allows() -> None:
    noise = np.random.default_rng(0).normal(size=len(X))
    data = read_data(X, 2.97 * X + 0.1 * noise)
    expr = parse("c*x0").with_constants([2.97])
    close, loose = readable(expr, data), readable(expr, data, slack=1.0)
    best = polish(Forest.from_exprs([expr]), data).squared_errors[0]
    assert error_of(close, data) <= best * (1 + 1e-6)
    assert str(close) != "3*x0"
    assert len(str(close)) <= len("2.9700*x0")
    assert str(loose) == "3*x0"
    assert error_of(loose, data) <= best * 2
    assert best * (1 + 1e-6) < error_of(parse("3*x0"), data)


@settings(max_examples=50)
@given(
    exprs(
        LIBRARIES["everything"],
        names=["+", "-", "*", "/", "^", "^2", "sin", "exp", "sqrt", "abs", "c", "x", "y"],
        numbers=TAME_NUMBERS,
        values=st.floats(-3, 3) | st.just(0.0),
        max_symbols=14,
    ),
    st.sampled_from([1e-6, 1e-2]),
    st.booleans(),
)
def test_the_error_never_rises_beyond_the_slack(expr: Expr, slack: float, noisy: bool) -> None:
    columns = np.array([X, np.sin(3 * X)])
    with np.errstate(all="ignore"):
        y = np.broadcast_to(expr(x=columns[0], y=columns[1]), X.shape)
    y = y if np.isfinite(y).all() and np.ptp(y) > 0 and np.abs(y).max() < 1e100 else X
    y = y + 0.01 * np.ptp(y) * np.cos(40 * X) * noisy
    data = Data(columns, y, None, ("x", "y"))
    found = readable(expr, data, slack=slack)
    before = error_of(expr, data)
    assert error_of(found, data) <= error_limit(before, data, slack=slack)
    assert found.constants == () or not math.isfinite(before)
    assert str(parse(str(found), found.library)) == str(found)


def test_the_library_grows_by_what_is_written() -> None:
    library = SymbolLibrary.of(["*", "+"], ["x"], constant=True)
    expr = parse("c*x + c", library).with_constants([math.pi / 2, 1.0])
    found = readable(expr, Data(X[np.newaxis], math.pi / 2 * X + 1, None, ("x",)))
    assert str(found) == "pi/2*x + 1"
    assert set(found.library.names) == {*library.names, "#", "pi", "/"}


def test_names_that_are_variables_stay_variables() -> None:
    library = SymbolLibrary.of(["*", "+"], ["pi", "sqrt"], constant=True)
    data = Data(np.array([X, X**2]), math.pi * X + math.sqrt(2) * X**2, None, ("pi", "sqrt"))
    found = readable(parse("c*pi + c*sqrt", library).with_constants([3.0, 1.4]), data)
    assert f"{found:.6g}" == "3.14159*pi + 1.41421*sqrt"


def test_a_users_operator() -> None:
    library = SymbolLibrary.of(["*", "+", GAUSS], ["x"], constant=True)
    data = Data(X[np.newaxis], 2 * np.exp(-np.square(0.75 * X)), None, ("x",))
    expr = parse("c*gauss(c*x)", library).with_constants([1.9, 0.8])
    assert str(readable(expr, data)) == "2*gauss(3/4*x)"


def test_what_is_not_finite_comes_back_as_it_is() -> None:
    expr = parse("log(c - x0)").with_constants([1.0])
    assert readable(expr, read_data(X, X)) == expr


@pytest.mark.parametrize("value", [0.5, -1 / 3, 2.718, 1e-300, -1e300, 5e-324, 0.0, 123456.789, -math.pi / 6])
@pytest.mark.parametrize("reach", [0.0, 1e-9, 0.1, math.inf])
def test_numbers_are_what_their_trees_say(value: float, reach: float) -> None:
    library = number_library(SymbolLibrary.of([], ["x"]))
    numbers = readable_numbers(value, reach, library)
    assert numbers[-1].value == value
    for number in numbers:
        assert float(Expr(library, number.tokens)()) == pytest.approx(number.value, rel=1e-15)
        assert abs(number.value - value) <= reach
    assert [each.cost for each in numbers] == sorted(each.cost for each in numbers)
