"""Changed copies are expressions of the same library with all constants valued, and each change is what it says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edhie.expr import Forest
from edhie.search.pieces.variation import PLAIN, Chances, children, is_plain, likely_constants
from mosaics import forest_of, free
from strategies import LIBRARIES, forests

NONE = Chances(0, 0, 0, 0, 0, 0, jitter=0, loosen=0)
KINDS = ("replace", "join", "wrap", "point", "hoist", "shrink")
families = st.sampled_from(list(LIBRARIES.values())).flatmap(lambda library: st.tuples(*[forests(library)] * 2))
seeds = st.integers(0, 1000).map(np.random.default_rng)


@settings(max_examples=30)
@given(families, seeds)
def test_children_are_whole_and_ready_to_be_computed(both: tuple[Forest, Forest], rng: np.random.Generator) -> None:
    parents, donors = both
    found = children(parents, donors, rng)
    assert len(found) == len(parents)
    Forest.checked(found.library, found.tokens, found.offsets, found.values)
    assert np.isfinite(found.values).all()


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15)
@given(both=families, rng=seeds)
def test_each_change_is_what_it_says(kind: str, both: tuple[Forest, Forest], rng: np.random.Generator) -> None:
    parents, donors = both
    found = children(parents, donors, rng, chances=replace(NONE, **{kind: 1.0}))
    arities = parents.library.arities
    for child, parent in zip(found, parents, strict=True):
        a, b = child.tokens, parent.tokens
        if kind == "point":
            shape = [[parents.library[token].arity for token in tokens] for tokens in (a, b)]
            assert shape[0] == shape[1]
        elif kind == "hoist":
            assert any(b[k : k + len(a)] == a for k in range(len(b)))
        elif kind == "shrink":
            assert len(a) < len(b) or a == b
        elif kind == "wrap":
            assert len(a) == len(b) + bool((arities == 1).any())
        elif kind == "join":
            assert len(a) >= len(b) + 2 * bool((arities == 2).any())


@settings(max_examples=30)
@given(families, seeds)
def test_constants_that_stay_keep_their_values(both: tuple[Forest, Forest], rng: np.random.Generator) -> None:
    parents, donors = both
    parents = Forest(parents.library, parents.tokens, parents.offsets, np.arange(1.0, len(parents.values) + 1))
    for child, parent in zip(children(parents, donors, rng, chances=replace(NONE, hoist=1.0)), parents, strict=True):
        assert set(child.constants) <= set(parent.constants)


def test_a_share_of_the_constants_is_moved_and_plain_ones_less_often() -> None:
    library = free(1)
    for value, share in ((1.234, 0.5), (2.0, 0.05)):
        parents = forest_of(library, "c*x0").take(np.zeros(4000, np.int64))
        parents = Forest(library, parents.tokens, parents.offsets, np.full(4000, value))
        moved = children(parents, parents, np.random.default_rng(0), chances=Chances(0, 0, 1, 0, 0, 0)).values
        assert np.mean(moved != value) == pytest.approx(share, abs=0.03)
        assert (moved * value > 0).all()


def test_only_likely_symbols_come_in() -> None:
    library = free(2)
    likely = np.zeros(len(library))
    likely[[library.ids["sin"], library.ids["x1"]]] = 1.0
    parents = forest_of(library, "x0 + x0").take(np.zeros(300, np.int64))
    chances = replace(NONE, wrap=0.5, replace=0.5, leaf=1.0)
    found = children(parents, parents, np.random.default_rng(1), likely=likely, chances=chances)
    names = {library.names[token] for token in np.unique(found.tokens)}
    assert names == {"+", "sin", "x0", "x1"}
    assert len(children(parents, parents, np.random.default_rng(1), likely=np.zeros(len(library)))) == 300


def test_without_parents_or_donors() -> None:
    library, rng = free(1), np.random.default_rng(0)
    some, none = forest_of(library, "sin(x0) + x0", "x0^2"), forest_of(library)
    assert len(children(none, some, rng)) == len(children(none, none, rng)) == 0
    assert len(children(some, none, rng)) == 2


def test_randomness_is_an_argument() -> None:
    parents = forest_of(free(2), *["sin(x0)*x1 + x0"] * 50)
    first, second, other = (children(parents, parents, np.random.default_rng(seed)) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.tokens, second.tokens)
    np.testing.assert_array_equal(first.values, second.values)
    assert first.tokens.tolist() != other.tokens.tolist()


def test_likely_constants_are_mostly_plain() -> None:
    drawn = likely_constants(5000, np.random.default_rng(0))
    assert np.isfinite(drawn).all()
    assert 0.85 < is_plain(drawn).mean() < 0.97
    assert set(PLAIN) <= set(drawn.tolist())
