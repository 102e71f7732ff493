"""The plain meaning: NumPy functions applied from the leaves up."""

import numpy as np
import pytest
from hypothesis import given

from edhie.errors import ExpressionError
from edhie.expr import Expr, SymbolLibrary, operator, parse
from edhie.expr.interpret import interpret, numpy_function
from edhie.expr.standard_libraries import everything
from edhie.expr.symbols import OPERATORS
from strategies import exprs, finite

X = np.array([-2.0, -0.5, 0.0, 0.5, 1.0, 3.0])
MEANING = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "^": lambda a, b: a**b,
    "neg": lambda a: -a,
    "^2": lambda a: a * a,
    "^3": lambda a: a**3,
    "^4": lambda a: a**4,
    "^5": lambda a: a**5,
    "inv": lambda a: 1 / a,
    "sqrt": lambda a: a**0.5,
    "cbrt": lambda a: np.sign(a) * np.abs(a) ** (1 / 3),
    "log10": lambda a: np.log(a) / np.log(10),
    "abs": lambda a: np.where(a < 0, -a, a),
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "min": lambda a, b: np.where(a < b, a, b),
    "max": lambda a, b: np.where(a > b, a, b),
    "sign": lambda a: (a > 0) * 1.0 - (a < 0),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_each_symbol_means_what_its_name_says(name):
    symbol = OPERATORS[name]
    operands = [X, X[::-1]][: symbol.arity]
    expr = Expr(everything(["x", "y"]), [name, "x", "y"][: symbol.arity + 1])
    with np.errstate(all="ignore"):
        expected = MEANING.get(name, getattr(np, name, None))(*operands)
    np.testing.assert_allclose(expr(x=X, y=X[::-1]), expected, rtol=1e-12)


def by_recursion(expr: Expr, columns: dict[str, np.ndarray], fitted: list[float]):
    symbol = expr.symbol
    if symbol.kind == "operator":
        return numpy_function(symbol)(*[by_recursion(child, columns, fitted) for child in expr.children])
    if symbol.kind == "constant":
        return np.asarray(fitted.pop(0))
    return (
        columns[symbol.name]
        if symbol.kind == "variable"
        else {"pi": np.pi, "e": np.e}.get(expr.tokens[0]) or float(expr.tokens[0])
    )


@given(exprs(everything(["x", "y"]), values=finite))
def test_values_agree_with_plain_recursion(expr):
    columns = {"x": X, "y": X[::-1]}
    with np.errstate(all="ignore"):
        expected = by_recursion(expr, columns, list(expr.constants))
    np.testing.assert_array_equal(interpret(expr, columns), expected)


def test_invalid_operations_are_silent():
    assert np.isnan(parse("log(x)")(x=-1.0))
    assert parse("1/x")(x=[0.0, 2.0]).tolist() == [np.inf, 0.5]
    assert parse("exp(x)")(x=1e10) == np.inf


def test_columns_broadcast_and_extra_ones_are_ignored():
    expr = parse("x + y")
    assert expr(x=np.zeros((2, 1)), y=[1, 2, 3], z="text").shape == (2, 3)
    assert parse("lambda*2")(**{"lambda": 3}) == 6
    assert parse("self*2")(self=3) == 6
    assert parse("3")() == 3


def test_a_users_operator_is_called():
    library = SymbolLibrary.of([operator("clipped", 1, numpy=lambda a: np.clip(a, 0, 1))], ["x"])
    assert Expr(library, ["clipped", "x"])(x=[-1, 0.5, 7]).tolist() == [0, 0.5, 1]


@pytest.mark.parametrize(
    ("columns", "complaint"),
    [
        ({}, "no values for the variable 'x' of 'x \\+ c\\*y'; none were given"),
        ({"x": 1, "z": 2}, "no values for the variable 'y' .*; given: x, z"),
        ({"x": 1, "y": 2}, "constants without values; give them by with_constants"),
        ({"x": [1, 2], "y": [1, 2, 3]}, r"the columns differ in shape: x \(2,\), y \(3,\)"),
        ({"x": ["a"], "y": 1}, "values of the variable 'x' are not real numbers"),
        ({"x": 1j, "y": 1}, "values of the variable 'x' are not real numbers"),
        ({"x": [[1], [1, 2]], "y": 1}, "values of the variable 'x' are not real numbers"),
    ],
)
def test_what_cannot_be_computed(columns, complaint):
    with pytest.raises(ExpressionError, match=complaint):
        parse("x + c*y", variables=["x", "y"])(**columns)
