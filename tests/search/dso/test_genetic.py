"""Genetic programming: what offspring are made of."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from edhie.expr import Forest, parse
from edhie.expr import standard_libraries as standard
from edhie.search.dso.policy import initial_weights, sample
from edhie.search.dso.priors import Priors
from edhie.search.dso.strategy import DSOConfig, Scored, crossed_over, next_generation

LIBRARY = standard.feynman(2)
PRIORS = Priors(LIBRARY, 4, 20, location=10, scale=5)


def population(n: int) -> Forest:
    rng = np.random.default_rng(0)
    return sample(initial_weights(len(LIBRARY), 4, rng), PRIORS, n, rng)


def offspring(forest: Forest, errors: np.ndarray, seed: int = 0, **options: Any) -> Forest:
    individuals, rng = Scored(forest, errors, np.zeros(len(forest), np.uint64)), np.random.default_rng(seed)
    return next_generation(individuals, forest, PRIORS, DSOConfig(**options), rng)


def test_offspring_keep_the_constraints() -> None:
    for n in (1, 2, 99, 300):
        forest = population(n)
        for k in range(5):
            forest = offspring(forest, np.arange(n, dtype=float), k)
            assert len(forest) == n
            assert PRIORS.are_kept(Forest.checked(LIBRARY, forest.tokens, forest.offsets, forest.values)).all()
            assert np.isnan(forest.values).all()  # constants are fitted anew


def test_most_offspring_are_new_and_without_changes_none_is() -> None:
    forest = population(400)
    before = set(forest.to_exprs())
    new = [each not in before for each in offspring(forest, np.arange(400.0))]
    assert 0.3 < np.mean(new) < 0.85
    copies = offspring(forest, np.arange(400.0), crossover=0, mutation=0).to_exprs()
    assert set(copies) <= before
    first = set(forest.take(slice(0, 100)).to_exprs())
    assert np.mean([each in first for each in copies]) > 0.6  # tournaments prefer the best


def test_a_pair_exchanges_subtrees() -> None:
    forest = population(200)
    crossed = crossed_over(forest, np.random.default_rng(1))
    for k in range(0, 200, 2):
        pair = slice(k, k + 2)
        assert Counter(crossed.take(pair).tokens.tolist()) == Counter(forest.take(pair).tokens.tolist())
    odd = crossed_over(forest.take(slice(0, 7)), np.random.default_rng(1))
    assert odd[6] == forest[6]


def test_subtrees_come_from_the_mate() -> None:
    pair = Forest.from_exprs([parse("x0", LIBRARY), parse("sin(x1)", LIBRARY)])
    crossed = {str(each) for k in range(20) for each in crossed_over(pair, np.random.default_rng(k))}
    assert crossed == {"sin(x1)", "x0", "x1", "sin(x0)"}
