"""`to_sympy` means exactly what the expression means, for every symbol and any names."""

from __future__ import annotations

import time

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from agreement import agree, value_at
from edhie.errors import EdhieError, ExpressionError
from edhie.expr import Expr, SymbolLibrary, operator, parse
from edhie.expr.precise import UndefinedError, precise_value
from edhie.expr.standard_libraries import everything
from edhie.expr.symbols import OPERATORS
from edhie.expr.sympy_bridge import constant_names, to_sympy
from edhie.expr.sympy_reader import from_sympy
from strategies import TAME_NUMBERS, exprs

LIBRARY = everything(["x", "y"])
NAMES = [name for name in LIBRARY.names if name != "c"]
points = st.fixed_dictionaries({name: st.floats(-3, 3).filter(lambda v: abs(v) > 1e-3) for name in "xy"})


def sympy_value(value: sympy.Expr, point: dict[str, float], digits: int) -> sympy.Expr:
    exact = {sympy.Symbol(name, real=True): sympy.Float(number, 80) for name, number in point.items()}
    return value.subs(exact).evalf(digits)


@pytest.mark.parametrize("evaluate", [True, False])
@pytest.mark.parametrize("name", OPERATORS)
@given(point=points)
@settings(max_examples=12)
def test_every_operator_is_exact(name: str, evaluate: bool, point: dict[str, float]) -> None:
    expr = Expr(LIBRARY, [name, "x", "y"][: OPERATORS[name].arity + 1])
    found = sympy_value(to_sympy(expr, evaluate=evaluate), point, 50)
    with mpmath.workdps(70):
        try:
            exact = precise_value(expr, {key: mpmath.mpf(value) for key, value in point.items()})
        except UndefinedError:
            assert not found.is_real
            return
        assert abs(exact - mpmath.mpf(str(found))) <= mpmath.mpf(10) ** -45 * max(1, abs(exact))


@given(exprs(LIBRARY, names=NAMES, numbers=TAME_NUMBERS, max_symbols=8), points)
@settings(max_examples=60)
def test_there_and_back(expr: Expr, point: dict[str, float]) -> None:
    try:
        back = from_sympy(to_sympy(expr), LIBRARY)
    except EdhieError:
        value = value_at(expr, point)
        assert value is None or value.spread >= abs(value.exact)  # sqrt(-1), 1/0, 1/sin(pi)
        return
    assert agree(expr, back, point), str(back)


@given(exprs(LIBRARY, names=NAMES, numbers=TAME_NUMBERS, max_symbols=12), points)
@settings(max_examples=60)
def test_there_and_back_as_written(expr: Expr, point: dict[str, float]) -> None:
    back = from_sympy(to_sympy(expr, evaluate=False), LIBRARY, as_written=True)
    assert agree(expr, back, point), str(back)


def test_literals_numbers_and_exactness() -> None:
    assert to_sympy(parse("pi + e")) == sympy.pi + sympy.E
    assert to_sympy(parse("3")) == sympy.Integer(3)
    assert to_sympy(parse("0.1")) == sympy.Float(0.1)
    assert to_sympy(parse("0.1"), exact=True) == sympy.Rational(1, 10)
    assert to_sympy(parse("1e300"), exact=True) == sympy.Integer(10) ** 300
    assert to_sympy(parse("2.5e-8 + 1e20"), exact=True) == sympy.Rational(5, 2 * 10**8) + 10**20


def test_constants_fitted_and_not() -> None:
    expr = parse("c*x + c*x")
    x, c0, c1 = sympy.symbols("x c0 c1", real=True)
    assert to_sympy(expr) == c0 * x + c1 * x
    assert to_sympy(expr.with_constants([2.0, None])) == 2 * x + c1 * x
    assert to_sympy(expr.with_constants([2.0, 0.5]), exact=True) == sympy.Rational(5, 2) * x
    assert from_sympy(to_sympy(expr), expr.library).constants == (None, None)


def test_the_tree_stays_with_evaluate_false() -> None:
    assert str(to_sympy(parse("x + x", variables=["x"]), evaluate=False)) == "x + x"
    assert str(to_sympy(parse("x + x", variables=["x"]))) == "2*x"


@pytest.mark.parametrize(
    "names",
    [
        ["S", "I", "E", "N", "Q", "O", "C"], ["beta", "gamma", "zeta", "lambda", "Lambda"], ["c0", "c1"], ["x", "c"],
        ["oo", "zoo", "nan"], ["c0", "c_0", "c__1"], ["e", "pi"], ["neg", "inv", "log", "exp"], ["None", "True", "def"],
        ["Symbol", "Add", "Abs", "re", "im"], ["k0", "k"], ["θ", "速度"],
    ],
    ids=",".join,
)  # fmt: skip
def test_names_mean_variables_whatever_they_are(names: list[str]) -> None:
    operators = [name for name in ("+", "-", "*", "/", "^", "sin", "neg", "exp") if name not in names]
    library = SymbolLibrary.of(operators, names, constant=True, numbers=True)
    first, last, free = names[0], names[-1], library.constant
    expr = parse(f"{first}/2 - {free}*{last} + {last}^{first} - {free}", library)
    value = to_sympy(expr)
    assert {symbol.name for symbol in value.free_symbols} == {first, last, *constant_names(library, 2)}
    back = from_sympy(value, library)
    assert back.variables == expr.variables
    assert back.constants == (None, None)
    columns = {name: 1.5 + i for i, name in enumerate(names)}
    assert back.with_constants([2.0, 2.0])(**columns) == pytest.approx(expr.with_constants([2.0, 2.0])(**columns))


def test_operators_of_a_user() -> None:
    bump = operator("bump", 1, numpy=lambda a: np.exp(-a * a), sympy=lambda a: sympy.exp(-(a**2)))
    heaviside = operator("step", 1, numpy=lambda a: np.heaviside(a, 0.5), sympy=sympy.Heaviside)
    blind = operator("blind", 2, numpy=np.hypot)
    library = SymbolLibrary.of(["+", "^", "exp", "neg", "*", bump, heaviside, blind], ["x"], numbers=True)
    x = sympy.Symbol("x", real=True)
    assert to_sympy(parse("bump(x)", library)) == sympy.exp(-(x**2))
    assert to_sympy(parse("step(x)", library)) == sympy.Heaviside(x)
    assert str(from_sympy(sympy.Heaviside(x), library)) == "step(x)"
    with pytest.raises(EdhieError, match="takes 1"):
        from_sympy(sympy.Heaviside(x, 0), library)
    text = "blind(x, step(2)) + blind(x + 1, x)"
    undefined = to_sympy(parse(text, library))
    assert str(undefined) == "blind(x, 1) + blind(x + 1, x)"
    assert from_sympy(undefined, library)(x=3.0) == pytest.approx(parse(text, library)(x=3.0))


@pytest.mark.parametrize("text", ["min(x, sqrt(-1))", "max(asin(2), 1)", "max(x, log(-1))"])
def test_comparing_what_is_not_real_is_an_error_of_ours(text: str) -> None:
    with pytest.raises(ExpressionError, match="is not real"):
        to_sympy(parse(text, LIBRARY))


@pytest.mark.parametrize(
    "text",
    [
        "9^9^9^9", "10*10^10^10", "sin(10^10^10)", "10^10^10 + 1", "sqrt(10^10^10)", "0.5^10^10", "(1/3)^10^10",
        "1e308^1e308", "3^1e300", "((((((((((((9^5)^5)^5)^5)^5)^5)^5)^5)^5)^5)^5)^5)", "(2*x)^10^10",
        "exp(10^9*log(3))",
    ],
)  # fmt: skip
@pytest.mark.parametrize("exact", [True, False])
def test_towers_raise_and_do_not_hang(text: str, exact: bool) -> None:
    start = time.monotonic()
    with pytest.raises(ExpressionError, match="SymPy"):
        to_sympy(parse(text, LIBRARY), exact=exact)
    assert time.monotonic() - start < 2


def test_large_powers_of_variables_are_no_tower() -> None:
    x = sympy.Symbol("x", real=True)
    value = to_sympy(parse("x^10^10 + (x + 1)^100000 + (-x)^7", LIBRARY))
    assert value == x**10000000000 + (x + 1) ** 100000 - x**7


def test_depth_is_an_error_of_ours() -> None:
    with pytest.raises(ExpressionError, match="deep"):
        from_sympy(to_sympy(Expr(LIBRARY, ["sin"] * 5000 + ["x"])), LIBRARY)
