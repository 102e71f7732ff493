"""Distances are metrics, agree with slow literal references, and forests agree with single expressions."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edhie.errors import ExpressionError
from edhie.expr import Expr, Forest, SymbolLibrary, from_prefix, parse, to_postfix_tokens
from edhie.expr.distance import edit_distance, edit_distances, tree_distance, tree_distances
from strategies import exprs

LIBRARY = SymbolLibrary.of(["+", "-", "^2", "sin"], ["x", "y"], constant=True, literals=("1", "-1", "pi"), numbers=True)
LEAVES = ("x", "y", "c", "1", "-1", "pi", "2", "-2", "0.5")  # hash(-1.0) == hash(-2.0) in Python
BOTH = pytest.mark.parametrize(("single", "many"), [(edit_distance, edit_distances), (tree_distance, tree_distances)])

Tree = tuple[str, tuple["Tree", ...]]

fits = st.none() | st.sampled_from([0.0, 1.0, -2.0])
trees = exprs(LIBRARY, numbers=["2", "-2", "0.5"], values=fits, max_symbols=24)
small = exprs(LIBRARY, numbers=["2", "-2", "0.5"], values=fits, max_symbols=5)
relaxed = settings(deadline=None, max_examples=60)  # the first call compiles


def levenshtein(a: list[str], b: list[str]) -> int:
    """The textbook table, as plainly as can be."""
    table = {(i, 0): i for i in range(len(a) + 1)} | {(0, j): j for j in range(len(b) + 1)}
    for i, j in product(range(1, len(a) + 1), range(1, len(b) + 1)):
        swap = table[i - 1, j - 1] + (a[i - 1] != b[j - 1])
        table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, swap)
    return table[len(a), len(b)]


def as_tree(e: Expr) -> Tree:
    return e.tokens[0], tuple(as_tree(child) for child in e.children)


@cache
def forest_distance(f: tuple[Tree, ...], g: tuple[Tree, ...]) -> int:
    """The definition: the last root of either forest goes, or the two are matched."""
    if not f and not g:
        return 0
    options = []
    if f:
        options.append(1 + forest_distance(f[:-1] + f[-1][1], g))
    if g:
        options.append(1 + forest_distance(f, g[:-1] + g[-1][1]))
    if f and g:
        matched = forest_distance(f[-1][1], g[-1][1]) + forest_distance(f[:-1], g[:-1])
        options.append(matched + (f[-1][0] != g[-1][0]))
    return min(options)


# -- laws -----------------------------------------------------------------------------


@BOTH
@given(a=trees, b=trees)
@relaxed
def test_zero_only_for_the_same_structure_and_symmetric(single, many, a, b):
    assert single(a, a) == 0
    assert single(a, a.free()) == 0
    assert (single(a, b) == 0) == (a.tokens == b.tokens)
    assert single(a, b) == single(b, a)


@BOTH
@given(a=trees, b=trees, c=trees)
@relaxed
def test_triangle_inequality(single, many, a, b, c):
    assert single(a, c) <= single(a, b) + single(b, c)


@given(a=trees, b=trees)
@relaxed
def test_bounds_by_size(a, b):
    by_tokens, by_tree = edit_distance(a, b), tree_distance(a, b)
    assert abs(a.size - b.size) <= by_tokens <= max(a.size, b.size)
    # editing a tree edits its postorder, never the other way round
    assert by_tokens <= by_tree < a.size + b.size


@BOTH
@given(a=trees, data=st.data())
@relaxed
def test_replacing_one_leaf_costs_one(single, many, a, data):
    leaf = data.draw(st.sampled_from([i for i, _, symbol in a.walk() if symbol.arity == 0]))
    other = data.draw(st.sampled_from([t for t in LEAVES if t != a.tokens[leaf]]))
    assert single(a, a.replace(leaf, Expr(LIBRARY, [other]))) == 1


# -- references -----------------------------------------------------------------------


@given(a=trees, b=trees)
@relaxed
def test_edit_distance_is_the_textbook_table(a, b):
    assert edit_distance(a, b) == levenshtein(to_postfix_tokens(a.free()), to_postfix_tokens(b.free()))


@given(a=small, b=small)
@relaxed
def test_tree_distance_is_the_definition(a, b):
    assert tree_distance(a, b) == forest_distance((as_tree(a),), (as_tree(b),))


@BOTH
@given(pairs=st.lists(st.tuples(trees, trees), max_size=8))
@relaxed
def test_forests_agree_with_single_expressions(single, many, pairs):
    a, b = (Forest.from_exprs([pair[side] for pair in pairs], LIBRARY) for side in (0, 1))
    found = many(a, b)
    assert found.dtype == np.int64
    assert found.tolist() == [single(*pair) for pair in pairs]


# -- worked examples ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "by_tokens", "by_tree"),
    [
        ("x", "x", 0, 0),
        ("x", "y", 1, 1),
        ("x + y", "y + x", 2, 2),
        ("x", "sin(x)", 1, 1),
        ("sin(x^2)", "sin(x)^2", 2, 2),
        ("x + sin(y)", "x - y", 2, 2),
        ("(x + y) + x", "x + (y + x)", 2, 2),  # a + goes, a + comes
        ("sin(x) + y", "sin(x + y)", 2, 2),
        ("(x + y) - x", "(x + y) - (x + y)", 2, 2),
        ("sin(x + y) - x", "x + sin(y - x)", 4, 5),  # tokens may match across the tree, nodes may not
        ("c*x", "2*x", 1, 1),
        ("2*x", "2.0*x", 0, 0),
        ("2*x", "-2*x", 1, 1),
    ],
)
def test_examples(a, b, by_tokens, by_tree):
    assert edit_distance(parse(a), parse(b)) == by_tokens
    assert tree_distance(parse(a), parse(b)) == by_tree


@BOTH
def test_fitted_values_do_not_count_but_numbers_do(single, many):
    fitted = parse("c*x + c").with_constants([1.0, 2.5])
    assert single(fitted, parse("c*x + c")) == 0
    assert single(fitted, parse("1*x + 2.5")) == 2


@BOTH
def test_libraries_may_differ(single, many):
    ours = SymbolLibrary.of(["+", "sin"], ["x", "e"], constant=True, literals=("1",))
    theirs = SymbolLibrary.of(["sin", "+"], ["c", "x"], constant=True, literals=("e",), numbers=True)
    # the constants are c and C; c is a variable there and e one here; 1 is a literal and a number
    pairs = [("+ c x", "+ C x", 0), ("+ c x", "+ c x", 1), ("sin e", "sin e", 1), ("+ 1 x", "+ 1 x", 0)]
    a = [from_prefix(text, ours) for text, _, _ in pairs]
    b = [from_prefix(text, theirs) for _, text, _ in pairs]
    expected = [distance for _, _, distance in pairs]
    assert [single(*pair) for pair in zip(a, b, strict=True)] == expected
    assert many(Forest.from_exprs(a), Forest.from_exprs(b)).tolist() == expected


@BOTH
def test_a_number_is_the_literal_of_its_value(single, many):
    library = SymbolLibrary.of(["+"], ["x"], literals=("1",), numbers=True)
    offsets = np.array([0, 1, 2])
    literal = Forest.checked(library, np.array([library.ids["1"]] * 2), offsets)
    number = Forest.checked(library, np.array([library.ids["#"]] * 2), offsets, np.array([1.0, 2.0]))
    assert many(literal, number).tolist() == [0, 1]
    assert [single(*pair) for pair in zip(literal, number, strict=True)] == [0, 1]


@BOTH
def test_many_distinct_numbers_and_long_expressions(single, many, monkeypatch):
    rng = np.random.default_rng(0)
    chains = [[*"+" * 400, *map(str, rng.integers(0, 300, 401))] for _ in range(4)]
    a = [Expr(LIBRARY, chain) for chain in chains]
    b = a[1:] + a[:1]
    forests = Forest.from_exprs(a), Forest.from_exprs(b)
    expected = [single(*pair) for pair in zip(a, b, strict=True)]
    assert many(*forests).tolist() == expected
    monkeypatch.setattr("edhie.expr.distance.MAX_LABEL", 300)  # as if there were no more characters
    assert many(*forests).tolist() == expected


@BOTH
def test_lengths_must_agree(single, many):
    none, one, two = (Forest.from_exprs([parse("x")] * n, LIBRARY) for n in range(3))
    with pytest.raises(ExpressionError, match="2 and 1 expressions"):
        many(two, one)
    assert many(none, none).tolist() == []
