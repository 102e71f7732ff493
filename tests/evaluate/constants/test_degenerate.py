"""Constants that are one too many: found, merged, reported; and nothing breaks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edhie.evaluate.constants.degenerate import SLACK, merge_degenerate
from edhie.evaluate.constants.fitting import fit_constants
from edhie.evaluate.constants.rounding import readable
from edhie.evaluate.constants.tolerance import error_limit
from edhie.evaluate.data import Data, read_data
from edhie.evaluate.values import squared_errors
from edhie.expr import Expr, Forest, SymbolLibrary, parse
from strategies import GAUSS, LIBRARIES, TAME_NUMBERS, exprs

X = np.linspace(0.1, 4, 60)
DATA = read_data(X, 3 * np.exp(X / 2) + 0.05 * np.cos(9 * X))


def error_of(expr: Expr, data: Data = DATA) -> float:
    return float(squared_errors(Forest.from_exprs([expr]), data)[0])


@pytest.mark.parametrize(
    ("text", "merged"),
    [
        ("c*c*x0", "c*x0"),
        ("c + c", "c"),
        ("c/c", "c"),
        ("c - c", "c"),
        ("c^c", "c"),
        ("0*c", "0"),
        ("c*(c*x0 + c)", "c*x0 + c"),
        ("c*x0 + c*x0", "c*x0"),
        ("x0 + c*c/c - c", "x0 + c"),
        ("0*c + c*x0", "c*x0"),
        ("c*exp(c*x0 + c)", "c*exp(x0*c)"),
        ("c*sqrt(c*x0)", "c*sqrt(x0)"),
        ("sign(c*x0)*c", "c*sign(x0)"),
        ("c*x0^c*c^c", "c*x0^c"),
        ("c*x0 + abs(c)", "c*x0 + abs(c)"),
        ("c*exp(c*x0)", "c*exp(c*x0)"),
        ("x0", "x0"),
    ],
)
def test_merged(text: str, merged: str) -> None:
    fitted = fit_constants(Forest.from_exprs([parse(text, variables=["x0"])]), DATA).forest[0]
    found = merge_degenerate(fitted, DATA)
    terms = merged.split(" + ")
    assert sorted(str(found.expr.free()).replace("x0*c", "c*x0").split(" + ")) == sorted(
        term.replace("x0*c", "c*x0") for term in terms
    )
    assert error_of(found.expr) <= error_limit(error_of(fitted), DATA, slack=SLACK)
    is_smaller = len(found.expr.constants) < len(fitted.constants)
    assert bool(found.groups) == is_smaller
    assert ("not needed" in found.remark) == is_smaller
    assert found.left == ()


def test_what_cannot_be_merged_is_reported() -> None:
    """The lesser of x0 and a large constant: no 0, 1 or -1 does the same."""
    expr = parse("min(x0, c)*c").with_constants([50.0, 6.0])
    found = merge_degenerate(expr, DATA)
    assert found.expr == expr
    assert found.groups == found.left == ((0,),)
    assert found.remark == "constant 0 (counted from 0) does not matter on these data"
    both = merge_degenerate(parse("min(x0, c*c)").with_constants([-7.0, -7.0]), DATA)
    assert both.groups == ((0,), (1,))
    assert both.left == ((0,),)


def test_a_users_operator_is_merged_too() -> None:
    library = SymbolLibrary.of(["*", "+", GAUSS], ["x0"], constant=True)
    data = Data(DATA.columns, 2 * np.exp(-np.square(X)), None, ("x0",))
    expr = parse("c*(c*gauss(c*x0))", library).with_constants([1.5, 1.5, 0.9])
    found = merge_degenerate(expr, data)
    assert found.groups == ((0, 1),)
    assert len(found.expr.constants) == 2
    assert error_of(found.expr, data) < 1e-18


@settings(max_examples=25)
@given(
    exprs(
        LIBRARIES["everything"], names=["+", "*", "-", "/", "^", "abs", "sign", "exp", "min", "x", "c"],
        numbers=TAME_NUMBERS, values=st.sampled_from([0.0, 1.0, -2.5, 0.3]), max_symbols=9,
    )
)  # fmt: skip
def test_nothing_breaks_and_no_error_rises(expr: Expr) -> None:
    data = Data(np.array([X, X]), DATA.y, None, ("x", "y"))
    found = merge_degenerate(expr, data)
    limit = error_limit(error_of(expr, data), data, slack=SLACK)
    assert error_of(found.expr, data) <= limit
    assert len(found.expr.constants) <= len(expr.constants)
    assert error_of(readable(found.expr, data), data) <= error_limit(limit, data, slack=1e-6)
