"""The normal form says the same in fewer symbols, and is the same when it is made again."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agreement import agree
from edhie.expr import Expr, SymbolLibrary, parse
from edhie.expr.nodes import tree_of
from edhie.finish import Facts, normal_form
from fits import trees
from strategies import LIBRARIES, TAME_NUMBERS, exprs

ROOM = 0.5  # by which a symbol may cost more, for signs
INVERSES = {"asin", "acos", "atan", "log"}
NAMES = ["x", "y", "z", "w"]
FUNCTIONS = "sqrt exp log abs sin cos tan asin acos sinh cosh tanh".split()
WIDE = SymbolLibrary.of(["+", "-", "*", "/", "^", "neg", "^2", "^3", *FUNCTIONS], ["x", "y"], constant=True)
DRAWN = np.random.default_rng(0).uniform(-2, 2, (3, 2)).tolist()
POINTS = [dict(zip(("x", "y"), row, strict=True)) for row in (*DRAWN, [0.7, 0.3], [1.9, 2.3])]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # a function and its inverse
        ("x^2/sin(acos(x/y))^2", "x^2/(1 - x^2/y^2)"),
        ("cos(asin(x))^2", "1 - x^2"),
        ("tan(atan(x))", "x"),
        ("sin(asin(x)) + cos(acos(y))", "x + y"),
        ("exp(log(x))*y", "x*y"),
        ("log(exp(x*y))", "x*y"),
        ("sin(acos(x))", "sqrt(1 - x^2)"),
        ("log(x + 1/cos(atan(x)))", "log(x + sqrt(x^2 + 1))"),
        ("1.5 - 0.5*cos(2*atan(x^2))", "2 - 1/(x^4 + 1)"),
        ("tan(2*atan(x))", "2*x/(1 - x^2)"),
        # waves, exponentials, logarithms
        ("3*sin(x*y)^2 + 3*cos(x*y)^2 + z", "z + 3"),
        ("1 - cos(x)^2", "sin(x)^2"),
        ("cosh(x)^2 - sinh(x)^2", "1"),
        ("sin(x)/cos(x)*y", "y*tan(x)"),
        ("(exp(x) - exp(-x))/2", "sinh(x)"),
        ("exp(x)*exp(y)", "exp(x + y)"),
        ("exp(2*x)^2", "exp(4*x)"),
        ("1/exp(x)", "exp(-x)"),
        ("log(x) + log(y)", "log(x*y)"),
        ("log(x) - log(y) + z", "log(x/y) + z"),
        ("exp(1.5*log(x) + y)", "x^1.5*exp(y)"),
        # squares
        ("sqrt(x^2 + y^2 - 2*x*y + z)", "sqrt((x - y)^2 + z)"),
        ("sqrt(x^2 + y^2 - 2*x*y + z^2 + w^2 - 2*z*w)", "sqrt((x - y)^2 + (z - w)^2)"),
        ("x^2 + 2*x + 1", "(x + 1)^2"),
        ("(x - y)*(x + y)", "x^2 - y^2"),
        ("x^2 - y^2", "x^2 - y^2"),
        # common factors and quotients
        ("(2*x*y - x^2*y - x*y^2)/x", "y*(2 - x - y)"),
        ("(20 - x + 10*x^2 - 0.5*x^3 - x*y)/(1 + 0.5*x^2)", "20 - x - 2*x*y/(x^2 + 2)"),
        ("((20 - x)*(1 + 0.5*x^2) - x*y)/(1 + 0.5*x^2)", "20 - x - 2*x*y/(x^2 + 2)"),
        ("2*(x - 1)/(x*y - y)", "2/y"),
        ("x*(x + y)/(x + y)", "x"),
        ("x*y + x*z + w", "x*(y + z) + w"),
        ("x/3 + y/3", "(x + y)/3"),
        ("exp(-x)/(1 + exp(-x))", "1/(exp(x) + 1)"),  # 1 - 1/(1 + exp(-x)) loses digits
        ("x*y/(x/y - y/x)", "y^2/(1 - y^2/x^2)"),
        ("1/(1/x - 1/y)", "x*y/(y - x)"),
        ("x/(1 - x/y)", "x*y/(y - x)"),
        ("1/(1/x + 1/y + 1/z)", "1/(1/x + 1/y + 1/z)"),
        ("x/(1 + 2*x + 3*y)", "x/(2*x + 3*y + 1)"),
        # powers
        ("x*sqrt(x)", "x^1.5"),
        ("sqrt(x)^3", "x^1.5"),
        ("x^0.3*x^0.7", "x"),
        ("sqrt(x)^2", "x"),
        ("sqrt(x^2)", "abs(x)"),
        ("(x^2)^0.75", "abs(x)^1.5"),
        ("sin(0.5*x)^2", "sin(x/2)^2"),
        ("0.5*y^2 + (x^2)^2", "0.5*y^2 + x^4"),
        ("x^2*x^5", "x^7"),
        ("1*x/y", "x/y"),
        ("x/(-10)", "-0.1*x"),
        ("3*(x + y - 1 - x*y)", "3*(1 - y)*(x - 1)"),
        ("abs(x)^2", "x^2"),
        ("x - y + x + 1.5", "2*x - y + 1.5"),
    ],
)
def test_how_it_reads(text: str, expected: str) -> None:
    assert str(normal_form(parse(text, variables=NAMES))) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("sqrt(x^2)", "x"), ("(x^2)^0.75", "x^1.5"), ("abs(x*y)", "x*y"), ("sqrt(z^2)", "abs(z)")]
)
def test_positive_variables_have_no_signs(text: str, expected: str) -> None:
    assert str(normal_form(parse(text, variables=NAMES), Facts(frozenset(["x", "y"])))) == expected


def test_numbers_are_constants_where_there_are_no_numbers() -> None:
    found = normal_form(Expr(WIDE, ["*", "x", "^2", "x", "*", "c", "^3", "x"][:4]))
    assert found == Expr(WIDE, ["^3", "x"])
    assert normal_form(parse("x*sqrt(x)", WIDE.with_numbers())).tokens == ("^", "x", "1.5")
    bare = SymbolLibrary.of(["*", "sqrt", "+", "^"], ["x"])
    assert normal_form(parse("x*sqrt(x)", bare)) == parse("x*sqrt(x)", bare)
    unfitted = parse("c*x + c*x", WIDE)
    assert normal_form(unfitted) == unfitted


def test_no_constant_is_written_twice() -> None:
    expr = parse("(c - c/(x + c))^c", WIDE.with_numbers()).with_constants([1.7, 398.759, 398.759, 31.67])
    assert f"{normal_form(expr):.6g}" == "(0.7 + x/(x + 398.759))^31.67"


def test_fitted_constants_stay_constants_beside_numbers() -> None:
    found = normal_form(parse("c*x*sqrt(x)*c", WIDE.with_numbers()).with_constants([1.2345678, 3.3333333]))
    assert found.tokens == ("*", "c", "^", "x", "1.5")


def check(expr: Expr, points: list[dict[str, float]]) -> None:
    found = normal_form(expr)
    if INVERSES.isdisjoint(expr.tokens):  # a function of its inverse is written without, even if that is longer
        assert tree_of(found).cost <= tree_of(expr).cost + ROOM * expr.size
    assert found.library is expr.library
    assert normal_form(found) == found, (str(expr), str(found))
    for point in points if not {"tan", "acos"} <= set(expr.tokens) else []:  # tan(acos(0)) is a pole
        assert agree(expr, found, point), (str(expr), str(found), point)


@given(st.integers(0, 10**6))
def test_formulas_keep_their_values(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for each in trees(WIDE, rng, 3):
        check(each.with_constants(rng.choice([1.0, 2.0, 0.5, -1.0, 1.7], len(each.constants)).tolist()), POINTS)


@given(
    st.sampled_from(list(LIBRARIES.values())).flatmap(
        lambda library: exprs(library, numbers=TAME_NUMBERS, values=st.sampled_from([-2.0, -0.5, 1.0, 3.0]))
    )
)
def test_anything_keeps_its_values(expr: Expr) -> None:
    names = expr.library.variables
    is_own = any(expr.library[token].is_custom for token in expr.tokens)  # mpmath does not know it
    check(expr, [] if is_own else [dict.fromkeys(names, 0.7) | {names[0]: 1.3}, dict.fromkeys(names, -0.4)])


def test_it_is_fast() -> None:
    rng = np.random.default_rng(0)
    drawn = [each for each in trees(WIDE, rng, 300, most=40) if each.size > 20][:20]
    shown = [each.with_constants(rng.normal(size=len(each.constants)).tolist()) for each in drawn]
    start = time.process_time()
    for each in shown:
        normal_form(each)
    assert len(shown) == 20
    assert time.process_time() - start < 2.0
