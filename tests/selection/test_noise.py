"""Noise models: which are compared on which data, and what each says of rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from edhie.errors import SearchError
from edhie.evaluate.data import Data
from edhie.fit.settings import NOISES
from edhie.selection.noise import (
    BOTH,
    CONSTANT,
    COUNTS,
    MODELS,
    PROPORTIONAL,
    STUDENT,
    codes_of,
    is_counts,
    model_of,
    noise_models,
    relative_weights,
    smallest_prediction,
)  # fmt: skip
from mosaics import data_of, positive

X = positive(1, 200)
TRUTH = 2 + 3 * X[0] ** 2
RNG = np.random.default_rng(0)


def data(y: np.ndarray = TRUTH, weights: np.ndarray | None = None) -> Data:  # type: ignore[type-arg]
    return data_of(X, y, weights)


def test_settings_name_all_of_them() -> None:
    assert set(NOISES) == {"auto", *MODELS}
    assert len({each.code for group in MODELS.values() for each in group}) == len(MODELS)


def test_the_data_say_which_are_compared() -> None:
    assert noise_models("auto", data()) == (CONSTANT, PROPORTIONAL, STUDENT)
    assert noise_models("auto", data(np.arange(1.5, 10))) == (CONSTANT, PROPORTIONAL)
    counts = data(np.round(TRUTH))
    assert noise_models("auto", counts) == (CONSTANT, PROPORTIONAL, COUNTS, STUDENT)
    assert noise_models("both", data()) == BOTH
    known = replace(data(), sigma=np.ones(200))
    assert noise_models("proportional", known) == (CONSTANT,)  # standard errors are the noise
    assert noise_models("student", known) == (STUDENT,)
    with pytest.raises(SearchError, match="unknown noise model 'prop'; choose one of auto, constant"):
        noise_models("prop", data())


@pytest.mark.parametrize(
    ("y", "are"), [([0, 1, 2], True), ([0, 1, 1], False), ([1.5, 2, 3], False), ([-1, 2, 3], False), ([7, 7], True)]
)
def test_counts_are_whole_numbers_from_0_on(y: list[float], are: bool) -> None:
    assert is_counts(np.array(y, float)) == are


def test_a_model_is_found_again_by_name_and_ratio() -> None:
    for group in MODELS.values():
        for each in group:
            assert model_of(each.name, each.ratio) is each


@pytest.mark.parametrize("model", [CONSTANT, PROPORTIONAL, COUNTS, *BOTH, STUDENT], ids=lambda each: each.name)
@pytest.mark.parametrize("is_weighted", [False, True])
def test_weights_are_positive_with_mean_1(model, is_weighted: bool) -> None:  # type: ignore[no-untyped-def]
    given = RNG.uniform(0.5, 2, 200) if is_weighted else None
    weights = relative_weights(model, TRUTH, data(TRUTH + RNG.normal(size=200), given))
    if model is CONSTANT and not is_weighted:
        assert weights is None
        return
    assert weights is not None
    assert (weights > 0).all()
    assert weights.mean() == pytest.approx(1.0)


def test_each_model_gives_rows_the_weight_of_its_noise() -> None:
    y = TRUTH + 0.1 * RNG.normal(size=200)
    for model, power in ((PROPORTIONAL, -2), (COUNTS, -1)):
        weights = relative_weights(model, TRUTH, data(y))
        assert weights is not None
        np.testing.assert_allclose(weights / weights[0], (TRUTH / TRUTH[0]) ** power)
    shares = []
    for model in BOTH:  # from nearly constant to nearly proportional
        weights = relative_weights(model, TRUTH, data(y))
        assert weights is not None
        shares.append(weights.max() / weights.min())
    assert (np.diff(shares) > 0).all()
    assert shares[-1] < (TRUTH.max() / TRUTH.min()) ** 2


def test_gross_errors_hardly_count_under_student_s_noise() -> None:
    y = TRUTH + 0.1 * RNG.normal(size=200)
    y[:10] += 50
    weights = relative_weights(STUDENT, TRUTH, data(y))
    assert weights is not None
    assert weights[:10].max() < 1e-3 * np.median(weights)


def test_a_prediction_of_0_has_noise_all_the_same() -> None:
    y = np.where(np.arange(200) < 5, 0.0, TRUTH)
    assert smallest_prediction(y) == pytest.approx(0.25 * TRUTH[5:].min())
    weights = relative_weights(PROPORTIONAL, y, data(y))
    assert weights is not None
    assert np.isfinite(weights).all()
    assert smallest_prediction(np.zeros(3)) > 0


def test_a_model_with_a_parameter_more_costs_more() -> None:
    _, _, told = codes_of((CONSTANT, PROPORTIONAL, BOTH[0]), data(TRUTH))
    assert told[0] == 0
    assert (np.diff(told) > 0).all()


def test_a_ratio_that_a_model_does_not_have() -> None:
    with pytest.raises(SearchError, match=r"the noise model 'constant' has no ratio 0\.3"):
        model_of("constant", 0.3)
