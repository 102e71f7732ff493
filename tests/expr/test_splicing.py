"""Expressions put together from parts are whole trees with the constants of those parts."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from edhie.expr import Expr, Forest, SymbolLibrary
from edhie.expr.splicing import Stock, distinct_subtrees
from strategies import LIBRARIES, forests

Written = tuple[tuple[str, ...], tuple[float | None, ...]]
any_forest = st.sampled_from(list(LIBRARIES.values())).flatmap(forests)


def written(expr: Expr) -> Written:
    return expr.tokens, expr.constants


def subtrees(expr: Expr) -> list[Written]:
    """What hangs from each node, in order."""
    found, library = [], expr.library
    for start in range(len(expr.tokens)):
        stop, missing = start, 1
        while missing:
            missing += library[expr.tokens[stop]].arity - 1
            stop += 1
        before = expr.tokens[:start].count(library.constant or "")
        count = expr.tokens[start:stop].count(library.constant or "")
        found.append((expr.tokens[start:stop], expr.constants[before : before + count]))
    return found


def checked(forest: Forest) -> Forest:
    """The same forest, after everything about it was looked at."""
    return Forest.checked(forest.library, forest.tokens, forest.offsets, forest.values)


@settings(max_examples=30)
@given(any_forest, st.data())
def test_trees_are_taken_whole(forest: Forest, data: st.DataObject) -> None:
    which = np.array(data.draw(st.lists(st.integers(0, len(forest) - 1), max_size=5)) if len(forest) else [], np.int64)
    stock = Stock(forest)
    found = checked(stock.join([stock.trees(which)]))
    assert list(map(written, found)) == list(map(written, forest.take(which)))


@settings(max_examples=30)
@given(any_forest)
def test_subtrees_carry_their_own_constants(forest: Forest) -> None:
    stock = Stock(forest)
    found = checked(stock.join([stock.subtrees(np.arange(len(forest.tokens)))]))
    assert list(map(written, found)) == [each for expr in forest for each in subtrees(expr)]


@settings(max_examples=30)
@given(any_forest, st.data())
def test_operators_over_operands(forest: Forest, data: st.DataObject) -> None:
    library = forest.library
    operators = [k for k, symbol in enumerate(library.symbols) if symbol.kind == "operator"]
    if len(forest) == 0 or not operators:
        return
    stock, places = Stock(forest), st.integers(0, len(forest) - 1)
    for arity in (1, 2):
        of_arity = [k for k in operators if library.symbols[k].arity == arity]
        if not of_arity:
            continue
        heads = np.array(data.draw(st.lists(st.sampled_from(of_arity), min_size=1, max_size=4)))
        chosen = [np.array([data.draw(places) for _ in heads]) for _ in range(arity)]
        found = checked(stock.join([stock.symbols(heads), *(stock.trees(each) for each in chosen)]))
        for k, expr in enumerate(found):
            operands = [forest[int(each[k])] for each in chosen]
            tokens = sum((each.tokens for each in operands), (library.names[heads[k]],))
            assert written(expr) == (tokens, sum((each.constants for each in operands), ()))


def test_a_symbol_by_itself_has_no_value_yet() -> None:
    library = SymbolLibrary.of(["+"], ["x"], constant=True, literals=("2",))
    stock = Stock(Forest.from_exprs([Expr(library, ["c"], [3.0])]))
    leaves = np.array([library.ids[name] for name in ("c", "2", "x")])
    found = checked(stock.join([stock.symbols(leaves)]))
    assert list(map(written, found)) == [(("c",), (None,)), (("2",), ()), (("x",), ())]


@settings(max_examples=30)
@given(any_forest, st.integers(0, 8))
def test_distinct_subtrees_are_all_that_there_are_once(forest: Forest, largest: int) -> None:
    found = checked(distinct_subtrees(forest, largest))
    wanted = {each for expr in forest for each in subtrees(expr) if len(each[0]) <= largest}
    given: list[Any] = list(map(written, found))
    assert len(given) == len(wanted)
    assert set(given) == wanted
    assert (np.diff(found.sizes) >= 0).all()
