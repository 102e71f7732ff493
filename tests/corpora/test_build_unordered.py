"""Expressions that differ in the order of terms and factors have one text, and no others have."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edhie.corpora.build import unordered
from edhie.expr import Expr, parse
from edhie.expr import standard_libraries as libraries
from strategies import exprs


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x + y", "y + x"),
        ("x + (y + z)", "z + x + y"),
        ("x - (y - z)", "x + z - y"),
        ("x/(y/z)", "z*x/y"),
        ("sin(x*y)", "sin(y*x)"),
        ("(x + y)*z", "z*(y + x)"),
        ("c*(x + c)", "(c + x)*c"),
    ],
)
def test_same(one: str, other: str) -> None:
    assert unordered(parse(one)) == unordered(parse(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [("x - y", "y - x"), ("x/y", "y/x"), ("x^y", "y^x"), ("x + y*z", "(x + y)*z"), ("x", "sin(x)"), ("x - y", "x + y"),
     ("x*x", "x"), ("min(x, y)", "min(y, x)"), ("-x", "x")],
)  # fmt: skip
def test_different(one: str, other: str) -> None:
    assert unordered(parse(one)) != unordered(parse(other))


@given(exprs(libraries.trig(2), names=["+", "-", "*", "/", "sin", "x0", "x1"]), st.randoms(use_true_random=False))
def test_swaps_change_nothing(expr: Expr, random: Random) -> None:
    swapped = expr
    for position in reversed(range(expr.size)):
        if swapped.tokens[position] in ("+", "*") and random.random() < 0.5:
            left, right = (swapped.subtree(i).tokens for i in swapped.child_positions(position))
            swapped = swapped.replace(position, Expr(expr.library, (swapped.tokens[position], *right, *left)))
    assert unordered(swapped) == unordered(expr)
