"""Slopes by constants: the same as SymPy's, and as differences of values."""

import numpy as np
import pytest
import sympy
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from edhie.errors import EdhieError
from edhie.evaluate.constants.jacobian import Response
from edhie.evaluate.values import Interpreted, values
from edhie.expr import Expr, Forest, SymbolLibrary, parse
from strategies import GAUSS, HYPOT, LIBRARIES, exprs

ROWS = np.array([[0.4, 0.9, 1.7, 2.3], [1.2, 0.3, 0.8, 1.9]])
CONSTANTS = st.sampled_from([-1.3, 0.6, 1.1, 2.2])


def slopes_of(expr: Expr | Forest, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    response = Response(expr, columns)
    return response.jacobian(response.constants)


def symbolic_slopes(expr: Expr) -> list[sympy.Expr]:
    """The derivative of an expression by each of its constants, which are symbols k0, k1, … in it."""
    names = [f"k{i}" for i in range(len(expr.constants))]
    operators = [symbol for symbol in expr.library.symbols if symbol.kind == "operator"]
    library = SymbolLibrary.of(operators, [*expr.library.variables, *names])
    unused = iter(names)
    tokens = [next(unused) if token == expr.library.constant else token for token in expr.tokens]
    whole = Expr(library, tokens).sympy()
    by_name = {symbol.name: symbol for symbol in whole.free_symbols}
    return [whole.diff(by_name[name]) if name in by_name else sympy.Integer(0) for name in names]


@settings(max_examples=50, derandomize=True, suppress_health_check=[HealthCheck.filter_too_much])
@given(exprs(LIBRARIES["trig"], values=CONSTANTS, max_symbols=12))
def test_slopes_are_those_of_sympy(expr: Expr) -> None:
    found, slopes = slopes_of(expr, ROWS)
    assume(expr.constants and (np.abs(found) < 1e6).all())
    point = {f"k{i}": value for i, value in enumerate(expr.constants)}
    for k, derivative in enumerate(symbolic_slopes(expr)):
        by_name = {symbol.name: symbol for symbol in derivative.free_symbols}
        for row in range(ROWS.shape[1]):
            point |= dict(zip(expr.library.variables, ROWS[:, row].tolist(), strict=True))
            exact = derivative.subs({by_name[name]: point[name] for name in by_name}).evalf(30)
            if exact.is_real and abs(exact) < 1e6:
                assert slopes[k, row] == pytest.approx(float(exact), rel=1e-7, abs=1e-7)


@pytest.mark.parametrize(
    "text",
    [
        "c", "c*x0 + c", "c*exp(c*x0)", "sin(c*x0 + c)/(c + x1^2)", "log(c + abs(c*x0))*cbrt(c)", "sqrt(c*x0)^c - x1",
        "tanh(c*x0)*min(c, x1) + max(x0, c*x1)", "atan(c*x0) + asin(tanh(c)) + acos(tanh(c*x0))", "inv(c + x0)^3 - -c",
        "sinh(c)*cosh(c*x1) + tan(c*x0/4) + log10(c) + (c*x0)^4 + c^5",
    ],
)  # fmt: skip
def test_slopes_are_limits_of_differences(text: str) -> None:
    expr = parse(text, variables=["x0", "x1"])
    expr = expr.with_constants([0.7 + 0.3 * i for i in range(len(expr.constants))])
    response = Response(expr, ROWS)
    found, slopes = response.jacobian(response.constants)
    np.testing.assert_array_equal(found, values(Forest.from_exprs([expr]), ROWS)[0])
    response._interpreted = Interpreted(expr, ROWS)  # as for a user's operators
    np.testing.assert_allclose(slopes, response.jacobian(response.constants)[1], rtol=1e-9, atol=1e-9)


def test_a_users_operator_has_slopes_by_differences() -> None:
    library = SymbolLibrary.of(["*", "+", GAUSS, HYPOT], ["x", "y"], constant=True)
    expr = parse("c*gauss(c*x) + hypot(c, y)", library).with_constants([2.0, 0.5, 1e-3])
    _, slopes = slopes_of(expr, ROWS)
    x, y = ROWS
    bell = np.exp(-np.square(0.5 * x))
    expected = [bell, 2.0 * bell * (-2 * 0.5 * x * x), 1e-3 / np.hypot(1e-3, y)]
    np.testing.assert_allclose(slopes, expected, rtol=1e-8, atol=1e-9)


def test_differences_at_and_near_zero() -> None:
    library = SymbolLibrary.of(["*", "+", GAUSS], ["x", "y"], constant=True)
    for value in (0.0, 1e-25):
        _, slopes = slopes_of(parse("gauss(x) + c*y", library).with_constants([value]), ROWS)
        np.testing.assert_allclose(slopes[0], ROWS[1], rtol=1e-7)


def test_many_rows_go_block_by_block() -> None:
    rows = np.linspace(0, 1, 1000)[np.newaxis]
    _, slopes = slopes_of(parse("exp(c*x0)").with_constants([0.5]), rows)
    np.testing.assert_allclose(slopes[0], rows[0] * np.exp(0.5 * rows[0]), rtol=1e-13)


def test_what_cannot_be_differentiated_says_so() -> None:
    with pytest.raises(EdhieError, match="not of 2; choose one"):
        slopes_of(Forest.from_exprs([parse("x0"), parse("c*x0")]), ROWS[:1])
    with pytest.raises(EdhieError, match="has no value"):
        slopes_of(parse("c*x0"), ROWS[:1])
