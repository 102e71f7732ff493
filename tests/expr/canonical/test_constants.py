"""Unfitted constants merge, and every merged form can do what its input could; they never cancel."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agreement import agree
from edhie.expr import Expr, parse
from edhie.expr.canonical import canonical_expr
from edhie.expr.standard_libraries import everything
from strategies import exprs

LIBRARY = everything(["x", "y"])
sizes = st.floats(0.2, 2.0)
signed = st.builds(lambda size, sign: size * sign, sizes, st.sampled_from([-1.0, 1.0]))
points = st.fixed_dictionaries({"x": sizes, "y": sizes})

# what becomes of the input's constants, in prefix order
MERGED: list[tuple[str, str, Callable[..., list[float]]]] = [
    ("c*c", "c", lambda a, b: [a * b]),
    ("c + c", "c", lambda a, b: [a + b]),
    ("c - c", "c", lambda a, b: [a - b]),
    ("c/c", "c", lambda a, b: [a / b]),
    ("c/3 + 2", "c", lambda a: [a / 3 + 2]),
    ("-c", "c", lambda a: [-a]),
    ("1/c", "c", lambda a: [1 / a]),
    ("c^3", "c", lambda a: [a**3]),
    ("2*sin(c) + c", "c", lambda a, b: [2 * math.sin(a) + b]),
    ("sqrt(2)*c", "c", lambda a: [math.sqrt(2) * a]),
    ("c*x - c*x", "c*x", lambda a, b: [a - b]),
    ("c*x + 2*x", "c*x", lambda a: [a + 2]),
    ("x/c", "c*x", lambda a: [1 / a]),
    ("c*x*c*y", "c*x*y", lambda a, b: [a * b]),
    ("(c*x)^3", "c*x^3", lambda a: [a**3]),
    ("c*(x + c)", "c*x + c", lambda a, b: [a, a * b]),
    ("c*(c*x + c)", "c*x + c", lambda a, b, d: [a * b, a * d]),
    ("c*(2*x + 1) + c", "c*x + c", lambda a, b: [2 * a, a + b]),
    ("2*(x + c)", "2*x + c", lambda a: [2 * a]),
    ("-(c - 3*x)", "3*x + c", lambda a: [-a]),
    ("c - x", "c - x", lambda a: [a]),
    ("c*(x + y) + c", "c*(x + y + c)", lambda a, b: [a, b / a]),
    ("c*(x + y + c)", "c*(x + y + c)", lambda a, b: [a, b]),
    ("y*c*(x + c)", "c*y*(x + c)", lambda a, b: [a, b]),
    ("y*(c*x + c)", "c*y*(x + c)", lambda a, b: [a, b / a]),
    ("c*x + c*y + c*c", "c*x + c*y + c", lambda a, b, d, f: [a, b, d * f]),
    ("sin(c - x)", "-sin(x + c)", lambda a: [-a]),
    ("sin(-c*x)", "sin(c*x)", lambda a: [-a]),
    ("x^(c + c)", "x^c", lambda a, b: [a + b]),
    ("exp(c*2)*c*x", "c*x", lambda a, b: [math.exp(2 * a) * b]),
    ("min(c, c)*x", "c*x", lambda a, b: [min(a, b)]),
    ("cbrt(c)*x", "c*x", lambda a: [float(np.cbrt(a))]),
    ("c*cos(c)*sqrt(x) + c", "c*sqrt(x) + c", lambda a, b, d: [a * math.cos(b), d]),
    ("c*(x*cos(c) + c)", "c*x + c", lambda a, b, d: [a * math.cos(b), a * d]),
    ("x + c*(x + 2) + c", "c*x + c", lambda a, b: [1 + a, 2 * a + b]),
    ("(c*x + c)^2", "c^2*(x + c)^2", lambda a, b: [a, b / a]),
]


@pytest.mark.parametrize(("text", "form", "of_form"), MERGED, ids=[row[0] for row in MERGED])
@given(values=st.lists(signed, min_size=4, max_size=4), point=points)
def test_the_merged_form_can_do_the_same(
    text: str, form: str, of_form: Callable[..., list[float]], values: list[float], point: dict[str, float]
) -> None:
    expr = parse(text, LIBRARY)
    merged = canonical_expr(expr)
    assert str(merged) == form
    given_values = values[: len(expr.constants)]
    assert agree(expr, merged, point, given_values, of_form(*given_values))


@pytest.mark.parametrize(
    "text",
    [
        "sin(c*x) - sin(c*x)", "sin(c*x)/sin(c*x)", "x^c*x^c", "exp(c*x) + exp(c*x)", "max(c*x, c*x)", "c^x/c^x",
        "abs(c) - abs(c) + x", "c^2*c^2", "sqrt(c)*x", "x + exp(c)", "c^2*x", "abs(c)*x", "2^c*x", "c^x", "x^c",
    ],
)  # fmt: skip
def test_constants_that_differ_stay(text: str) -> None:
    """sin(c*x) - sin(c*x) is not 0, and c^2*x is x with a positive factor only."""
    expr = parse(text, LIBRARY)
    assert canonical_expr(expr).constants == expr.constants


@pytest.mark.parametrize(
    "variants",
    [
        [
            "abs(c) - abs(c) + sin(x)",
            "sin(x) - abs(c) + abs(c)",
            "-(abs(c) - abs(c) - sin(x))",
            "-abs(c) + sin(x) + abs(c)",
        ],
        ["c*(x + c)*(y + c)", "(c*x + c)*(y + c)", "(x + c)*(c*y + c)", "(y + c)*(x + c)*c"],
        ["2*(x + c)*(y + c)", "(x + c)*(2*(y + c))", "(2*x + c)*(y + c)"],
        ["c*x/sin(y) + c", "c*(x/sin(y) + c)", "c*(c*x/sin(y) + 1)"],
        ["x + c*(x + 2) + c", "c + x + c*(2 + x)", "c*x + c"],
    ],
)
def test_one_form_for_all(variants: list[str]) -> None:
    forms = {str(canonical_expr(parse(text, LIBRARY))) for text in variants}
    assert len(forms) == 1, forms


@given(
    exprs(
        LIBRARY,
        numbers=("1", "2", "-1"),
        names=["x", "y", "c", "+", "-", "*", "/", "neg", "^2", "sin", "exp"],
        max_symbols=14,
    ),
    st.randoms(use_true_random=False),
    points,
)
def test_fitted_constants_are_numbers(expr: Expr, draw: object, point: dict[str, float]) -> None:
    values = [draw.choice([0.5, 2.0, -1.0, 3.0]) for _ in expr.constants]  # type: ignore[attr-defined]
    fitted = expr.with_constants(values)
    form = canonical_expr(fitted)
    assert form.constants == ()
    assert agree(fitted, form, point)
    spelled = Expr(LIBRARY, [str(values.pop(0)) if token == "c" else token for token in expr.tokens])
    assert canonical_expr(spelled) == form or form == fitted


def test_fitted_and_unfitted_side_by_side() -> None:
    assert str(canonical_expr(parse("c*x + c*x*2", LIBRARY).with_constants([3.0, 0.5]))) == "4*x"
    assert str(canonical_expr(parse("c*x + c*x*2", LIBRARY).with_constants([3.0, None]))) == "c*x"
    assert str(canonical_expr(parse("sin(c*x) - sin(c*x)", LIBRARY).with_constants([2.0, 2.0]))) == "0"
    assert str(canonical_expr(parse("c*x^c", LIBRARY).with_constants([None, 2.0]))) == "c*x^2"
