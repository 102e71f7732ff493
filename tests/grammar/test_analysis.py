from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from edhie.expr import Forest, SymbolLibrary
from edhie.grammar import PCFG, load, names


def binary(p: float) -> PCFG:
    """Galton-Watson trees: a node has two children with probability p."""
    return PCFG.parse(f"E -> E '+' E [{p}] | 'x0' [{1 - p}]")


@pytest.mark.parametrize("p", [0.1, 0.3, 0.49])
def test_subcritical_closed_forms(p: float) -> None:
    grammar = binary(p)
    assert grammar.spectral_radius == pytest.approx(2 * p)
    assert not grammar.is_supercritical
    assert grammar.termination_probability() == 1.0
    assert grammar.expected_size() == pytest.approx(1 / (1 - 2 * p))
    assert grammar.check() == []


@pytest.mark.parametrize("p", [0.51, 0.6, 0.9])
def test_supercritical_closed_forms(p: float) -> None:
    grammar = binary(p)
    assert grammar.is_supercritical
    assert grammar.termination_probability() == pytest.approx((1 - p) / p, abs=1e-12)
    assert grammar.expected_size() == math.inf
    assert "supercritical" in grammar.check()[0]


def test_critical() -> None:
    grammar = binary(0.5)
    assert not grammar.is_supercritical
    assert grammar.termination_probability() == 1.0
    assert grammar.expected_size() == math.inf
    assert "critical" in grammar.check()[0]


def test_sizes_are_catalan() -> None:
    p = 0.3
    sizes = binary(p).size_distribution(21)
    assert np.all(sizes[::2] == 0)
    for k in range(10):
        catalan = math.comb(2 * k, k) / (k + 1)
        assert sizes[2 * k + 1] == pytest.approx(catalan * p**k * (1 - p) ** (k + 1))


def test_sizes_of_chains_are_geometric() -> None:
    grammar = PCFG.parse("E -> '(' E ')' [0.2] | 'sin' '(' E ')' [0.4] | 'x0' [0.4]")
    assert grammar.size_distribution(4) == pytest.approx([0, 0.5, 0.25, 0.125, 0.0625])
    assert grammar.expected_size() == pytest.approx(2.0)
    assert grammar.size_distribution(0) == pytest.approx([0])


@pytest.mark.parametrize("name", names())
def test_sizes_sum_to_the_termination_probability(name: str) -> None:
    grammar = load(name)
    sizes = grammar.size_distribution(600)
    assert sizes.sum() == pytest.approx(grammar.termination_probability(), abs=3e-3)
    if not grammar.is_supercritical:
        assert sizes @ np.arange(601) == pytest.approx(grammar.expected_size(), rel=0.05)


def test_acceptance_is_the_probability_of_all_trees_within(
    small: PCFG, all_trees: Callable[[SymbolLibrary, int], Forest]
) -> None:
    trees = Forest.concatenate([all_trees(small.library, size) for size in range(1, 6)])
    p = np.exp(small.log_probabilities(trees))
    assert small.acceptance(max_size=5) == pytest.approx(p.sum())
    for height in range(1, 6):
        assert small.acceptance(max_size=5, max_height=height) == pytest.approx(p[trees.heights <= height].sum())
