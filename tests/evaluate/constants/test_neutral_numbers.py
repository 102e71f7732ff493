"""Numbers that change nothing go; values stay."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edhie.evaluate.constants.neutral_numbers import without_neutral
from edhie.expr import Expr, SymbolLibrary, parse
from edhie.expr.interpret import interpret
from strategies import LIBRARIES, exprs

ROWS = {"x": np.array([0.5, 1.5, 2.5]), "y": np.array([-1.0, 0.25, 3.0])}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1*x0", "x0"),
        ("x0*1 + 0", "x0"),
        ("0 - x0", "-x0"),
        ("(-1)*x0 + x1", "-x0 + x1"),
        ("x0 + (-2)", "x0 - 2"),
        ("x0 - (-2)*x1", "x0 + 2*x1"),
        ("x0 + (-1)*x1", "x0 - x1"),
        ("x0 + (-3)*pi/4", "x0 - 3*pi/4"),
        ("1/2*x0", "x0/2"),
        ("x0*(1/3)", "x0/3"),
        ("2/3*x0", "2/3*x0"),
        ("x0/(1/2)", "2*x0"),
        ("x0/1 + x1/(-1)", "x0 - x1"),
        ("x0^1 + x1^0", "x0 + 1"),
        ("x0^(1/2)", "sqrt(x0)"),
        ("x0^(-1)", "1/x0"),
        ("x0^(2)", "x0^2"),
        ("0*exp(c*x0) + c", "c"),
        ("--x0", "x0"),
        ("sin(1*x0)*max(0 + x1, 1)", "sin(x0)*max(x1, 1)"),
        ("1/2 + 2*3", "1/2 + 2*3"),
    ],
)
def test_what_is_left(text: str, expected: str) -> None:
    assert str(without_neutral(parse(text, variables=["x0", "x1"]))) == expected


@settings(max_examples=60)
@given(exprs(LIBRARIES["everything"], numbers=("0", "1", "-1", "2", "-2", "0.5"), values=st.sampled_from([0.0, 1.5])))
def test_values_stay_where_they_are_finite(expr: Expr) -> None:
    before, after = interpret(expr, ROWS), interpret(without_neutral(expr), ROWS)
    before, after = np.broadcast_arrays(before, after)
    finite = np.isfinite(before)
    np.testing.assert_allclose(after[finite], before[finite], rtol=1e-9, atol=1e-12)
    assert without_neutral(expr).size <= expr.size


def test_a_variable_keeps_the_name_of_an_operator() -> None:
    library = SymbolLibrary.of(["+", "-", "*", "/", "^"], ["neg", "sqrt"], numbers=True)
    assert str(without_neutral(parse("0 - neg + sqrt^(1/2)", library))) == "-1*neg + sqrt^(1/2)"


def test_the_library_grows_by_what_is_needed() -> None:
    library = SymbolLibrary.of(["^", "*"], ["x"], numbers=True)
    assert without_neutral(parse("1*x^2", library)).library == library
    assert without_neutral(parse("x^0.5", library)).library.names == (*library.names, "sqrt")
