"""`from_sympy` writes SymPy's expressions with what a library has, or says why it cannot."""

from __future__ import annotations

import time

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from agreement import agree
from edhie.errors import EdhieError, ExpressionError, SymbolError
from edhie.expr import SymbolLibrary, parse
from edhie.expr.standard_libraries import everything
from edhie.expr.sympy_bridge import to_sympy
from edhie.expr.sympy_reader import from_sympy
from strategies import LIBRARIES, TAME_NUMBERS, exprs

x, y = sympy.symbols("x y", real=True)
A, B = sympy.symbols("A B", commutative=False)
EVERYTHING = everything(["x", "y"])


def library(*operators: str, numbers: bool = True, literals: tuple[str, ...] = ()) -> SymbolLibrary:
    return SymbolLibrary.of(operators, ["x", "y"], numbers=numbers, literals=literals, constant=True)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (x - y, "x - y"),
        (-x - y, "-x - y"),
        (y - x, "y - x"),
        (x / y, "x/y"),
        (1 / (x * y), "1/(x*y)"),
        (-2 / x, "-2/x"),
        (sympy.Rational(3, 4) * x, "3*x/4"),
        (x ** sympy.Rational(3, 2), "x^(3/2)"),
        (sympy.sqrt(x), "sqrt(x)"),
        (1 / sympy.sqrt(x), "1/sqrt(x)"),
        (x**-y, "1/x^y"),
        (x**7, "x^7"),
        (x**-3, "1/x^3"),
        (sympy.exp(-x), "exp(-x)"),
        (sympy.E * x, "e*x"),
        (sympy.log(x, 10), "log10(x)"),
        (sympy.log(x, 2), "log(x)/log(2)"),
        (sympy.log(x, 10, evaluate=False), "log10(x)"),
        (sympy.log(x, 2, evaluate=False), "log(x)/log(2)"),
        (sympy.Min(x, y, 1), "min(min(1, x), y)"),
        (sympy.sec(x), "1/cos(x)"),
        (sympy.coth(x), "1/tanh(x)"),
        (sympy.acot(x), "atan(1/x)"),
        (sympy.asinh(x), "log(x + sqrt(x^2 + 1))"),
        (sympy.sign(x) * sympy.Abs(x) ** sympy.Rational(1, 3), "cbrt(x)"),
        (sympy.GoldenRatio, "1.618033988749895"),
        (sympy.Float("1." + "1" * 99), "1.1111111111111112"),
        (sympy.Integer(10) ** 300, "1e+300"),
        (sympy.Rational(10**400, 10**400 + 1), "1"),
        (3, "3"),
        (2.5, "2.5"),
    ],
    ids=str,
)
def test_what_it_writes(value: sympy.Expr, expected: str) -> None:
    assert str(from_sympy(value, EVERYTHING)) == expected


@pytest.mark.parametrize(
    ("value", "symbols", "expected"),
    [
        (x - y, library("+", "neg"), "x + (-y)"),
        (-x, library("+", "*"), "-1*x"),
        (-x, library("-"), "0 - x"),
        (x / y, library("*", "inv"), "x*inv(y)"),
        (1 / x, library("inv", "/", numbers=False), "inv(x)"),
        (1 / x, library("^"), "x^-1"),
        (x / 2, library("*"), "0.5*x"),
        (x**6, library("*", "^2", "^4", numbers=False), "x^4*x^2"),
        (x**3, library("*", numbers=False), "x*x*x"),
        (x ** sympy.Rational(3, 2), library("*", "sqrt"), "sqrt(x)*sqrt(x)*sqrt(x)"),
        (x ** sympy.Rational(1, 3), library("cbrt"), "cbrt(x)"),
        (sympy.exp(x), library("^"), "2.718281828459045^x"),
        (sympy.E * x, library("*", "exp"), "exp(1)*x"),
        (sympy.log(x), library("*", "log10"), "2.302585092994046*log10(x)"),
        (sympy.pi * x, library("*", literals=("pi",), numbers=False), "pi*x"),
    ],
    ids=str,
)
def test_with_few_symbols(value: sympy.Expr, symbols: SymbolLibrary, expected: str) -> None:
    assert str(from_sympy(value, symbols)) == expected


@pytest.mark.parametrize("name", ["nguyen", "feynman", "trig", "numbers without neg", "powers without ^"])
@given(data=st.data())
@settings(max_examples=25)
def test_values_stay_in_any_library(name: str, data: st.DataObject) -> None:
    """Whatever SymPy makes of an expression, its library with numbers can write it, or the error is ours."""
    expr = data.draw(exprs(LIBRARIES[name], numbers=TAME_NUMBERS, max_symbols=8))
    expr = expr.with_constants([0.5] * len(expr.constants))
    point = {variable: data.draw(st.floats(0.1, 3)) for variable in expr.library.variables}
    try:
        back = from_sympy(sympy.expand(to_sympy(expr)), expr.library.with_numbers())
    except EdhieError:
        return
    assert agree(expr, back, point), str(back)


@pytest.mark.parametrize("taken", ["e", "pi", "neg", "exp", "log10", "cbrt", "sqrt", "min", "inv"])
def test_a_variable_is_never_taken_for_an_operator(taken: str) -> None:
    symbols = everything([taken, "x"])
    other = sympy.Symbol(taken, real=True)
    value = sympy.E * other + sympy.pi - x + sympy.exp(x) + sympy.sqrt(x) + sympy.log(x, 10) - 1 / other
    expr = from_sympy(value, symbols)
    point = {taken: 1.7, "x": 0.6}
    expected = value.subs({other: 1.7, x: 0.6}).evalf()
    assert float(expr(**point)) == pytest.approx(float(expected), rel=1e-14)


def test_constants_by_name() -> None:
    c, c1, k = sympy.symbols("c c1 k")
    assert str(from_sympy(c * x + c1 + k)) == "c*x + c + k"
    assert str(from_sympy(c * x + c1 + k, constants=["k"])) == "c*x + c1 + C"
    own = SymbolLibrary.of(["+", "*"], ["x", "c1"], constant=True)
    assert from_sympy(c * x + c1, own).tokens == ("+", "*", "c", "x", "c1")
    other = SymbolLibrary.of(["+", "*"], ["x"], constant="k")
    assert sorted(from_sympy(sympy.Symbol("k7") * x + k, other).tokens) == ["*", "+", "k", "k", "x"]
    with pytest.raises(SymbolError, match="constant to be fitted"):
        from_sympy(c * x, SymbolLibrary.of(["*"], ["x"]))


def test_variables_in_natural_order() -> None:
    assert from_sympy(sum(sympy.symbols("x10 x9 x2"))).library.variables == ("x2", "x9", "x10")


@pytest.mark.parametrize(
    "value",
    [
        sympy.I, sympy.I * x, sympy.sqrt(-2) * x, sympy.oo, -sympy.oo, sympy.zoo, sympy.nan, sympy.oo * x + 1,
        sympy.Piecewise((x, x > 0), (0, True)), x > 0, sympy.Eq(x, 1), sympy.true, sympy.Interval(0, 1),
        sympy.Derivative(sympy.Function("f")(x), x), sympy.Integral(sympy.exp(-(x**2)), (x, 0, 1)), sympy.Lambda(x, x),
        sympy.Sum(x, (x, 1, 3)), sympy.Limit(x, x, 0), sympy.Matrix([x, 1]), sympy.MatrixSymbol("M", 2, 2),
        sympy.Integer(10) ** 400, x ** (sympy.Integer(10) ** 400), sympy.Float("1e400"), sympy.Float("1e-400"),
        sympy.Rational(1, 10**400), sympy.Function("f")(x), sympy.Function("g")(x, 1), sympy.gamma(x), sympy.floor(x),
        sympy.Mod(x, 2), sympy.factorial(x), sympy.Heaviside(x), sympy.Poly(x**2), sympy.Tuple(x, 1), sympy.Order(x),
        sympy.Symbol("a b"), sympy.Symbol(""), sympy.Symbol("1x"), sympy.UnevaluatedExpr(x) + 1, sympy.re(A),
        None, object(), [x], {}, float("nan"), float("inf"), 1j, "x + 1", "x +", "__import__('os').abort()",
    ],
    ids=lambda value: "object" if type(value) is object else repr(value)[:40],
)  # fmt: skip
def test_what_has_no_place_here_is_named(value: object) -> None:
    with pytest.raises(EdhieError) as caught:
        from_sympy(value)
    assert 10 < len(str(caught.value)) < 400


def test_text_is_not_run() -> None:
    with pytest.raises(ExpressionError, match=r"parse\(\)"):
        from_sympy("open('owned', 'w').write('x')")


def test_depth_is_an_error_of_ours() -> None:
    value = x
    for _ in range(3000):
        value = sympy.sin(value, evaluate=False)
    with pytest.raises(ExpressionError, match="nested too deeply"):
        from_sympy(value)


def test_as_written_evaluates_nothing() -> None:
    with sympy.evaluate(False):
        tower = sympy.Pow(9, sympy.Pow(9, sympy.Pow(9, 9)))
        value = y + x - tower / 2 + sympy.Mul(2, 3)
    text = str(from_sympy(value, as_written=True))  # pytest must not print the tower
    assert text == "y + x - 9^9^9^9/2 + 2*3"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-3.5e9^9^9^9 - 7", "-3500000000^9^9^9 - 7"),
        ("exp(exp(exp(exp(exp(9))))) + x", "exp(exp(exp(exp(exp(9))))) + x"),
        ("x + 2^(-9^9^9)", "x + 1/2^9^9^9"),
        ("9^9^9^9", "9^9^9^9"),
    ],
)
def test_numbers_that_are_not_evaluated_are_read_as_they_are_written(text: str, expected: str) -> None:
    start = time.process_time()
    back = str(from_sympy(to_sympy(parse(text), evaluate=False)))
    assert time.process_time() - start < 1
    assert back == expected
