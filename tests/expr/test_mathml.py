"""MathML out reads like a textbook, is well formed, and means what the expression means."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given

from edhie.expr import Expr, SymbolLibrary, operator, parse
from edhie.expr.mathml import FUNCTION_NAMES, mathml_name, mathml_terms, to_mathml
from edhie.expr.symbols import GREEK, NAMED_LITERALS, OPERATORS
from strategies import exprs


def flat(mathml: str) -> str:
    """The text that MathML shows, structure as words of one letter."""
    short = {"mfrac": "F", "msup": "^", "msub": "_", "msqrt": "R", "mroot": "R3"}

    def shown(node: ElementTree.Element) -> str:
        inner = [shown(child) for child in node] or [node.text or ""]
        return f"{short[node.tag]}[{','.join(inner)}]" if node.tag in short else "".join(inner)

    return shown(ElementTree.fromstring(f"<math>{mathml}</math>")).replace("\u2061", "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x0", "_[x,0]"),
        ("m*v^2/2", "F[m⋅^[v,2],2]"),
        ("sqrt(x^2 + y^2)", "R[^[x,2]+^[y,2]]"),
        ("exp(-x/theta_max)", "^[e,−F[x,_[θ,max]]]"),
        ("exp(x)^2", "^[(^[e,x]),2]"),
        ("sin(x)^2 + cos(2*x)", "^[sin(x),2]+cos(2⋅x)"),
        ("a - (b - d)", "a−(b−d)"),
        ("a + (b + d)", "a+b+d"),
        ("a*(b/d + x)", "a⋅(F[b,d]+x)"),
        ("a*(b*d)", "a⋅b⋅d"),
        ("(a + b)/(a - b)", "F[a+b,a−b]"),
        ("(a/b)^2", "^[(F[a,b]),2]"),
        ("-2*x", "−2⋅x"),
        ("x*(-2)", "−x⋅2"),
        ("x + (-2)*y", "x−2⋅y"),
        ("x - (-2)*y", "x+2⋅y"),
        ("x + (-2 + y)", "x−2+y"),
        ("x*(-2 + y)", "x⋅(−2+y)"),
        ("(-2)^2 - x^2", "^[(−2),2]−^[x,2]"),
        ("-(a + b)", "−(a+b)"),
        ("-(-x)", "x"),
        ("x^(-2)", "^[x,−2]"),
        ("x^y^2", "^[x,^[y,2]]"),
        ("(x^y)^2", "^[(^[x,y]),2]"),
        ("cbrt(x) + abs(y)", "R3[x,3]+|y|"),
        ("log(x) - log10(x)", "ln(x)−_[log,10](x)"),
        ("min(x, 2*pi)", "min(x,2⋅π)"),
        ("1e-5*x", "^[10,−5]⋅x"),
        ("2.5e20^x", "^[(2.5⋅^[10,20]),x]"),
        ("inv(x)^2", "^[(F[1,x]),2]"),
    ],
)
def test_typical_formulas(text: str, expected: str) -> None:
    assert flat(to_mathml(parse(text))) == expected


def test_values_of_constants_show_and_can_be_rounded() -> None:
    expr = parse("c*x + c").with_constants([-1.23456789, -1234567.89])
    assert flat(to_mathml(expr)) == "−1.23456789⋅x−1234567.89"
    assert flat(to_mathml(expr, number_format=".3g")) == "−1.23⋅x−1.23⋅^[10,6]"
    assert flat(to_mathml(parse("c*x").with_constants([12345.0]), number_format=".3g")) == "12345⋅x"


def test_constants_by_number_are_in_prefix_order() -> None:
    expr = parse("c*exp(c*x) + c").with_constants([1.0, -2.0, 3.0])
    assert flat(to_mathml(expr, numbered=True)) == "_[c,1]⋅^[e,_[c,2]⋅x]+_[c,3]"
    assert flat(to_mathml(expr.free())) == "c⋅^[e,c⋅x]+c"


def test_terms_make_up_the_whole() -> None:
    terms = mathml_terms(parse("-x + (y - 2*z) - (x + y)"))
    assert [flat(term) for term in terms] == ["−x", "+y", "−2⋅z", "−(x+y)"]
    assert mathml_terms(parse("x*y")) == [to_mathml(parse("x*y"))]


@given(exprs())
def test_any_expression_is_well_formed_and_keeps_its_leaves(expr: Expr) -> None:
    whole = to_mathml(expr)
    tree = ElementTree.fromstring(whole)
    children = {"mfrac": 2, "msup": 2, "msub": 2, "mroot": 2}
    for node in tree.iter():
        assert len(node) == children.get(node.tag, len(node))
    assert "".join(map(flat, mathml_terms(expr))) == flat(whole)
    for name in expr.variables:
        assert flat(mathml_name(name)) in flat(whole)


def as_read(node: ElementTree.Element) -> str:
    """Infix text of what a reader sees: rows left to right, two-dimensional things in parentheses."""
    inner = [as_read(child) for child in node]
    if node.tag in ("mfrac", "msup"):
        return f"(({inner[0]}){'/' if node.tag == 'mfrac' else '^'}({inner[1]}))"
    return "".join(inner) or (node.text or "").translate({ord("⋅"): "*", ord("−"): "-", 0x2061: ""})


@given(exprs(SymbolLibrary.of(["+", "-", "*", "/", "neg", "sin"], ["x", "y"], literals=("2", "-3")), max_symbols=12))
def test_a_reader_gets_the_same_values(expr: Expr) -> None:
    read = parse(as_read(ElementTree.fromstring(f"<math>{to_mathml(expr)}</math>")), variables=["x", "y"])
    point = {"x": [0.7, -1.3], "y": [1.9, 0.4]}
    with np.errstate(all="ignore"):
        expected, seen = expr(**point), read(**point)
    close = np.isclose(expected, seen, rtol=1e-6, atol=1e-9) | ~np.isfinite(expected) | (np.abs(expected) > 1e6)
    assert close.all()


def test_names() -> None:
    assert mathml_name("speed") == "<mi>speed</mi>"
    assert mathml_name("petal_length_cm") == "<mi>petal_length_cm</mi>"
    assert mathml_name("x_") == "<mi>x_</mi>"
    assert mathml_name('<b> & "c"') == "<mtext>&lt;b&gt; &amp; &quot;c&quot;</mtext>"
    assert all(len(flat(mathml_name(name))) == 1 for name in GREEK)


def test_exp_in_words_where_e_is_a_variable() -> None:
    library = SymbolLibrary.of(["exp", "*"], ["e"])
    assert flat(to_mathml(parse("e*exp(e)", library))) == "e⋅exp(e)"


def test_operators_of_a_user() -> None:
    library = SymbolLibrary.of(["+", operator("soft_max", 2, numpy=np.logaddexp)], ["x"])
    assert flat(to_mathml(parse("soft_max(x, x + x)", library))) == "soft_max(x,x+x)"


def test_every_symbol_has_mathml() -> None:
    library = SymbolLibrary.of(list(OPERATORS), ["x", "y"])
    for symbol in OPERATORS.values():
        expr = Expr(library, [symbol.name, "x", "y"][: symbol.arity + 1])
        assert re.findall("[xy]", flat(to_mathml(expr)).replace("exp", "").replace("max", ""))
    assert set(FUNCTION_NAMES) <= set(OPERATORS)
    assert {flat(to_mathml(parse(name))) for name in NAMED_LITERALS} == {"π", "e"}
