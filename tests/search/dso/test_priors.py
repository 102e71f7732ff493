"""Constraints: masks of what may come next, and the check of whole expressions, against a plain recursion."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edhie.expr import Forest, SymbolLibrary
from edhie.expr import standard_libraries as standard
from edhie.search.dso.policy import initial_weights, sample
from edhie.search.dso.priors import Priors
from strategies import LIBRARIES, forests

WAVES = {"sin", "cos", "tan"}
UNDO = [{"exp", "log"}, {"^2", "sqrt"}, {"^3", "cbrt"}, {"sin", "asin"}, {"cos", "acos"}, {"tan", "atan"}]


def priors(library: SymbolLibrary, least: int = 4, most: int = 20) -> Priors:
    return Priors(library, least, most, location=10, scale=5)


def subtrees(tokens: list[str], library: SymbolLibrary) -> Iterator[tuple[str, list[list[str]]]]:
    """Every node of a tree: its symbol and its operands, as tokens."""

    def read(at: int) -> int:
        end, operands = at + 1, []
        for _ in range(library[tokens[at]].arity):
            begun, end = end, read(end)
            operands.append(tokens[begun:end])
        found.append((tokens[at], operands))
        return end

    found: list[tuple[str, list[list[str]]]] = []
    assert read(0) == len(tokens)
    yield from found


def is_kept(tokens: list[str], library: SymbolLibrary, least: int, most: int) -> bool:
    def is_number(operand: list[str]) -> bool:
        return len(operand) == 1 and operand[0] not in library.variables

    if not least <= len(tokens) <= most or is_number(tokens):
        return False
    for name, operands in subtrees(tokens, library):
        if operands and all(map(is_number, operands)):
            return False
        if name in library.built_in and name in WAVES and WAVES & library.built_in & set(operands[0]):
            return False
        if len(operands) == 1 and {name, operands[0][0]} <= library.built_in:
            pair = {name, operands[0][0]}
            if pair in UNDO or (len(pair) == 1 and name in ("neg", "inv")):
                return False
    return True


@given(st.data(), st.sampled_from(sorted(LIBRARIES)))
def test_the_check_is_that_of_a_plain_recursion(data: st.DataObject, name: str) -> None:
    library = LIBRARIES[name]
    forest = data.draw(forests(library))
    expected = [is_kept(list(each.tokens), library, 2, 7) for each in forest]
    assert priors(library, 2, 7).are_kept(forest).tolist() == expected


@pytest.mark.parametrize("library", [standard.nguyen(2), standard.trig(1), standard.everything(2)], ids=len)
@pytest.mark.parametrize(("least", "most"), [(4, 20), (1, 5), (7, 8)])
def test_all_samples_keep_the_constraints(library: SymbolLibrary, least: int, most: int) -> None:
    rng = np.random.default_rng(0)
    weights = initial_weights(len(library), 8, rng)
    weights["output"] += rng.normal(0, 1, weights["output"].shape)
    drawn = sample(weights, priors(library, least, most), 400, rng)
    assert len(drawn) == 400
    for each in Forest.checked(library, drawn.tokens, drawn.offsets, drawn.values):
        assert is_kept(list(each.tokens), library, least, most)
    assert set(library.names) - {library.names[token] for token in drawn.tokens} <= {"#"}  # all symbols are used


def test_masks_allow_what_the_check_allows() -> None:
    """Every expression that keeps the constraints can be written token by token."""
    library = SymbolLibrary.of(["+", "sin", "exp", "log"], 1, constant=True)
    rule = priors(library, 3, 6)
    rng = np.random.default_rng(1)
    free = Priors(SymbolLibrary(library.symbols), 1, 6, 3, 5)
    drawn = sample(initial_weights(len(library), 4, rng), free, 3000, rng).unique()
    kept = drawn.take(rule.are_kept(drawn))
    assert 100 < len(kept) < len(drawn)
    tokens = rule.as_matrix(kept)
    for t in range(tokens.shape[1]):
        seen = rule.context(tokens, t)
        rows = np.flatnonzero(tokens[:, t] >= 0)
        assert ((seen.missing > 0) == (tokens[:, t] >= 0)).all()
        assert seen.allowed[rows, tokens[rows, t]].all()


def test_parent_and_sibling() -> None:
    library = SymbolLibrary.of(["+", "sin"], ["x", "y"])
    plus, sin, x, y = range(4)
    none = len(library)
    tokens = np.array([[plus, sin, x, plus, y, x, -1]], np.int16)
    seen = [priors(library, 1, 7).context(tokens, t) for t in range(7)]
    assert [each.parent[0] for each in seen[:6]] == [none, plus, sin, plus, plus, plus]
    assert [each.sibling[0] for each in seen[:6]] == [none, none, none, sin, none, y]
    assert [each.missing[0] for each in seen] == [1, 2, 2, 1, 2, 1, 0]


def test_where_no_operator_may_follow_an_expression_is_shorter() -> None:
    library = SymbolLibrary.of(["sin", "cos"], 1)
    drawn = sample(initial_weights(3, 4, np.random.default_rng(0)), priors(library), 20, np.random.default_rng(0))
    assert set(drawn.sizes.tolist()) == {2}


def test_matrices_and_forests_are_the_same() -> None:
    library = standard.feynman(2)
    rule = priors(library)
    forest = sample(initial_weights(len(library), 4, np.random.default_rng(0)), rule, 50, np.random.default_rng(2))
    back = rule.as_forest(rule.as_matrix(forest))
    assert back.to_exprs() == forest.to_exprs()
    assert len(back.values) == (forest.tokens == library.ids["c"]).sum() > 0


def test_the_prior_on_length_by_hand() -> None:
    library = SymbolLibrary.of(["+", "*", "sin"], ["x", "y", "z"])
    logits = Priors(library, 1, 20, location=10, scale=5).logits
    even = -np.log([2, 2, 1, 3, 3, 3])  # as many chances for each number of operands
    np.testing.assert_allclose(logits[4], even - np.array([0, 0, 0, 1, 1, 1]) * 6**2 / (2 * 5**2))
    np.testing.assert_allclose(logits[10], even)
    np.testing.assert_allclose(logits[13], even - np.array([1, 1, 0, 0, 0, 0]) * 3**2 / (2 * 5**2))


def test_the_prior_on_length_moves_lengths() -> None:
    library = standard.nguyen(1)
    weights = initial_weights(len(library), 4, np.random.default_rng(0))
    means = [
        sample(weights, Priors(library, 2, 30, location, 2), 400, np.random.default_rng(0)).sizes.mean()
        for location in (4, 10, 20)
    ]
    assert means[0] + 3 < means[1] < means[2] - 5
