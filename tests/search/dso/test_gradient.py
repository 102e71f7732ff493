"""The policy and its gradient: probabilities, finite differences, and what one step of training does."""

from __future__ import annotations

import math

import numpy as np
import pytest

from edhie.expr import Forest, SymbolLibrary
from edhie.search.arrays import Numbers
from edhie.search.dso.policy import Adam, Weights, initial_weights, objective_and_gradient, sample
from edhie.search.dso.priors import Priors, Tokens

LIBRARY = SymbolLibrary.of(["+", "sin", "exp"], 1, constant=True)
PRIORS = Priors(LIBRARY, 2, 6, location=3, scale=2)
NO_ENTROPY = (0.0, 1.0)


def random_weights(seed: int) -> Weights:
    rng = np.random.default_rng(seed)
    return {name: rng.normal(0, 0.7, each.shape) for name, each in initial_weights(len(LIBRARY), 3, rng).items()}


def everything() -> Forest:
    """All expressions that keep the constraints."""
    arities = LIBRARY.arities.tolist()
    rows, unfinished = [], [((), 1)]
    while unfinished:
        prefix, missing = unfinished.pop()
        if missing == 0:
            rows.append(prefix + (-1,) * (PRIORS.max_length - len(prefix)))
        elif len(prefix) + missing <= PRIORS.max_length:
            unfinished += [((*prefix, token), missing - 1 + arity) for token, arity in enumerate(arities)]
    forest = PRIORS.as_forest(np.array(rows, np.int16))
    return forest.take(PRIORS.are_kept(forest))


def log_probabilities(weights: Weights, tokens: Tokens) -> Numbers:
    ones = np.ones(1)
    return np.array([objective_and_gradient(weights, PRIORS, row[np.newaxis], ones, NO_ENTROPY)[0] for row in tokens])


def test_probabilities_of_all_expressions_sum_to_one() -> None:
    tokens = PRIORS.as_matrix(everything())
    assert len(tokens) > 50
    for seed in range(3):
        assert math.fsum(np.exp(log_probabilities(random_weights(seed), tokens))) == pytest.approx(1, abs=1e-12)


def test_samples_are_as_frequent_as_they_are_probable() -> None:
    weights, every, n = random_weights(1), everything(), 20_000
    p = np.exp(log_probabilities(weights, PRIORS.as_matrix(every)))
    both = Forest.concatenate([every, sample(weights, PRIORS, n, np.random.default_rng(0))])
    counts = np.bincount(both.grouped()[1], minlength=len(every)) - 1
    assert len(counts) == len(every)
    assert (np.abs(counts - n * p) <= 5 * np.sqrt(n * p) + 5).all()


@pytest.mark.parametrize("bonus", [(0.0, 1.0), (0.3, 0.7)])
def test_the_gradient_is_that_of_finite_differences(bonus: tuple[float, float]) -> None:
    rng = np.random.default_rng(0)
    weights = random_weights(2)
    tokens = PRIORS.as_matrix(sample(weights, PRIORS, 12, rng))
    advantages = rng.normal(size=12)
    _, gradient = objective_and_gradient(weights, PRIORS, tokens, advantages, bonus)
    step = 1e-5
    for name, each in weights.items():
        assert np.abs(gradient[name]).max() > 1e-3
        for at in rng.choice(each.size, min(each.size, 12), replace=False):
            values = []
            for sign in (1, -1):
                moved = each.copy()
                moved.flat[at] += sign * step
                values.append(objective_and_gradient(weights | {name: moved}, PRIORS, tokens, advantages, bonus)[0])
            assert gradient[name].flat[at] == pytest.approx((values[0] - values[1]) / (2 * step), rel=1e-4, abs=1e-8)


def test_entropy_by_hand() -> None:
    """Of one token alone, with all logits 0 but for the prior: the entropy of the first choice, then of the second."""
    flat = Priors(SymbolLibrary.of(["sin"], 1), 1, 2, location=0, scale=1e9)
    weights = initial_weights(2, 3, np.random.default_rng(0))
    value, _ = objective_and_gradient(weights, flat, np.array([[1, -1]], np.int16), np.zeros(1), (2.0, 0.5))
    assert value == pytest.approx(2 * math.log(2))
    value, _ = objective_and_gradient(weights, flat, np.array([[0, 1]], np.int16), np.ones(1), (2.0, 0.5))
    assert value == pytest.approx(2 * math.log(2) - math.log(2))  # at the second place only x may come


def test_training_makes_the_best_more_likely() -> None:
    weights = initial_weights(len(LIBRARY), 8, np.random.default_rng(0))
    tokens = PRIORS.as_matrix(everything())
    best = tokens[:3]
    before, adam = log_probabilities(weights, best), Adam.at_start(weights)
    for _ in range(60):
        _, gradient = objective_and_gradient(weights, PRIORS, best, np.full(3, 0.1), (0.001, 0.7))
        weights, adam = adam.ascend(weights, gradient, 0.01)
    after = log_probabilities(weights, best)
    assert (after > before + 1).all()
    assert np.exp(after).sum() > 0.5
    assert adam.steps == 60


def test_the_first_step_of_adam_is_as_long_as_its_rate() -> None:
    weights = {"w": np.zeros(3)}
    moved, _ = Adam.at_start(weights).ascend(weights, {"w": np.array([5.0, -0.01, 0.0])}, 0.1)
    np.testing.assert_allclose(moved["w"], [0.1, -0.1, 0.0], rtol=1e-5)
