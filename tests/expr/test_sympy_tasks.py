"""What the worker does, asked without a process: tidying, proofs and where they hold."""

from __future__ import annotations

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from agreement import agree
from edhie.expr import Expr, SymbolLibrary, parse
from edhie.expr import sympy_tasks as tasks
from edhie.expr.standard_libraries import everything, trig
from edhie.expr.sympy_tasks import answer, expr_from, request
from strategies import TAME_NUMBERS, exprs

LIBRARY = everything(["x", "y"])
x, y = sympy.symbols("x y", real=True)


@pytest.mark.parametrize(
    "value",
    [x**2 + sympy.sin(x * y), sympy.exp(-(x**2)), 1 / (x**2 + 1), sympy.sqrt(x**2 + 1), sympy.log(x**2 + 1),
     sympy.asin(x) + sympy.acos(2 * x - y), sympy.log(x - y), sympy.sqrt(1 - x), sympy.Abs(x - 1), sympy.Max(x, y),
     1 / sympy.sqrt(x), sympy.tanh(x) / sympy.cosh(x), sympy.atan(sympy.exp(x)), sympy.Integer(3)],
    ids=str,
)  # fmt: skip
def test_domains_in_one_piece(value: sympy.Expr) -> None:
    assert tasks._is_in_one_piece(value)


@pytest.mark.parametrize(
    "value",
    [1 / x, sympy.tan(x), sympy.sign(x), sympy.log(x**2 - 1), sympy.sqrt(x**2 - 1), sympy.atan(1 / x), x**y,
     sympy.asin(x**2 - 2), sympy.log(sympy.sin(x)), sympy.Abs(x) / x, sympy.Function("f")(x), sympy.Heaviside(x)],
    ids=str,
)  # fmt: skip
def test_domains_that_may_fall_apart(value: sympy.Expr) -> None:
    assert not tasks._is_in_one_piece(value)


def test_a_slope_of_zero_proves_nothing_across_a_gap() -> None:
    either_side = sympy.atan(x) + sympy.atan(1 / x) - sympy.pi / 2  # 0 for x > 0, -pi for x < 0
    assert tasks._constant(either_side) == either_side
    assert tasks._constant(sympy.asin(x) + sympy.acos(x) - sympy.pi / 2) == 0


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("asin(x) + acos(x)", "pi/2", {"zero": True}),
        ("asin(x) + acos(x)", "pi/2 + 1e-40", {"zero": False}),
        ("x + 1e-30", "x", {"zero": False, "difference": "1.0000e-30"}),
        ("sin(x)", "cos(x)", {"zero": False}),
    ],
)
def test_proofs(left: str, right: str, expected: dict[str, object]) -> None:
    message = request("prove_zero", [parse(left, LIBRARY), parse(right, LIBRARY)], constants=[])
    assert answer(message) == expected


def test_proofs_match_constants_by_order() -> None:
    one, other = parse("c*x + c^2*y", LIBRARY), parse("c^2*y + c*x", LIBRARY)
    assert answer(request("prove_zero", [one, other], constants=[1, 0])) == {"zero": True}
    assert answer(request("prove_zero", [one, other], constants=[0, 1])) == {"zero": False}
    half, numbers = parse("c*x + c", LIBRARY).with_constants([2.0, None]), parse("c + 2*x", LIBRARY)
    assert answer(request("prove_zero", [half, numbers], constants=[0])) == {"zero": True}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x + x", "2*x"),
        ("x*x", "x^2"),
        ("2*c*x", "c*x"),
        ("c + 2 + x", "c + x"),
        ("c*x + c*y", "c*x + c*y"),
        ("x*y + x*sin(x)", "x*(y + sin(x))"),
        ("c*c", "c*c"),
        ("sin(0)*x + y", "y"),
    ],
)
def test_tidying(text: str, expected: str) -> None:
    assert str(expr_from(answer(request("tidy", [parse(text, LIBRARY)])), LIBRARY)) == expected


@given(exprs(LIBRARY, names=[n for n in LIBRARY.names if n != "c"], numbers=TAME_NUMBERS, max_symbols=8), st.data())
@settings(max_examples=40)
def test_tidying_keeps_values(expr: Expr, data: st.DataObject) -> None:
    found = answer(request("tidy", [expr]))
    if "error" in found:
        return
    point = {name: data.draw(st.floats(0.1, 3)) for name in ("x", "y")}
    assert agree(expr, expr_from(found, LIBRARY), point)


def test_answers_say_which_constant_is_which() -> None:
    expr = parse("c + sin(c*x)", LIBRARY)
    found = answer(request("simplify", [expr]))
    tokens, places = found["tokens"], found["constants"]
    assert [t for t in tokens if t == "c"] == ["c", "c"]
    assert places == ([0, 1] if tokens.index("sin") > tokens.index("c") else [1, 0])


def test_what_does_not_fit_comes_in_a_wider_library() -> None:
    library = trig()
    found = answer(request("simplify", [parse("sin(x0)/cos(x0)", library)]))
    assert not found["fits"]
    assert "tan" in expr_from(found, library).library
    names = SymbolLibrary.of(["sin", "cos", "/"], ["tan"])
    kept = answer(request("simplify", [parse("sin(tan)/cos(tan)", names)]))
    assert "error" in kept or "tan" not in [t for t in kept["tokens"] if names.with_numbers()[t].arity]
