"""Values to many digits: right where doubles are, and undefined where there is no real value."""

from __future__ import annotations

import math
import time

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from edhie.errors import ExpressionError
from edhie.expr import Expr, SymbolLibrary, operator, parse
from edhie.expr.interpret import interpret
from edhie.expr.precise import FUNCTIONS, UndefinedError, precise_value
from edhie.expr.standard_libraries import everything
from edhie.expr.symbols import OPERATORS

LIBRARY = everything(["x", "y"])


def test_every_operator_of_the_table_is_there() -> None:
    assert set(FUNCTIONS) == set(OPERATORS)


@pytest.mark.parametrize("name", OPERATORS)
@given(x=st.floats(-4, 4), y=st.floats(-4, 4))
def test_operators_agree_with_numpy(name: str, x: float, y: float) -> None:
    expr = Expr(LIBRARY, [name, "x", "y"][: OPERATORS[name].arity + 1])
    ours = float(interpret(expr, {"x": x, "y": y}))
    try:
        exact = precise_value(expr, {"x": mpmath.mpf(x), "y": mpmath.mpf(y)})
    except UndefinedError:
        assert not math.isfinite(ours) or abs(ours) > 1e300 or ours == 0  # underflow
    else:
        assert math.isfinite(ours) or abs(exact) > 1e300
        assert math.isclose(ours, exact, rel_tol=1e-13, abs_tol=1e-300) or not math.isfinite(ours)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.1 + 0.2", "0.3"), ("1/3", "0.3333333333333333333333333333333333333333"), ("cbrt(-8)", "-2"), ("0^0", "1"),
        ("sinh(1e-40)*1e40", "1"), ("log10(1000)", "3"), ("sign(-3)", "-1"), ("(-2)^3", "-8"), ("(-2)^(-3)", "-0.125"),
        ("pi", "3.141592653589793238462643383279502884197"), ("e", "2.718281828459045235360287471352662497757"),
        ("(1 + 1e-25)^2 - 1 - 2e-25", "1e-50"), ("min(0.1, 1/10)", "0.1"), ("tanh(10^1000)", "1"), ("abs(-0.5)", "0.5"),
    ],
)  # fmt: skip
def test_known_values(text: str, expected: str) -> None:
    with mpmath.workdps(90):
        assert mpmath.almosteq(precise_value(parse(text), {}), mpmath.mpf(expected), mpmath.mpf(10) ** -38)


@pytest.mark.parametrize(
    "text",
    [
        "1/0", "inv(0)", "0^(-1)", "(-8)^(1/3)", "log(0)", "log(-1)", "log10(0)", "sqrt(-1e-50)", "asin(1 + 1e-50)",
        "acos(-2)", "9^9^9^9", "exp(exp(exp(10)))", "sin(10^10^10)", "1e308^1e308", "exp(-exp(100))", "0.5^1e10",
        "sinh(10000)", "cosh(-10000)", "log(log(1))",
    ],
)  # fmt: skip
def test_what_has_no_value_says_so_at_once(text: str) -> None:
    start = time.monotonic()
    with mpmath.workdps(60), pytest.raises(UndefinedError):
        precise_value(parse(text), {})
    assert time.monotonic() - start < 1


def test_constants_in_prefix_order_fitted_ones_as_printed() -> None:
    expr = parse("c*x - c", variables=["x"])
    assert precise_value(expr, {"x": mpmath.mpf(3)}, constants=[2, 5]) == 1
    half_fitted = expr.with_constants([None, 0.1])
    with mpmath.workdps(40):
        value = precise_value(half_fitted, {"x": mpmath.mpf(3)}, constants=[mpmath.mpf(2)])
        assert abs(value - mpmath.mpf("5.9")) < mpmath.mpf(10) ** -38
    with pytest.raises(ExpressionError, match="2 constants are not fitted, 1 values"):
        precise_value(expr, {"x": mpmath.mpf(3)}, constants=[2])


def test_a_user_operator_is_computed_by_its_sympy_function() -> None:
    library = SymbolLibrary.of(
        [
            operator("bump", 1, numpy=lambda a: np.exp(-a * a), sympy=lambda a: sympy.exp(-(a**2))),
            operator("blind", 1, numpy=np.exp),
            operator("root", 1, numpy=np.sqrt, sympy=sympy.sqrt),
        ],
        ["x"],
    )
    with mpmath.workdps(50):
        value = precise_value(Expr(library, ["bump", "x"]), {"x": mpmath.mpf(2)})
        assert abs(value - mpmath.exp(-4)) < mpmath.mpf(10) ** -47
        with pytest.raises(UndefinedError, match="blind"):
            precise_value(Expr(library, ["blind", "x"]), {"x": mpmath.mpf(2)})
        with pytest.raises(UndefinedError):
            precise_value(Expr(library, ["root", "x"]), {"x": mpmath.mpf(-2)})


def test_a_deadline_holds_inside_one_expression() -> None:
    expr = Expr(LIBRARY, ["sin"] * 4000 + ["x"])
    start = time.monotonic()
    with mpmath.workdps(2000), pytest.raises(TimeoutError):
        precise_value(expr, {"x": mpmath.mpf(1)}, deadline=start + 0.3)
    assert time.monotonic() - start < 2
