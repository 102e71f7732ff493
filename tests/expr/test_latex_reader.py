"""LaTeX in: what `to_latex` writes comes back, what people write is read, the rest is pointed at."""

from __future__ import annotations

import contextlib
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agreement import agree
from edhie.errors import EdhieError, ParseError
from edhie.expr import Expr, SymbolLibrary, operator, parse
from edhie.expr.latex_reader import from_latex
from edhie.expr.notation import to_latex
from edhie.expr.standard_libraries import everything
from edhie.expr.symbols import OPERATORS
from strategies import TAME_NUMBERS, exprs

LIBRARY = everything(["x", "y"])
points = st.fixed_dictionaries({name: st.floats(-3, 3).filter(lambda v: abs(v) > 1e-3) for name in "xy"})
numbers = (*TAME_NUMBERS, "1e-05", "-2.5e+20", "12345678.9", "-3e-300")


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_comes_back(name: str) -> None:
    expr = Expr(LIBRARY, [name, "x", "y"][: OPERATORS[name].arity + 1])
    back = from_latex(to_latex(expr), LIBRARY)
    for point in ({"x": 0.7, "y": -0.4}, {"x": -0.6, "y": 2.0}):
        assert agree(expr, back, point), str(back)


@given(exprs(LIBRARY, names=[n for n in LIBRARY.names if n != "c"], numbers=numbers, max_symbols=10), points)
@settings(max_examples=25)
def test_what_goes_out_comes_back(expr: Expr, point: dict[str, float]) -> None:
    back = from_latex(to_latex(expr), LIBRARY)
    assert agree(expr, back, point), (to_latex(expr), str(back))


@given(exprs(LIBRARY, names=["x", "y", "c", "+", "-", "*", "/", "^2", "sin"], numbers=("2", "0.5"), max_symbols=9))
@settings(max_examples=30)
def test_trees_come_back_nearly_as_they_were(expr: Expr) -> None:
    """Nothing is evaluated or reordered; only groupings that LaTeX does not show may change."""
    back = from_latex(to_latex(expr), LIBRARY)
    assert sorted(t for t in back.tokens if t in ("x", "y", "c")) == sorted(
        t for t in expr.tokens if t in ("x", "y", "c")
    )
    assert back.constants == expr.constants


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        (r"\frac{1}{2} m v^2", "1/2*m*v^2"),
        (r"m c^2", "m*c^2"),
        (r"\sin^2 x + \cos^2 x", "sin(x)^2 + cos(x)^2"),
        (r"e^{-x}", "exp(-x)"),
        (r"2\pi r", "2*pi*r"),
        (r"x_1 x_2", "x1*x2"),
        (r"|x-y|", "abs(x - y)"),
        (r"\lvert x \rvert", "abs(x)"),
        (r"\ln x + \log y", "log(x) + log(y)"),
        (r"\log_{10} x", "log10(x)"),
        (r"\log_2 x", "log(x)/log(2)"),
        (r"\tan^{-1} x", "atan(x)"),
        (r"\mathrm{speed} \cdot t", "speed*t"),
        (r"3 \times 10^{-8} x", "3e-08*x"),
        (r"1.5e-3 x", "0.0015*x"),
        (r"x^2 \cdot 10^{3}", "x^2*10^3"),
        (r"(x+1)(x-1)", "(x + 1)*(x - 1)"),
        (r"c(x+1)", "c*(x + 1)"),
        (r"x^{\frac{1}{3}}", "x^(1/3)"),
        (r"\sqrt[3]{x}", "cbrt(x)"),
        (r"\operatorname{sgn}(x)", "sign(x)"),
        (r"\theta_{max} + \varphi", "theta_max + varphi"),
        (r"$\displaystyle x \, y$", "x*y"),
        (r"\frac{d}{t} + d x", "d/t + d*x"),
        (r"θ_{1} + θ", "θ1 + θ"),
        (r"9^{9^{9^{9}}}", "9^9^9^9"),
        ("(" * 40 + "x" + ")" * 40, "x"),
        (r"\left|" * 9 + "x" + r"\right|" * 9, "abs(" * 9 + "x" + ")" * 9),
        (r"\sin 2 x \cdot y", "sin(2*x)*y"),
        (r"a/b c", "a/(b*c)"),
        (r"\frac12 x", "1/2*x"),
        (r"\max(x, y, z)", "max(max(x, y), z)"),
        (r"|x||y|", "abs(x)*abs(y)"),
        (r"v_\text{max}^2", "v_max^2"),
        (r"\left|x\left|y\right|z\right|", "abs(x*abs(y)*z)"),
        (r"x_10 + x_2", "x10 + x2"),
        (r"\frac12 \cdot 10^{3} x", "1/2*(10^3*x)"),
        (r"\frac{1}2 \cdot 10^{3}", "1/2*10^3"),
        (r"\sqrt2 \cdot 10^{3}", "sqrt(2)*10^3"),
        (r"\mathrm{log}_{10}(x) + \operatorname{log}_{2} y", "log10(x) + log(y)/log(2)"),
    ],
)
def test_what_people_write(latex: str, expected: str) -> None:
    start = time.monotonic()
    assert str(from_latex(latex)) == expected
    assert time.monotonic() - start < 20


@pytest.mark.parametrize(
    "name",
    ["x0", "x_1_2", "theta", "theta1", "theta_max", "speed", "v_max", "v", "f", "E", "I", "Pi", "pi", "e", "_x", "x_",
     "d", "abc_1", "θ", "θ1", "速度", "a__b", "max", "sgn", "c0", "lambda", "v_900001", "Delta_x", "i"],
)  # fmt: skip
def test_names_of_a_library(name: str) -> None:
    operators = [each for each in ("+", "-", "*", "/", "exp", "max") if each != name]
    library = SymbolLibrary.of(operators, [name, "y"], constant=True, numbers=True)
    expr = parse(f"2*{name} + y/{name} - {library.constant}*exp({name}*y)", library)
    assert from_latex(to_latex(expr), library) == expr


def test_constants_by_the_name_of_the_library() -> None:
    library = SymbolLibrary.of(["+", "*"], ["c", "x"], constant=True)  # its constant is C
    assert from_latex("C x + c", library).constants == (None,)
    assert from_latex("c x + c_{0}").constants == (None,)  # without a library a lone c is the constant, c_0 is not


def test_operators_of_a_user() -> None:
    library = SymbolLibrary.of(
        ["+", operator("soft_max", 2, numpy=np.logaddexp), operator("bump", 1, numpy=np.exp)], ["x"], numbers=True
    )
    expr = parse("soft_max(x, bump(x + 1)) + bump(2)", library)
    assert from_latex(to_latex(expr), library) == expr


@pytest.mark.parametrize(
    ("latex", "place", "what"),
    [
        ("", 0, "missing"),
        ("   ", 0, "missing"),
        ("x +", 3, "ends where an operand should be"),
        (r"x + \foo{y}", 4, "unknown LaTeX command '.*foo'"),
        (r"\left(x\right) + \sinn y", 17, "did you mean 'sin'"),
        (r"\operatorname{sine}(x)", 0, "did you mean 'sin'"),
        (r"x + \operatorname{foo}(x)", 4, "unknown function 'foo'"),
        ("x y) + 2", 3, "closes nothing"),
        (r"x + \frac{1}{y", 12, "never closed"),
        (r"x + \frac{1}{", 12, "never closed"),
        (r"\left(x + 1", 5, "never closed"),
        ("x ** 2", 3, r"an operand is missing before '\*'"),
        (r"\mathrm{speed} ^^2", 16, "an operand is missing"),
        ("x, y", 1, "a comma belongs between"),
        (r"x & y", 2, "unexpected character '&'"),
        ("x² + 1", 1, "unexpected character '²'"),
        (r"E = m c^2", 2, "relation"),
        ("x > 1", 2, "relation"),
        (r"\int x dx", 0, "unknown LaTeX command"),
        (r"\sqrt{}", 6, "an operand is missing before '}'"),
        ("f(x, y)", 3, "a comma belongs between"),
        (r"\max(x)", 0, "'max' takes 2 operands, not 1"),
        (r"x^y^z", 3, "a second exponent"),
        (r"x^2_1", 3, "'_' is not readable"),
        (r"2 3", 2, "between two numbers"),
        (r"\sinh^{-1} x", 0, "can mean 1/sinh or the inverse function"),
        ("1" * 400, 0, "too large for a double"),
        ("(" * 40_000, 80, "nested too deeply"),
        ("x+" * 100_000, 0, "at most 50,000 are read"),
    ],
)
def test_bad_latex_is_pointed_at(latex: str, place: int, what: str) -> None:
    with pytest.raises(ParseError, match=what) as caught:
        from_latex(latex)
    assert caught.value.position == place
    assert caught.value.text == latex


PIECES = [*r"xyc12+-*/^_{}()[]|,.!&%d θ", "\\frac", "\\sin", "\\left(", "\\right)", "{x}", "_{ab}"]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
@settings(max_examples=60)
def test_any_text_is_read_or_refused(latex: str) -> None:
    with contextlib.suppress(EdhieError):
        assert from_latex(latex).size


def test_names_outside_the_library_are_told() -> None:
    with pytest.raises(EdhieError, match="'z'"):
        from_latex("x + z", LIBRARY)


def test_symbols_that_a_library_lacks_are_written_with_others() -> None:
    library = SymbolLibrary.of(["*", "/", "^2", "sqrt"], ["x"], numbers=True)
    assert str(from_latex(r"-x^{-2}\sqrt{x}", library)) == "-1*sqrt(x)/x^2"


@pytest.mark.parametrize(
    "latex", ["+".join(["x^{2}"] * 8_000), "x" * 49_999, "+".join(["x^{2}"] * 8_000) + "+*", "-" * 49_999 + "x"]
)
def test_law_reading_takes_time_in_proportion_to_the_text(latex: str) -> None:
    start = time.process_time()
    with contextlib.suppress(ParseError):
        from_latex(latex)
    assert time.process_time() - start < 1
