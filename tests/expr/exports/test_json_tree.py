"""JSON out and in is the identity, and what was tampered with is refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edhie.errors import EdhieError, ExpressionError
from edhie.expr import Expr, parse
from edhie.expr.exports import export, from_json
from edhie.expr.standard_libraries import everything
from strategies import GAUSS, HYPOT, exprs, finite, random_libraries

OWN = (GAUSS, HYPOT)


@given(random_libraries().flatmap(lambda library: exprs(library, values=st.none() | finite)))
def test_json_round_trip_is_the_identity(expr: Expr) -> None:
    back = from_json(export(expr, "json"), operators=OWN)
    assert back == expr
    assert back.library == expr.library


@given(exprs(values=st.none() | finite))
def test_json_over_any_library(expr: Expr) -> None:
    assert from_json(export(expr, "json"), operators=OWN) == expr


def test_what_the_json_says() -> None:
    data = json.loads(export(parse("2.5*x - sin(y)").numbers_to_constants(), "json", target="speed"))
    assert data["equation"] == "speed = 2.5*x - sin(y)"
    assert data["variables"] == ["x", "y"]
    assert data["constants"] == [2.5]
    assert data["nodes"] == [
        {"symbol": "-", "operands": [1, 4]},
        {"symbol": "*", "operands": [2, 3]},
        {"symbol": "c", "value": 2.5},
        {"symbol": "x"},
        {"symbol": "sin", "operands": [5]},
        {"symbol": "y"},
    ]
    assert {"name": "sin", "kind": "operator"} in data["library"]["symbols"]


def test_no_tree_is_too_deep() -> None:
    expr = Expr(everything(["x"]), ["sin"] * 20_000 + ["x"])
    assert from_json(export(expr, "json")) == expr


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 1}', '{"format": 1, "nodes": 3, "library": {}}', "null"])
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError, match="export"):
        from_json(text)


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('"format": 1,\n  "equation"', '"format": 9,\n  "equation"', "format 9"),
        ('"operands": [1, 2]', '"operands": [2, 1]', "agree"),
        ('"symbol": "x"', '"symbol": "z"', "unknown symbol 'z'"),
        ('"constants": [2.5]', '"constants": [2.0]', "agree"),
        ('"constants": [2.5]', '"constants": ["much"]', "export"),
        ('"constants": [2.5]', '"constants": [NaN]', "finite"),
    ],
)
def test_what_was_tampered_with_is_refused(old: str, new: str, what: str) -> None:
    text = export(parse("2.5*x").numbers_to_constants(), "json")
    assert old in text
    with pytest.raises(EdhieError, match=what):
        from_json(text.replace(old, new))
