from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edhie.errors import GrammarError
from edhie.expr import Forest, SymbolLibrary, parse
from edhie.grammar import PCFG, load, names

GRAMMAR = "S -> S A F [0.4] | F [0.6]\nA -> '+' [0.5] | '-' [0.5]\nF -> '(' S ')' P [0.2] | 'x0' [0.8]\nP -> '^2' [1]"


def test_rules_come_in_the_order_of_the_text() -> None:
    grammar = PCFG.parse(GRAMMAR)
    # S -> S A F, S -> F, F -> x0, A -> -, F -> ( S ) P, S -> F, F -> x0, P -> ^2
    assert grammar.derivation(parse("x0 - x0^2")) == [0, 1, 5, 3, 4, 1, 5, 6]


def test_the_best_of_several_derivations() -> None:
    grammar = PCFG.parse("E -> F [0.9] | 'x0' [0.1]\nF -> 'x0' [0.5] | E '+' E [0.1] | '(' E ')' [0.4]")
    assert grammar.derivation(parse("x0")) == [0, 2]
    assert grammar.derivation(parse("x0 + x0")) == [0, 3, 0, 2, 0, 2]


@pytest.mark.parametrize("name", names())
def test_forests_and_back(name: str) -> None:
    grammar = load(name)
    drawn = grammar.sample(300, np.random.default_rng(0), max_size=100)
    rules, offsets = grammar.derivations(drawn)
    assert rules.dtype == np.int16
    total = 0.0
    for k, expr in enumerate(drawn):
        own = rules[offsets[k] : offsets[k + 1]].tolist()
        assert grammar.expression(own) == expr
        total += np.log([grammar.rules[rule].probability for rule in own]).sum()
    assert grammar.derivation(drawn[17]) == rules[offsets[17] : offsets[18]].tolist()
    assert total <= grammar.log_probabilities(drawn).sum() + 1e-4


def test_small_grammars_and_back(small: PCFG) -> None:
    drawn = small.sample(500, np.random.default_rng(5))
    rules, offsets = small.derivations(drawn)
    again = [small.expression(rules[a:b].tolist()) for a, b in pairwise(offsets)]
    assert again == drawn.to_exprs()


@given(st.data())
@settings(max_examples=50, deadline=None)
def test_any_leftmost_derivation_leads_to_an_expression(data: st.DataObject) -> None:
    """A decoder that picks any rule of the nonterminal in turn gets an expression."""
    grammar = load("nguyen-2")
    rules: list[int] = []
    waiting = [grammar.nonterminals.index(grammar.start)]
    while waiting:
        own = np.flatnonzero(grammar.rule_lhs == waiting.pop(0))
        # past thirty rules the ones that end: the last of E and F, the first of T
        ends = {"E": -1, "F": -1}.get(grammar.nonterminals[grammar.rule_lhs[own[0]]], 0)
        rule = int(own[ends]) if len(rules) > 30 else data.draw(st.sampled_from(own.tolist()))
        rules.append(rule)
        waiting = [*map(grammar.nonterminals.index, grammar.rules[rule].nonterminals), *waiting]
    expr = grammar.expression(rules)
    assert grammar.log_probability(expr) > -np.inf
    assert grammar.expression(grammar.derivation(expr)) == expr


def test_what_cannot_be_derived_is_named() -> None:
    grammar = load("nguyen-1")
    forest = Forest.from_exprs([parse("x0 + x0"), parse("x0 + tan(x0)")])
    with pytest.raises(
        GrammarError, match=r"expression 1 of the forest, x0 \+ tan\(x0\) cannot .* no rule makes 'tan'"
    ):
        grammar.derivations(forest)
    with pytest.raises(GrammarError, match=r"x0/x0\^2 cannot be derived from the grammar: no sequence of rules"):
        PCFG.parse("E -> E '^2' [0.1] | E '/' F [0.1] | F [0.8]\nF -> 'x0' [1]").derivation(parse("x0/x0^2"))


def test_sequences_that_do_not_fit_raise() -> None:
    grammar = PCFG.parse(GRAMMAR)
    with pytest.raises(
        GrammarError, match=r"step 1 applies rule 5 \(F -> 'x0' \[0.8\]\) where a rule of 'S' is needed"
    ):
        grammar.expression([0, 5])
    with pytest.raises(GrammarError, match="stops after 3 rules, where a rule of 'A' is needed"):
        grammar.expression([0, 1, 5])
    with pytest.raises(GrammarError, match="stops after 0 rules, where a rule of 'S' is needed"):
        grammar.expression([])
    with pytest.raises(GrammarError, match="whole after 2 rules, 3 were given"):
        grammar.expression([1, 5, 5])
    for wrong in (7, -1):
        with pytest.raises(GrammarError, match=f"step 1 asks for rule {wrong}; the grammar has rules 0 to 6"):
            grammar.expression([1, wrong])


def test_deep_expressions() -> None:
    grammar = PCFG.parse("E -> 'sin' '(' E ')' [0.5] | 'x0' [0.5]")
    rules = [0] * 3000 + [1]
    expr = grammar.expression(rules)
    assert expr.size == 3001
    assert grammar.derivation(expr) == rules


# -- many at once ----------------------------------------------------------------------


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
