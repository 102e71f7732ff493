"""A Forest is its expressions, as flat arrays: every operation agrees with the same on a list of Exprs."""

from __future__ import annotations

import itertools
import pickle
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edhie.errors import EdhieError, ExpressionError, SymbolError
from edhie.expr import Expr, Forest, SymbolLibrary, parse
from edhie.expr.standard_libraries import everything, feynman, nguyen
from edhie.expr.symbols import literal
from edhie.grammar import load
from strategies import LIBRARIES, exprs, forests, random_libraries

LIBRARY = SymbolLibrary.of(["+", "*", "sin", "^2"], ["x", "y"], constant=True, literals=("1", "pi"), numbers=True)
any_forest = forests(LIBRARY)
# few symbols, so that the same expression comes again
repetitive = st.lists(exprs(LIBRARY, names=["+", "x", "c"], numbers=["1", "2"], max_symbols=3), max_size=20).map(
    lambda trees: Forest.from_exprs(trees, LIBRARY)
)


def same(forest: Forest, trees: list[Expr]) -> bool:
    """Whether a forest holds these expressions and its arrays are what they should be."""
    checked = Forest.checked(forest.library, forest.tokens, forest.offsets, forest.values)
    assert (forest.tokens.dtype, forest.offsets.dtype, forest.values.dtype) == (np.int16, np.int64, np.float64)
    return checked.to_exprs() == forest.to_exprs() == trees and len(forest) == len(trees)


# -- from and to expressions ----------------------------------------------------------


@given(random_libraries().flatmap(lambda library: st.tuples(st.just(library), st.lists(exprs(library), max_size=6))))
def test_from_and_to_expressions(case):
    library, trees = case
    assert same(Forest.from_exprs(trees, library), trees)


@given(any_forest)
def test_iterating_and_indexing_are_those_of_a_list(forest):
    trees = forest.to_exprs()
    assert list(forest) == trees
    assert [forest[i] for i in range(len(forest))] == trees
    assert [forest[np.int64(i - len(forest))] for i in range(len(forest))] == trees
    for outside in (len(forest), -len(forest) - 1):
        with pytest.raises(IndexError, match=f"no expression {outside}: the forest has {len(forest)}"):
            forest[outside]


@given(any_forest, st.slices(8))
def test_slicing_is_that_of_a_list(forest, part):
    assert same(forest[part], forest.to_exprs()[part])


@given(any_forest, st.data())
def test_masks_and_indices_choose_as_in_numpy(forest, data):
    trees = forest.to_exprs()
    mask = data.draw(st.lists(st.booleans(), min_size=len(trees), max_size=len(trees)))
    expected = [tree for tree, is_chosen in zip(trees, mask, strict=True) if is_chosen]
    assert same(forest[np.array(mask, dtype=bool)], expected)
    assert same(forest.take(np.array(mask, dtype=bool)), expected)
    if trees:
        chosen = data.draw(st.lists(st.integers(-len(trees), len(trees) - 1), max_size=8))
        for index in (chosen, np.array(chosen, dtype=np.int32)):
            assert same(forest[index], [trees[i] for i in chosen])
            assert same(forest.take(index), [trees[i] for i in chosen])


@pytest.mark.parametrize("index", [[2], [-3], np.array([0, 5]), [[0, 1]], np.array([True]), 1.5, "x"])
def test_what_is_not_there_cannot_be_taken(index):
    forest = Forest.from_exprs([parse("x"), parse("y")], LIBRARY)
    with pytest.raises(IndexError):
        forest[index]
    with pytest.raises(IndexError):
        forest.take(index)


@given(st.lists(any_forest, min_size=1, max_size=4))
def test_concatenating_is_that_of_lists(parts):
    assert same(Forest.concatenate(parts), [tree for part in parts for tree in part])


def test_only_forests_over_one_library_can_be_joined():
    a, b = Forest.from_exprs([parse("x0", nguyen())]), Forest.from_exprs([parse("x0", feynman())])
    with pytest.raises(ExpressionError, match=r"different libraries .*cast\(\) one of them first"):
        Forest.concatenate([a, b])
    with pytest.raises(ExpressionError, match="at least one forest"):
        Forest.concatenate([])
    twin = Forest.from_exprs([parse("x0", pickle.loads(pickle.dumps(nguyen())))])  # from another process
    assert len(Forest.concatenate([a, twin])) == 2


def test_an_empty_forest_needs_a_library():
    with pytest.raises(ExpressionError, match=r"Forest.from_exprs\(\[\], library\)"):
        Forest.from_exprs([])
    empty = Forest.from_exprs([], LIBRARY)
    assert (len(empty), empty.to_exprs(), len(empty.unique())) == (0, [], 0)
    assert (empty.depths.tolist(), empty.postorder.tolist(), empty.heights.tolist()) == ([], [], [])
    assert same(empty[:], [])


@pytest.mark.parametrize("source", LIBRARIES)
@given(data=st.data())
def test_casting_to_any_library_is_that_of_expressions(source, data):
    target = LIBRARIES[data.draw(st.sampled_from(list(LIBRARIES)))]
    forest = data.draw(forests(LIBRARIES[source], max_size=4))
    try:
        expected = Forest.from_exprs([expr.cast(target) for expr in forest], target)
    except EdhieError as error:
        with pytest.raises(type(error)):
            forest.cast(target)
        return
    found = forest.cast(target)
    assert found.library == target
    for name in ("tokens", "offsets", "values"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_a_constant_may_have_another_name_elsewhere():
    ours = SymbolLibrary.of(["+", "sin"], ["x"], constant="k")
    theirs = SymbolLibrary.of(["sin", "cos", "+"], ["y", "x"], constant="c")
    forest = Forest.from_exprs([parse("k + sin(x)", ours).with_constants([2.5])]).cast(theirs)
    assert str(forest[0].free()) == "c + sin(x)"
    assert forest.values.tolist() == [2.5]


def test_expressions_over_other_libraries_are_cast():
    forest = Forest.from_exprs([parse("x0 + x0", nguyen()), parse("x0*x0"), parse("x0 + c").replace(2, parse("x0"))])
    assert forest.library == nguyen()
    assert [str(expr) for expr in forest] == ["x0 + x0", "x0*x0", "x0 + x0"]
    with pytest.raises(SymbolError, match="unknown symbol 'c'"):
        Forest.from_exprs([parse("x0", nguyen()), parse("c")])


@given(any_forest)
def test_casting_is_that_of_expressions(forest):
    trees = forest.to_exprs()
    longer = LIBRARY.extended(*everything(0).symbols)
    reordered = SymbolLibrary(LIBRARY.symbols[::-1])
    with_two = LIBRARY.extended(literal("2"), literal("-1"))  # now 2 and -1 are symbols, no longer numbers
    for library in (longer, reordered, with_two, LIBRARY):
        assert same(forest.cast(library), trees)
        assert forest.cast(library).library is library
        np.testing.assert_array_equal(
            forest.cast(library).tokens, Forest.from_exprs([tree.cast(library) for tree in trees], library).tokens
        )


@given(any_forest)
def test_a_pickled_forest_is_the_same(forest):
    _ = forest.depths, forest.postorder  # caches stay behind
    size = len(pickle.dumps(Forest(forest.library, forest.tokens, forest.offsets, forest.values)))
    assert len(pickle.dumps(forest)) <= size + 100
    assert same(pickle.loads(pickle.dumps(forest)), forest.to_exprs())


def test_a_forest_shows_its_first_expressions():
    forest = Forest.from_exprs([parse(text) for text in ("x", "x + y", "y", "x*y")], LIBRARY)
    assert repr(forest) == "Forest(4 expressions, 8 nodes: x, x + y, y, …)"


# -- duplicates -----------------------------------------------------------------------


@given(repetitive)
def test_unique_keeps_first_appearances_in_order(forest):
    trees = forest.to_exprs()
    assert same(forest.unique(), list(dict.fromkeys(trees)))
    first, places = forest.grouped()
    assert forest.take(first[places]).to_exprs() == trees
    assert [trees.index(tree) for tree in dict.fromkeys(trees)] == first.tolist()


def test_values_count_and_zero_has_no_sign():
    trees = [parse("c*x", LIBRARY).with_constants([value]) for value in (1.0, None, 0.0, -0.0, 1.0, None, 2.0)]
    forest = Forest.from_exprs(trees, LIBRARY)
    assert [tree.constants for tree in forest.unique()] == [(1.0,), (None,), (0.0,), (2.0,)]


def test_equal_hashes_would_be_settled_by_tokens_and_values():
    from edhie.expr import forest_kernels as kernels

    texts = ["c*x", "c*x", "x*c", "sin(x)", "2*x", "3*x"]
    values = [[1.0], [2.0], [1.0], [], [], []]
    trees = [parse(text, LIBRARY).with_constants(fit) for text, fit in zip(texts, values, strict=True)]
    forest = Forest.from_exprs(trees + trees, LIBRARY)
    parts = forest.tokens, forest.offsets, forest.values.view(np.int64), forest.value_offsets
    for a, b in itertools.product(range(12), repeat=2):
        assert kernels.same(*parts, a, b) == (a % 6 == b % 6)


def test_unique_on_many_near_duplicates():
    """Hash collisions, if any, are settled by comparing; so is every prefix of another."""
    rng = np.random.default_rng(0)
    chains = [Expr(LIBRARY, ["sin"] * int(n) + ["x"]) for n in rng.integers(0, 40, 2000)]
    forest = Forest.from_exprs(chains, LIBRARY)
    assert forest.unique().to_exprs() == list(dict.fromkeys(chains))


# -- shape ----------------------------------------------------------------------------


@given(any_forest)
def test_sizes_heights_and_owners(forest):
    trees = forest.to_exprs()
    assert forest.sizes.tolist() == [tree.size for tree in trees]
    assert forest.heights.tolist() == [tree.height for tree in trees]
    assert forest.owners.tolist() == [k for k, tree in enumerate(trees) for _ in range(tree.size)]
    assert forest.value_offsets[-1] == len(forest.values)
    for k, expr in enumerate(forest):
        own = forest.values[forest.value_owners == k]
        np.testing.assert_array_equal(own, Forest.from_exprs([expr]).values)


def nodes(forest: Forest) -> list[tuple[int, Expr, int]]:
    """Every node of a forest: its expression's offset, that expression, and the node's position in it."""
    trees = zip(forest.offsets.tolist(), forest, strict=False)
    return [(start, tree, position) for start, tree in trees for position in range(tree.size)]


@given(any_forest)
def test_children_subtrees_and_depths(forest):
    for i, (start, tree, position) in enumerate(nodes(forest)):
        children = [start + child for child in tree.child_positions(position)] + [-1, -1]
        assert [forest.left[i], forest.right[i]] == children[:2]
        subtree = tree.subtree(position)
        assert (forest.subtree_sizes[i], forest.subtree_heights[i]) == (subtree.size, subtree.height)
        assert forest.depths[i] == list(tree.walk())[position][1]


def postorder(tree: Expr, start: int, position: int = 0) -> list[int]:
    inner = [node for child in tree.child_positions(position) for node in postorder(tree, start, child)]
    return [*inner, start + position]


@given(any_forest)
def test_postorder_is_children_then_parent(forest):
    starts = forest.offsets.tolist()
    expected = [node for start, tree in zip(starts, forest, strict=False) for node in postorder(tree, start)]
    assert forest.postorder.tolist() == expected


def test_deep_and_long_trees():
    deep, long = Expr(LIBRARY, ["sin"] * 50_000 + ["x"]), Expr(LIBRARY, ["+"] * 50_000 + ["x"] * 50_001)
    forest = Forest.from_exprs([deep, long])
    assert forest.heights.tolist() == [50_001, 50_001]
    assert forest.postorder[:2].tolist() == [50_000, 49_999]
    assert forest.unique().sizes.tolist() == [50_001, 100_001]


# -- arrays of unknown origin ---------------------------------------------------------

PLUS, SIN, X, C, ONE, NUMBER = (LIBRARY.ids[name] for name in ("+", "sin", "x", "c", "1", "#"))


@given(any_forest)
def test_sound_arrays_pass(forest):
    lists = Forest.checked(LIBRARY, forest.tokens.tolist(), forest.offsets.tolist(), forest.values.tolist())
    assert same(lists, forest.to_exprs())


def test_without_values_constants_are_not_fitted():
    assert Forest.checked(LIBRARY, [PLUS, C, X], [0, 3])[0].constants == (None,)


@pytest.mark.parametrize(
    ("tokens", "offsets", "values", "complaint"),
    [
        ([X], [], None, "offsets must rise from 0"),
        ([X], [0], None, "offsets must rise from 0 to the number of tokens, 1"),
        ([X], [1, 1], None, "offsets must rise"),
        ([X], [0, 2], None, "offsets must rise"),
        ([X, X], [0, 3, 2], None, "offsets must rise"),
        ([X, X], [0, -1, 2], None, "offsets must rise"),
        ([X, X], [0, 2], None, "expression 0 of the forest is not one whole tree: 'x x'"),
        ([X, SIN], [0, 1, 2], None, "expression 1 of the forest is not one whole tree: 'sin'"),
        ([PLUS, X], [0, 2], None, "not one whole tree"),
        ([X], [0, 0, 1], None, "expression 0 of the forest is not one whole tree: ''"),
        ([-1], [0, 1], None, "token 0 is -1; the library has symbols 0 to"),
        ([X, len(LIBRARY)], [0, 1, 2], None, "token 1 is 10; the library has symbols 0 to 9"),
        ([X + 65536], [0, 1], None, "token 0 is 65540"),
        ([X + 0.5], [0, 1], None, "tokens must be one row of integers, not float64"),
        ([[X]], [0, 1], None, r"tokens must be one row of integers, not int64 of shape \(1, 1\)"),
        ([X], [0.0, 1.0], None, "offsets must be one row of integers"),
        ([X], 0, None, "offsets must be one row of integers"),
        (["x"], [0, 1], None, "tokens must be one row of integers"),
        ([C], [0, 1], [], "has 1 constants and numbers, 0 values were given"),
        ([C], [0, 1], [1.0, 2.0], "2 values were given"),
        ([C], [0, 1], [[1.0]], "1 values were given"),
        ([X], [0, 1], [1.0], "has 0 constants and numbers, 1 values were given"),
        ([C], [0, 1], [np.inf], "value 0 of the forest is inf; it must be finite"),
        ([NUMBER], [0, 1], None, "value 0 of the forest is nan; it must be finite"),
        ([C, NUMBER], [0, 1, 2], [np.nan, np.nan], "value 1 of the forest is nan"),
    ],
)
def test_damaged_arrays_are_refused(tokens, offsets, values, complaint):
    with pytest.raises(ExpressionError, match=complaint):
        Forest.checked(LIBRARY, tokens, offsets, values)


@given(forests(LIBRARY, max_size=4, max_symbols=5), st.data())
def test_damaged_arrays_never_pass_for_something_else(forest, data):
    tokens = forest.tokens.tolist()
    offsets = forest.offsets.tolist()
    damaged = data.draw(st.sampled_from([tokens, offsets]))
    if not damaged:
        return
    damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(-3, 70_000))
    try:
        checked = Forest.checked(LIBRARY, tokens, offsets, forest.values)
    except ExpressionError:
        return
    assert checked.tokens.tolist() == tokens
    assert [Expr(LIBRARY, tree.tokens, tree.constants) for tree in checked] == checked.to_exprs()


# -- a million ------------------------------------------------------------------------


def test_a_million_expressions_are_small_and_quick_to_make_unique():
    million = load("nguyen-1").sample(1_000_000, np.random.default_rng(0), max_size=100)
    million[:10].unique()  # compiled, or read from disk
    start = time.perf_counter()
    unique = million.unique()
    assert time.perf_counter() - start < 5
    assert 100_000 < len(unique) < 1_000_000
    places = million.grouped()[1]
    np.testing.assert_array_equal(unique.take(places).tokens, million.tokens)
    np.testing.assert_array_equal(np.unique(places), np.arange(len(unique)))

    _ = million.postorder, million.owners
    kept = [*(array for array in vars(million).values() if isinstance(array, np.ndarray)), *million._shape]
    assert sum(array.nbytes for array in kept) < 1e9
