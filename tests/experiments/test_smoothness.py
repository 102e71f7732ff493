"""A step of no length changes nothing, longer steps change more, and the scale is the model's own."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from edhie.errors import GeneratorError
from edhie.expr import Forest
from edhie.generators import TrainConfig
from edhie.generators.base import Model
from edhie.generators.train import train
from edhie.grammar import load
from smoothness import roughness, spread


@pytest.fixture(scope="module")
def forest() -> Forest:
    return load("trig").sample(2000, np.random.default_rng(0), max_height=4).unique()[:200]


@pytest.fixture(scope="module")
def model(forest: Forest) -> Model:
    return train(forest, TrainConfig(hidden=24, latent=8, epochs=25, batch=32))[0]


def test_similarity_falls_with_the_length_of_the_step(model: Model, forest: Forest) -> None:
    curve = roughness(model, forest, [0, 0.1, 0.4, 2], np.random.default_rng(0))
    distances = [each.edit_distance for each in curve]
    assert (curve[0].edit_distance, curve[0].unchanged, curve[0].invalid) == (0, 1, 0)
    assert distances == sorted(distances)
    assert distances[-1] > distances[1]
    assert [each.unchanged for each in curve] == sorted((each.unchanged for each in curve), reverse=True)
    assert curve == roughness(model, forest, [0, 0.1, 0.4, 2], np.random.default_rng(0))


def test_spread_is_the_distance_between_two_codes() -> None:
    codes = np.random.default_rng(0).standard_normal((20, 3)).astype(np.float32)
    pairs = [np.sum((a - b) ** 2) for a, b in combinations(codes, 2)]
    assert spread(codes) == pytest.approx(np.sqrt(np.mean(pairs)), rel=1e-5)


def test_one_expression_has_no_scale(model: Model, forest: Forest) -> None:
    with pytest.raises(GeneratorError, match="at least two"):
        roughness(model, forest[:1], [0.1], np.random.default_rng(0))
