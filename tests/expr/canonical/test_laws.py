"""Canonical forms keep values, are their own canonical forms, and forget what differs only in writing."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agreement import agree, tolerance, value_at
from edhie.expr import Expr, Forest, parse
from edhie.expr.canonical import canonical, canonical_expr
from edhie.expr.standard_libraries import everything
from strategies import any_library, exprs, forests, random_libraries

LIBRARY = everything(["x", "y"])
DYADIC = ("0", "1", "2", "3", "4", "-1", "-2", "0.5", "-0.75")
points = st.fixed_dictionaries({name: st.floats(-3, 3).filter(lambda v: abs(v) > 1e-3) for name in "xy"})
Tree = tuple["str | Tree", ...]

plain = exprs(LIBRARY, numbers=DYADIC, names=[n for n in LIBRARY.names if n != "c"], max_symbols=16)


@given(plain, st.lists(points, min_size=3, max_size=3))
@settings(max_examples=150)
def test_values_stay(expr: Expr, where: list[dict[str, float]]) -> None:
    form = canonical_expr(expr)
    for point in where:
        assert agree(expr, form, point), (str(form), point)


@given(plain, st.lists(points, min_size=3, max_size=3))
@settings(max_examples=150)
def test_values_stay_in_doubles(expr: Expr, where: list[dict[str, float]]) -> None:
    form = canonical_expr(expr)
    for point in where:
        precise, ours = value_at(expr, point), expr(**point)
        if precise is None or value_at(form, point) is None or not np.isfinite(ours):
            continue
        theirs = value_at(form, point)
        assert theirs is not None
        assert abs(float(form(**point)) - ours) <= 2 * (tolerance(precise) + tolerance(theirs)), (str(form), point)


UNARY = [symbol.name for symbol in LIBRARY.symbols if symbol.arity == 1]


def test_values_stay_for_every_pair_of_operators() -> None:
    """f(g(x)), f(-g(x)), f(x - y), f(2*x) + g(-y), for all f and g of one operand."""
    trees = [[f, *inner] for f in UNARY for inner in (["-", "y", "x"], ["*", "-2", "x"], ["inv", "neg", "x"])]
    trees += [[f, *sign, g, "x"] for f in UNARY for g in UNARY for sign in ([], ["neg"])]
    trees += [[joint, f, "*", "-2", "x", g, "y"] for f in UNARY for g in UNARY[::4] for joint in ("+", "/", "max")]
    given_exprs = [Expr(LIBRARY, tokens) for tokens in trees]
    for expr, form in zip(given_exprs, canonical(Forest.from_exprs(given_exprs)), strict=True):
        for point in ({"x": 0.375, "y": -0.8}, {"x": -0.7, "y": 2.5}):
            assert agree(expr, form, point), (str(expr), str(form), point)


@given(any_library.flatmap(lambda library: forests(library, max_size=6, max_symbols=20)))
def test_forms_are_whole_and_stay_as_they_are(forest: Forest) -> None:
    once = canonical(forest)
    Forest.checked(once.library, once.tokens, once.offsets, once.values)
    assert len(once) == len(forest)
    assert canonical(once).to_exprs() == once.to_exprs()


@given(random_libraries().flatmap(lambda library: exprs(library, max_symbols=20)))
def test_any_numbers_in_any_library(expr: Expr) -> None:
    """Overflow, underflow, division by zero and whatever else doubles do: the result is an expression."""
    form = canonical(Forest.from_exprs([expr]))
    Forest.checked(form.library, form.tokens, form.offsets, form.values)
    assert np.isfinite(form.values).all() or expr.library.constant is not None
    assert set(form[0].variables) <= set(expr.variables)
    assert form[0].constants.count(None) <= expr.constants.count(None)


@given(
    exprs(LIBRARY, numbers=DYADIC, max_symbols=24, names=[n for n in LIBRARY.names if n not in ("pi", "e")]),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=300)
def test_writing_does_not_matter(expr: Expr, seed: int) -> None:
    """Order and grouping of operands, a-b and a+(-b), a/b and a*inv(b), --a, a*a and a^2."""
    other = Expr(LIBRARY, _flat(_rewritten(_tree(expr), random.Random(seed))))
    one, two = canonical_expr(expr), canonical_expr(other)
    if one == expr and two == other:
        return  # nowhere defined, such as log(-1): left as it is
    assert f"{one:.12g}" == f"{two:.12g}", str(other)  # folding in another order may round differently


@pytest.mark.parametrize(
    "variants",
    [
        ["x + y", "y + x", "-(-x - y)", "x - (-y)", "y + x + y - y", "0 + x + y"],
        ["x*y*2", "2*y*x", "(x*2)*y", "x/inv(2*y)", "-x*y*(-2)", "x*y + y*x"],
        ["x^2", "x*x", "x^(2)", "x^3/x", "x/inv(x)", "(-x)^2", "1/x^(-2)"],
        ["sin(x - y)", "-sin(y - x)", "sin(-(y - x))", "sin(-y + x)"],
        ["cos(x - y)", "cos(y - x)", "cos(-x + y)"],
        ["abs(2*x)", "abs(-2*x)"],
        ["min(x, y)", "min(y, x)"],
        ["max(2*x, y + 1)", "max(1 + y, x + x)"],
        ["x", "x/1", "x^1", "--x", "x + 0", "x - 0", "log(exp(x))", "exp(log(x))", "min(x, x)", "x^2/x", "3*x - 2*x"],
        ["1", "x/x", "x^0", "x^2/x^2", "1^x", "cos(0)", "y - y + 1"],
        ["0", "x - x", "0*x", "0/x", "sin(x) - sin(x)", "x*y - y*x"],
        ["2*(x + 2*y)", "2*x + 4*y", "x + 4*y + x"],
        ["1 - x", "-(x - 1)", "-x + 1"],
        ["x/(x + 1)", "x*inv(1 + x)", "-x/(-1 - x)"],
    ],
)
def test_one_form_for_all(variants: list[str]) -> None:
    forms = {str(canonical_expr(parse(text, variables=["x", "y"]))) for text in variants}
    assert len(forms) == 1, forms


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("x - y", "y - x"), ("x/y", "y/x"), ("sin(x)", "sin(-x)"), ("abs(x)", "x"), ("sqrt(x^2)", "x"), ("x^y", "y^x"),
        ("min(x, y)", "max(x, y)"), ("x^(-1)", "x"), ("acos(-x)", "acos(x)"), ("exp(-x)", "exp(x)"), ("(x^2)^0.5", "x"),
        ("log(x^2)", "2*log(x)"), ("x + 1", "x + 2"), ("x*y", "x + y"), ("sin(x)*sin(x)", "sin(x^2)"),
    ],
)  # fmt: skip
def test_different_things_keep_different_forms(a: str, b: str) -> None:
    assert canonical_expr(parse(a, variables=["x", "y"])) != canonical_expr(parse(b, variables=["x", "y"]))


# -- rewriting ------------------------------------------------------------------------


def _tree(expr: Expr) -> Tree:
    return (expr.tokens[0], *(_tree(child) for child in expr.children))


def _flat(tree: Tree) -> list[str]:
    return [str(tree[0]), *(token for child in tree[1:] for token in _flat(child))]


def _rewritten(tree: Tree, draw: random.Random) -> Tree:
    name, *operands = tree[0], *(_rewritten(child, draw) for child in tree[1:])
    if name in ("+", "*", "min", "max") and draw.random() < 0.5:
        operands.reverse()
    if name in ("+", "*") and draw.random() < 0.5:
        (a, b) = operands
        if a[0] == name:
            operands = [a[1], (name, a[2], b)]
        elif b[0] == name:
            operands = [(name, a, b[1]), b[2]]
    tree = (name, *operands)
    if draw.random() < 0.5:
        tree = _said_otherwise(tree)
    return ("neg", ("neg", tree)) if draw.random() < 0.1 else tree


def _said_otherwise(tree: Tree) -> Tree:
    name, *operands = tree
    if name == "-":
        return ("+", operands[0], ("neg", operands[1]))
    if name == "/":
        return ("*", operands[0], ("inv", operands[1]))
    if name == "^2" and "c" not in _flat(tree):  # each c is a constant of its own: c*x*c*x is not (c*x)^2
        return ("*", operands[0], operands[0])
    if name == "^3":
        return ("^", operands[0], ("3",))
    if name == "neg":
        return ("*", ("-1",), operands[0])
    if name == "inv":
        return ("^", operands[0], ("-1",))
    return tree
