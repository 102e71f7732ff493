"""Standard errors of the target: what they do to a fit, and what is told of those that are wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edhie import EDHiERegressor
from edhie.errors import DataError

RNG = np.random.default_rng(0)
X = RNG.uniform(0.5, 3, (60, 1))
SIGMA = np.where(np.arange(60) % 2, 0.01, 2.0)
Y = 3 * X[:, 0] + SIGMA * RNG.normal(size=60)


def quick() -> EDHiERegressor:
    return EDHiERegressor(max_time=None, max_evaluations=120)


def test_they_are_weights() -> None:
    fitted = quick().fit(X, Y, sigma=SIGMA)
    train = fitted.discoveries_[0].train
    np.testing.assert_array_equal(train.sigma, SIGMA)
    assert train.weights is not None
    np.testing.assert_allclose(train.weights, SIGMA**-2 / np.mean(SIGMA**-2))
    weighted = quick().fit(X, Y, sample_weight=SIGMA**-2 / np.mean(SIGMA**-2))
    assert str(fitted.best_) == str(weighted.best_)
    good = SIGMA < 1
    assert np.abs(fitted.predict(X)[good] - 3 * X[good, 0]).max() < 0.05


def test_they_are_kept(tmp_path: Path) -> None:
    fitted = quick().fit(X, np.column_stack([Y, 2 * Y]), sigma=np.column_stack([SIGMA, 2 * SIGMA]))
    back = EDHiERegressor.load(fitted.save(tmp_path / "kept"))
    for k, factor in enumerate((1, 2)):
        np.testing.assert_array_equal(back.discoveries_[k].train.sigma, factor * SIGMA)


def test_a_revision_takes_them() -> None:
    with pytest.raises(DataError, match="sigma is -1"):
        EDHiERegressor.revise("c*x0", X, Y, sigma=-np.ones(60), max_time=None, max_evaluations=10)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sigma": SIGMA, "sample_weight": SIGMA}, "sample_weight and sigma are both given, .*; give one of them"),
        ({"sigma": SIGMA[:-1]}, "X has 60 rows and sigma has 59; give one value for each row of X"),
        ({"sigma": 0 * SIGMA}, r"sigma is 0\.0 in row 0 .*; standard errors must be above 0"),
        ({"sigma": [-1.0, *SIGMA[1:]]}, r"sigma is -1\.0 in row 0 .*; standard errors must be above 0"),
        ({"sigma": [np.nan, *SIGMA[1:]]}, r"sigma is nan in row 0 .*; drop such rows or fill them"),
        ({"sigma": []}, "X has 60 rows and sigma has 0; give one value for each row of X"),
        ({"sigma": ["big", *SIGMA[1:]]}, "sigma holds the text 'big' in row 0"),
        ({"y": np.column_stack([Y, Y]), "sigma": SIGMA}, "y has 2 targets and sigma has one column; give one column"),
        ({"X": np.ones((60, 2))}, "no column of X varies, so none can explain 'y'; give at least one that does"),
        ({"X": np.ones((60, 2)), "y": np.ones(60)}, "all 60 rows are the same; give measurements that differ"),
    ],
)
def test_faults(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        quick().fit(**{"X": X, "y": Y} | arguments)


def test_the_resolution_of_the_target_is_seen() -> None:
    assert quick().fit(X, np.round(Y, 1)).discoveries_[0].train.resolution.step == 0.1
