from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edhie.errors import ExpressionError
from edhie.expr import Expr, parse
from edhie.expr import standard_libraries as standard
from edhie.expr.difference import Difference, Matching, difference, distance, shape_of
from edhie.expr.difference.matching import lower_bound
from edhie.expr.distance import tree_distance
from strategies import exprs

LIBRARY = standard.everything(["x", "y"])
small = exprs(LIBRARY, max_symbols=8)


@pytest.mark.parametrize(
    ("before", "after", "count", "words"),
    [
        ("c*x0*exp(-c*x1)", "2*x0*exp(-0.5*x1) + 1.3", 2, "+ c inserted at the top"),
        ("c*x0*exp(-c*x1)", "2*x0^2*exp(-0.5*x1)", 1, "x0 replaced by x0^2"),
        ("x + sin(y)", "x + cos(y)", 1, "sin replaced by cos in sin(y)"),
        ("x*y*z", "x*exp(y*z)", 1, "y*z replaced by exp(y*z)"),
        ("x + y", "x - y", 1, "+ replaced by - in x + y"),
        ("sqrt(x + y)", "x + y", 1, "sqrt deleted at the top"),
        ("x + y + c", "y + x", 2, "+ c deleted at the top"),
        ("n*R*T/V", "n*R*T/(V - n*0.04) - 3*n^2/V^2", 12, "+ c*n^2/V^2 inserted at the top; V replaced by n*c + V"),
        ("x", "y", 1, "x replaced by y"),
        ("2*x + y", "y - c*x", 0, "nothing but constants"),
    ],
)
def test_it_says_what_changed(before: str, after: str, count: int, words: str) -> None:
    found = difference(parse(before), parse(after))
    assert (found.distance, str(found)) == (count, words)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x - y + z", "z + x - y"),
        ("x*y/z", "x/z*y"),
        ("c*x", "-3.5*x"),
        ("x/c", "2*x"),
        ("x - 2*y", "x + 7*y"),
        ("-(x + y)", "-x - y"),
        ("-(x - y)", "y - x"),
        ("x*(-y)", "-(x*y)"),
        ("max(x, y)", "max(y, x)"),
        ("exp(2)*x + sin(3)", "x*c + c"),
        ("x*2*y*3", "y*6*x"),
    ],
)
def test_neither_order_nor_grouping_nor_values_count(one: str, other: str) -> None:
    assert distance(parse(one, variables=["x", "y", "z"]), parse(other, variables=["x", "y", "z"])) == 0


@pytest.mark.parametrize(
    ("one", "other"),
    [("x/y", "y/x"), ("x - y", "y - x"), ("x^y", "y^x"), ("x", "-x"), ("x^c", "c^x"), ("x*x", "x^2"), ("x", "c*x")],
)
def test_what_is_not_the_same_is_apart(one: str, other: str) -> None:
    assert distance(parse(one, variables=["x", "y"]), parse(other, variables=["x", "y"])) > 0


def turned(expr: Expr, rng: np.random.Generator) -> Expr:
    """The expression with operands of sums and products in another order, and other values."""
    children = [turned(each, rng) for each in expr.children]
    if expr.symbol.name in ("+", "*") and rng.random() < 0.5:
        children.reverse()
    if not children:
        is_number = expr.symbol.kind in ("number", "literal", "constant")
        return parse(f"{rng.uniform(1, 2):.3f}", LIBRARY) if is_number else expr
    tokens = [token for each in children for token in each.tokens]
    return Expr(LIBRARY, [expr.tokens[0], *tokens], [value for each in children for value in each.constants])


@given(expr=small, seed=st.integers(0, 99))
def test_another_order_is_no_difference(expr: Expr, seed: int) -> None:
    assert distance(expr, turned(expr, np.random.default_rng(seed))) == 0


@given(a=small, b=small)
@settings(deadline=None)
def test_a_distance_is_symmetric_and_0_for_the_same_shape_only(a: Expr, b: Expr) -> None:
    there, back = distance(a, b), distance(b, a)
    assert there == back
    assert (there == 0) == (shape_of(a).key == shape_of(b).key)
    assert lower_bound(shape_of(a), shape_of(b)) <= there <= shape_of(a).size + shape_of(b).size


@given(a=small, b=small)
@settings(deadline=None)
def test_edits_add_up(a: Expr, b: Expr) -> None:
    one, other = shape_of(a), shape_of(b)
    matching = Matching()
    edits = matching.edits(one, other)
    assert sum(edit.cost for edit in edits) == matching.distance(one, other)
    # what was deleted is less, what was inserted is more
    grown = sum(edit.cost * {"replaced": 0, "inserted": 1, "deleted": -1}[edit.act] for edit in edits)
    assert other.size - one.size == grown


@given(a=small, b=small)
@settings(deadline=None)
def test_every_change_is_a_node(a: Expr, b: Expr) -> None:
    found = difference(a, b)
    assert isinstance(found, Difference)
    assert found.inserted <= set(range(b.size))
    assert found.deleted <= set(range(a.size))
    assert bool(found.changes) == (found.distance > 0)
    kept_before, kept_after = found.kept
    assert not kept_before & found.deleted
    assert not kept_after & found.inserted
    has_signs = bool({"neg", "inv"} & {*a.tokens, *b.tokens})  # signs move, and their nodes with them
    has_sums = shape_of(a).size != a.size or shape_of(b).size != b.size  # of constants that stand together
    if not (has_signs or has_sums):
        assert found.distance == len(found.replaced) + len(found.inserted) + len(found.deleted)


@given(a=small, b=small)
@settings(deadline=None)
def test_a_change_in_one_place_is_as_far_as_trees_are(a: Expr, b: Expr) -> None:
    """Never more than what it takes to write both anew, and for a single leaf what the distance of trees says."""
    if b.size == 1 and a.size == 1:
        is_number = all(each.symbol.kind != "variable" for each in (a, b))
        assert distance(a, b) == (0 if is_number else tree_distance(a, b))


@st.composite
def long_chains(draw: st.DrawFn) -> Expr:
    """A sum or a product of six to nine small parts, some of them taken off."""
    parts = draw(
        st.lists(exprs(LIBRARY, names=["x", "y", "+", "*", "sin", "/"], max_symbols=3), min_size=6, max_size=9)
    )
    operators = draw(st.sampled_from([("+", "-"), ("*", "/")]))
    tokens: tuple[str, ...] = parts[0].tokens
    for part in parts[1:]:
        tokens = (draw(st.sampled_from(operators)), *tokens, *part.tokens)
    return Expr(LIBRARY, tokens)


@given(a=long_chains(), b=long_chains() | small)
@settings(deadline=None, max_examples=50)
def test_long_chains_keep_the_laws(a: Expr, b: Expr) -> None:
    there, back = difference(a, b), difference(b, a)
    assert there.distance == back.distance
    assert (there.distance == 0) == (shape_of(a).key == shape_of(b).key)
    assert lower_bound(shape_of(a), shape_of(b)) <= there.distance
    edits = Matching().edits(shape_of(a), shape_of(b))
    assert sum(edit.cost for edit in edits) == there.distance


def test_long_sums_are_compared_in_time() -> None:
    one = parse(" + ".join(f"x{k}*y{k}" for k in range(9)))
    other = parse(" + ".join(f"y{k}*x{k}" for k in range(8, -1, -1)) + " + sin(x0)")
    assert distance(one, other) == 3


@pytest.mark.parametrize("after", ["x - (x + x)", "(x + y)*z*x", "x + y + z", "x - (y - z)", "x/(y*(z*x))"])
def test_operators_of_a_chain_are_told_apart(after: str) -> None:
    before, whole = parse("x", variables=["x", "y", "z"]), parse(after, variables=["x", "y", "z"])
    assert len(difference(before, whole).inserted) == whole.size - 1
    assert len(difference(whole, before).deleted) == whole.size - 1


def test_what_is_too_deep_is_told() -> None:
    with pytest.raises(ExpressionError, match="too deep to be compared"):
        distance(parse("sin(" * 200 + "x" + ")" * 200), parse("x"))
    assert distance(parse("sin(" * 140 + "x" + ")" * 140), parse("sin(" * 140 + "y" + ")" * 140)) == 1
