from __future__ import annotations

import contextlib
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edhie.errors import GrammarError, GrammarWarning
from edhie.grammar import PCFG

OPERANDS = st.sampled_from(["'x0'", "'x1'", "'c'", "'2'", "'0.5'", "'pi'"])


@st.composite
def grammars(draw: st.DrawFn) -> str:
    """Texts of sound grammars: each nonterminal has a rule that ends and one that leads to the next."""
    count = draw(st.integers(1, 4))
    names = [f"N{i}" for i in range(count)]
    operand = st.one_of(OPERANDS, st.sampled_from(names))
    lines = []
    for i, name in enumerate(names):
        following = names[(i + 1) % count]
        pieces = [draw(OPERANDS), f"'(' {following} ')'"]
        for _ in range(draw(st.integers(0, 4))):
            a, b = draw(operand), draw(operand)
            shapes = [a, f"{a} OP {b}", f"'sin' '(' {a} '+' {b} ')'", f"'-' {a} '^' {b}", f"'min' '(' {a} ',' {b} ')'"]
            pieces.append(draw(st.sampled_from(shapes)))
        weights = draw(st.lists(st.integers(1, 9), min_size=len(pieces), max_size=len(pieces)))
        shares = [weight / sum(weights) for weight in weights]
        lines.append(f"{name} -> {' | '.join(f'{p} [{w!r}]' for p, w in zip(pieces, shares, strict=True))}")
    if any("OP" in line for line in lines):
        lines.append("OP -> '+' [0.3] | '/' [0.7]")
    return "\n".join(lines)


@given(grammars())
@settings(max_examples=50, deadline=None)
def test_round_trip_is_exact(text: str) -> None:
    grammar = PCFG.parse(text)
    again = PCFG.parse(str(grammar))
    assert again == grammar
    assert hash(again) == hash(grammar)
    assert [rule.probability for rule in again.rules] == [rule.probability for rule in grammar.rules]
    assert PCFG.parse(str(grammar), grammar.library) == grammar
    assert pickle.loads(pickle.dumps(grammar)).rules == grammar.rules


@given(grammars(), st.integers(0, 2**32))
@settings(max_examples=50, deadline=None)
def test_what_is_drawn_can_be_derived(text: str, seed: int) -> None:
    grammar = PCFG.parse(text)
    drawn = grammar.sample(20, np.random.default_rng(seed), max_size=40)
    assert drawn.sizes.max() <= 40
    total = grammar.log_probabilities(drawn)
    rules, offsets = grammar.derivations(drawn)
    logarithms = np.log([rule.probability for rule in grammar.rules])
    for k, expr in enumerate(drawn):
        own = rules[offsets[k] : offsets[k + 1]].tolist()
        assert grammar.expression(own) == expr
        assert logarithms[own].sum() <= total[k] + 1e-9


@given(grammars())
@settings(max_examples=50, deadline=None)
def test_sizes_heights_and_endings_agree(text: str) -> None:
    grammar = PCFG.parse(text)
    ends = grammar.termination_probability()
    assert 0 < ends <= 1
    within = [grammar.acceptance(max_size=60, max_height=height) for height in (1, 2, 4, 8, 60)]
    assert within == sorted(within)
    assert within[0] == pytest.approx(grammar.size_distribution(1)[1])
    assert within[-1] == pytest.approx(grammar.size_distribution(60).sum())
    assert within[-1] <= ends + 1e-9
    assert np.isinf(grammar.expected_size()) == (grammar.spectral_radius >= 1 - 1e-9)


@given(st.text("EF ->'+x0(),^2sin|[].15#%\n\\", max_size=60))
@settings(max_examples=200, deadline=None)
def test_no_text_is_taken_ill(text: str) -> None:
    """Whatever is read, a grammar or a GrammarError comes of it."""
    with contextlib.suppress(GrammarError, GrammarWarning):
        PCFG.parse(f"E -> 'x0' [0.5] | {text}")
