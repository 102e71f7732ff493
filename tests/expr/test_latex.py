"""LaTeX out reads like a textbook, and means what the expression means."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.expr import SymbolLibrary, operator, parse
from edhie.expr.notation import to_latex
from edhie.expr.symbols import NAMED_LITERALS, OPERATORS, literal


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x0", r"x_{0}"),
        ("m*v^2/2", r"\frac{m \cdot v^{2}}{2}"),
        ("G*m_1*m_2/r^2", r"\frac{G \cdot m_{1} \cdot m_{2}}{r^{2}}"),
        ("sqrt(x^2 + y^2)", r"\sqrt{x^{2} + y^{2}}"),
        ("exp(-x/theta_max)", r"e^{\frac{-x}{\theta_{max}}}"),
        ("exp(x)^2", r"\left(e^{x}\right)^{2}"),
        ("sin(x)^2 + cos(2*x)", r"\sin\left(x\right)^{2} + \cos\left(2 \cdot x\right)"),
        ("a - (b - d)", r"a - \left(b - d\right)"),
        ("a - (b/d + x)", r"a - \left(\frac{b}{d} + x\right)"),
        ("a*(b/d + x)", r"a \cdot \left(\frac{b}{d} + x\right)"),
        ("a*(b/d)", r"a \cdot \frac{b}{d}"),
        ("(a + b)*(a - b)", r"\left(a + b\right) \cdot \left(a - b\right)"),
        ("(a/b)^2", r"\left(\frac{a}{b}\right)^{2}"),
        ("-2*x", r"-2 \cdot x"),
        ("x*(-2)", r"x \cdot \left(-2\right)"),
        ("(-2)^2 - x^2", r"\left(-2\right)^{2} - x^{2}"),
        ("-(a + b)", r"-\left(a + b\right)"),
        ("-(-x)", r"-\left(-x\right)"),
        ("a - (-b)", r"a - \left(-b\right)"),
        ("x^y^2", r"x^{y^{2}}"),
        ("(x^y)^2", r"\left(x^{y}\right)^{2}"),
        ("cbrt(x) + abs(y)", r"\sqrt[3]{x} + \left|y\right|"),
        ("log(x) - log10(x)", r"\ln\left(x\right) - \log_{10}\left(x\right)"),
        ("min(x, 2*pi)", r"\min\left(x, 2 \cdot \pi\right)"),
        ("1e-5*x", r"1 \cdot 10^{-5} \cdot x"),
        ("2.5e20^x", r"\left(2.5 \cdot 10^{20}\right)^{x}"),
        ("c*speed + alpha", r"c \cdot \mathrm{speed} + \alpha"),
        ("inv(x)^2", r"\left(\frac{1}{x}\right)^{2}"),
    ],
)
def test_typical_formulas(text: str, expected: str) -> None:
    assert to_latex(parse(text)) == expected


def test_values_of_constants_show_and_can_be_rounded() -> None:
    expr = parse("c*x + c").with_constants([-1.23456789, 1234567.5])
    assert to_latex(expr) == r"-1.23456789 \cdot x + 1234567.5"
    assert to_latex(expr, number_format=".3g") == r"-1.23 \cdot x + 1.23 \cdot 10^{6}"


def test_literals_are_written_as_other_numbers_are() -> None:
    library = SymbolLibrary((*SymbolLibrary.of(["*"], ["x"]).symbols, literal("0.00001")))
    assert to_latex(parse("0.00001*x", library)) == r"1 \cdot 10^{-5} \cdot x"


def test_exp_in_words_where_e_is_a_variable() -> None:
    library = SymbolLibrary.of(["exp", "*"], ["e"])
    assert to_latex(parse("e*exp(e)", library)) == r"e \cdot \exp\left(e\right)"


def test_operators_of_a_user() -> None:
    plain = operator("soft_max", 2, numpy=np.logaddexp)
    dressed = operator("bump", 1, numpy=np.exp, latex=r"\beta\left[{0}\right]")
    library = SymbolLibrary.of(["+", plain, dressed], ["x"])
    expected = r"\operatorname{soft\_max}\left(x, x + x\right) + \beta\left[x\right]"
    assert to_latex(parse("soft_max(x, x + x) + bump(x)", library)) == expected


def test_every_symbol_has_latex() -> None:
    for symbol in (*OPERATORS.values(), *NAMED_LITERALS.values()):
        assert symbol.latex
        assert symbol.latex.format("a", "b").count("a") >= min(symbol.arity, 1)
