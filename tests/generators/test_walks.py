"""Walks in the latent space: they begin and end where they should, and similarity falls with the radius."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.errors import GeneratorError
from edhie.expr import Forest
from edhie.generators import HVAE, TrainConfig
from edhie.generators.train import train
from edhie.generators.walks import interpolate, neighbours
from edhie.grammar import load


@pytest.fixture(scope="module")
def forest() -> Forest:
    return load("trig").sample(4000, np.random.default_rng(0), max_height=4).unique()[:400]


@pytest.fixture(scope="module")
def model(forest: Forest) -> HVAE:
    config = TrainConfig(hidden=48, latent=12, epochs=100, batch=32, validation=0.0)
    return train(forest, config)[0]


def known(model: HVAE, forest: Forest) -> list[int]:
    """Places of expressions that the model reconstructs."""
    decoded = model.decode(model.encode(forest)[0]).forest
    return [i for i, (a, b) in enumerate(zip(forest, decoded, strict=True)) if a == b]


def test_a_walk_leads_from_one_to_the_other(model: HVAE, forest: Forest) -> None:
    places = known(model, forest)
    a, b = forest[places[10]], forest[places[-1]]
    walk = interpolate(model, a, b, steps=4)
    assert [step.alpha for step in walk] == [0, 0.25, 0.5, 0.75, 1]
    assert (walk[0].expr, walk[-1].expr) == (a, b)
    assert [step.expr for step in interpolate(model, b, a, steps=4)] == [step.expr for step in reversed(walk)]


def test_similarity_falls_with_the_radius(model: HVAE, forest: Forest) -> None:
    def mean_distance(radius: float) -> float:
        distances = []
        for place in known(model, forest)[:30]:
            found = neighbours(model, forest[place], 100, np.random.default_rng(place), radius=radius)
            distances.append(np.average(found.distances, weights=found.counts))
        return float(np.mean(distances))

    means = [mean_distance(radius) for radius in (0.0, 1.0, 3.0, 10.0)]
    assert means == sorted(means)
    assert means[0] == 0
    assert means[-1] > means[1] + 1


def test_neighbours_are_distinct_counted_and_sorted(model: HVAE, forest: Forest) -> None:
    found = neighbours(model, forest[5], 200, np.random.default_rng(0), radius=2.0)
    assert len(found.forest.unique()) == len(found.forest)
    assert found.counts.sum() + found.invalid == 200
    assert list(found.distances) == sorted(found.distances)


def test_bad_input_is_told(model: HVAE, forest: Forest) -> None:
    with pytest.raises(GeneratorError, match="at least one step"):
        interpolate(model, forest[0], forest[1], steps=0)
    for radius in (-1, np.inf, np.nan):
        with pytest.raises(GeneratorError, match="radius"):
            neighbours(model, forest[0], 5, np.random.default_rng(0), radius=radius)
