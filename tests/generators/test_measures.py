"""Measures: the reconstruction error, and how much a step in the latent space changes."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from edhie.errors import GeneratorError
from edhie.expr import Forest, parse
from edhie.expr.standard_libraries import ae
from edhie.generators import TrainConfig
from edhie.generators.base import Codes, Decoded, Model
from edhie.generators.measures import reconstruct, roughness, spread
from edhie.generators.train import train
from edhie.grammar import load

LIBRARY = ae()
GIVEN = Forest.from_exprs([parse(text, LIBRARY) for text in ("x0 + c", "x0", "c*x0", "x0/c")])


class Parrot:
    """Codes are places in a list of expressions; some of them are no expression."""

    library = LIBRARY
    latent_dim = 1

    def __init__(self, answers: list[str | None]) -> None:
        self.answers = answers

    def encode(self, forest: Forest) -> tuple[Codes, Codes]:
        codes = np.arange(len(forest), dtype=np.float32)[:, None]
        return codes, np.zeros_like(codes)

    def decode(self, codes: Codes, **options: Any) -> Decoded:
        found = [(i, self.answers[int(code)]) for i, (code,) in enumerate(codes)]
        valid = [(i, parse(text, LIBRARY)) for i, text in found if text is not None]
        forest = Forest.from_exprs([expr for _, expr in valid], LIBRARY)
        return Decoded(forest, np.array([i for i, _ in valid], dtype=np.int64), len(codes))

    def sample(self, n: int, rng: np.random.Generator) -> Forest:
        raise NotImplementedError


def test_distances_are_averaged_over_what_came_back() -> None:
    found = reconstruct(Parrot(["x0 + c", "c", None, "x0*(c + c)"]), GIVEN)
    assert found.edit_distance == pytest.approx((0 + 1 + 3) / 3)
    assert (found.invalid, found.n, found.invalid_percent) == (1, 4, 25.0)
    assert found.exact == pytest.approx(0.25)


def test_nothing_came_back() -> None:
    found = reconstruct(Parrot([None] * 4), GIVEN)
    assert math.isnan(found.edit_distance)
    assert found.invalid_percent == 100


def test_nothing_given_is_an_error() -> None:
    with pytest.raises(GeneratorError, match="nothing to reconstruct"):
        reconstruct(Parrot([]), GIVEN[:0])


# -- smoothness -----------------------------------------------------------------------


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
