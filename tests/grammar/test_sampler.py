from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pytest

from edhie.errors import GrammarError, GrammarWarning
from edhie.expr import Forest, SymbolLibrary
from edhie.grammar import PCFG, load


def assert_like(grammar: PCFG, drawn: Forest, share: float) -> None:
    """Frequencies of the commonest expressions are within five deviations of their probabilities."""
    first, which = drawn.grouped()
    counts = np.bincount(which)
    common = np.argsort(-counts)[:40]
    p = np.exp(grammar.log_probabilities(drawn.take(first[common]))) / share
    deviation = np.sqrt(len(drawn) * p * (1 - p)) + 1
    assert np.all(np.abs(counts[common] - len(drawn) * p) < 5 * deviation)


def test_frequencies_are_the_probabilities(small: PCFG) -> None:
    assert_like(small, small.sample(20_000, np.random.default_rng(1)), 1.0)


@pytest.mark.parametrize(("max_height", "max_size"), [(None, 7), (3, 256), (4, 6)])
def test_limits_do_not_bend_the_distribution(max_height: int | None, max_size: int) -> None:
    grammar = load("nguyen-1")  # supercritical
    drawn = grammar.sample(20_000, np.random.default_rng(2), max_height=max_height, max_size=max_size)
    assert drawn.sizes.max() <= max_size
    assert drawn.heights.max() <= (max_height or max_size)
    assert_like(grammar, drawn, grammar.acceptance(max_height=max_height, max_size=max_size))


def test_sizes_follow_the_size_distribution() -> None:
    grammar = load("feynman-2")
    drawn = grammar.sample(20_000, np.random.default_rng(3), max_size=60)
    p = grammar.size_distribution(60)
    p /= p.sum()
    counts = np.bincount(drawn.sizes, minlength=61)
    assert np.all(np.abs(counts - 20_000 * p) < 5 * np.sqrt(20_000 * p) + 2)


def test_the_seed_decides() -> None:
    grammar = load("trig")
    few = grammar.sample(100, np.random.default_rng(7))
    many = grammar.sample(5000, np.random.default_rng(7))
    assert np.array_equal(many.tokens[: many.offsets[100]], few.tokens)
    rng = np.random.default_rng(7)
    halves = Forest.concatenate([grammar.sample(2000, rng), grammar.sample(3000, rng)])
    assert np.array_equal(halves.tokens, many.tokens)
    assert np.array_equal(halves.offsets, many.offsets)
    other = grammar.sample(5000, np.random.default_rng(8))
    assert not np.array_equal(other.tokens[:1000], many.tokens[:1000])


def test_forest_is_sound_and_constants_are_unfitted() -> None:
    drawn = load("ae").sample(500, np.random.default_rng(0))
    assert len(Forest.checked(drawn.library, drawn.tokens, drawn.offsets, drawn.values)) == 500
    assert len(drawn.values) > 100
    assert np.isnan(drawn.values).all()


def test_numbers_carry_their_values() -> None:
    library = SymbolLibrary.of(["+"], 1, constant=True, numbers=True)
    drawn = PCFG.parse("E -> E '+' '2' [0.3] | 'c' [0.3] | '0.5' [0.4]", library).sample(50, np.random.default_rng(0))
    assert {token for expr in drawn for token in expr.tokens} == {"+", "2", "0.5", "c"}


def test_nothing_asked_nothing_given() -> None:
    assert len(load("ae").sample(0, np.random.default_rng(0))) == 0
    with pytest.raises(ValueError, match="cannot draw -1"):
        load("ae").sample(-1, np.random.default_rng(0))
    with pytest.raises(TypeError, match="default_rng"):
        load("ae").sample(1, 0)  # type: ignore[arg-type]


def test_impossible_limits_raise() -> None:
    grammar = PCFG.parse("E -> 'sin' '(' F ')' [1.0]\nF -> E '+' E [0.1] | 'x0' '*' 'x0' [0.9]")
    assert len(grammar.sample(5, np.random.default_rng(0), max_size=4, max_height=3)) == 5
    with pytest.raises(GrammarError, match="no expression has at most 3 nodes: the smallest has 4; raise max_size"):
        grammar.sample(5, np.random.default_rng(0), max_size=3)
    with pytest.raises(GrammarError, match="no expression has height 2: the lowest has 3; raise max_height"):
        grammar.sample(5, np.random.default_rng(0), max_height=2)


def test_hopeless_limits_raise_rather_than_loop() -> None:
    grammar = PCFG.parse("E -> E '+' E [0.4] | 'sin' '(' E ')' [0.5999999] | 'x0' [0.0000001]")
    with pytest.raises(GrammarError, match="with probability 1e-07 only; raise the limits"):
        PCFG.parse("E -> 'sin' '(' E ')' [0.9999999] | 'x0' [0.0000001]").sample(
            1, np.random.default_rng(0), max_size=1
        )
    # hardly any derivation ends here; but those that do are small
    drawn = grammar.sample(100, np.random.default_rng(0), max_size=100)
    assert drawn.sizes.max() <= 100


def test_large_limits_are_no_burden() -> None:
    drawn = load("nguyen-1").sample(1000, np.random.default_rng(0), max_size=10**9)
    assert len(drawn) == 1000


def test_supercritical_grammars_warn_once_unless_limits_are_given() -> None:
    grammar = load("nguyen-2")
    rng = np.random.default_rng(0)
    grammar.sample(5, rng, max_size=20)
    grammar.sample(5, rng, max_height=4)
    with pytest.warns(GrammarWarning, match=r"supercritical \(spectral radius 1.175\).* beyond 256 nodes"):
        grammar.sample(5, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        grammar.sample(5, rng)
        load("ae").sample(5, rng)


def test_importing_grammars_does_not_import_numba() -> None:
    code = "import sys, edhie.grammar as g; g.load('ae').expected_size(); sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
