"""Many derivations at once become the expressions that they spell, and scores become derivations."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from edhie.errors import GrammarError
from edhie.expr import Forest, SymbolLibrary
from edhie.grammar import PCFG, load, names


def same(a: Forest, b: Forest) -> bool:
    arrays = ((a.tokens, b.tokens), (a.offsets, b.offsets), (a.values, b.values))
    return a.library == b.library and all(np.array_equal(x, y, equal_nan=x.dtype.kind == "f") for x, y in arrays)


@pytest.mark.parametrize("name", names())
def test_expressions_undo_derivations(name: str) -> None:
    grammar = load(name)
    drawn = grammar.sample(300, np.random.default_rng(0), max_size=100)
    assert same(grammar.expressions(*grammar.derivations(drawn)), drawn)


def test_expressions_undo_derivations_of_every_kind_of_rule(small: PCFG) -> None:
    drawn = small.sample(300, np.random.default_rng(1), max_size=60)
    assert same(small.expressions(*small.derivations(drawn)), drawn)


def test_numbers_keep_their_values() -> None:
    library = SymbolLibrary.of(["+", "*"], ["x"], literals=("2",), constant=True, numbers=True)
    grammar = PCFG.parse("E -> E '+' '0.5' '*' F [0.4] | F [0.6]\nF -> 'x' [0.4] | 'c' [0.3] | '2' [0.3]", library)
    drawn = grammar.sample(50, np.random.default_rng(2), max_size=40)
    assert same(grammar.expressions(*grammar.derivations(drawn)), drawn)
    assert 0.5 in drawn.values


def test_rules_that_are_no_derivation_are_told_as_one_by_one() -> None:
    grammar = load("gvae-ae")
    good = grammar.derivation(grammar.sample(1, np.random.default_rng(0), max_size=9)[0])
    for bad in ([0], [], [*good, good[-1]], [len(grammar.rules)], [-1], [good[0], 65536]):
        with pytest.raises(GrammarError) as alone:
            grammar.expression(bad)
        with pytest.raises(GrammarError) as among:
            grammar.expressions(np.array([*good, *bad]), np.array([0, len(good), len(good) + len(bad)]))
        assert str(among.value) == f"derivation 1: {alone.value}"
    for offsets in ([0, 3], [1, len(good)], [], [0, len(good) + 1, len(good)]):
        with pytest.raises(GrammarError, match="offsets must rise"):
            grammar.expressions(np.array(good), np.array(offsets, np.int64))
    with pytest.raises(GrammarError, match="one row of integers, not float64"):
        grammar.expressions(np.array([0.5]), np.array([0, 1]))
    assert len(grammar.expressions(np.zeros(0, np.int16), np.zeros(1, np.int64))) == 0


def test_scores_lead_to_the_derivation_that_they_favour(small: PCFG) -> None:
    drawn = small.sample(200, np.random.default_rng(3), max_size=40)
    rules, offsets = small.derivations(drawn)
    steps = int(np.diff(offsets).max())
    scores = np.random.default_rng(4).random((len(drawn), steps, len(small.rules)))
    for k, (begin, end) in enumerate(pairwise(offsets)):
        scores[k, np.arange(end - begin), rules[begin:end]] = 2
    (again, places), whole = small.guided_derivations(scores)
    assert np.array_equal(again, rules)
    assert np.array_equal(places, offsets)
    assert np.array_equal(whole, np.arange(len(drawn)))


def test_guided_derivations_take_the_best_rule_of_the_nonterminal_in_turn(small: PCFG) -> None:
    """The law, in plain Python, on random scores; derivations that do not end are left out."""
    scores = np.random.default_rng(5).standard_normal((300, 4, len(small.rules)))
    expected = {}
    for k, table in enumerate(scores):
        waiting, taken = [small.nonterminals.index(small.start)], []
        while waiting and len(taken) < len(table):
            own = np.flatnonzero(small.rule_lhs == waiting.pop(0))
            taken.append(int(own[table[len(taken), own].argmax()]))
            waiting = [*map(small.nonterminals.index, small.rules[taken[-1]].nonterminals), *waiting]
        if not waiting:
            expected[k] = taken
    (rules, offsets), whole = small.guided_derivations(scores)
    assert dict(zip(whole.tolist(), (rules[a:b].tolist() for a, b in pairwise(offsets)), strict=True)) == expected
    assert 0 < len(expected) < len(scores)
    with pytest.raises(GrammarError, match="shape"):
        small.guided_derivations(scores[0])
