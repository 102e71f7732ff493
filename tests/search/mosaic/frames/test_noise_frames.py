"""Frames for noise: all are in one unit, the truth leaves the noise in each, and rows of no use do not count."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.search.mosaic.config import MosaicConfig
from edhie.search.mosaic.frames.noise_frames import RowNoise, noise_frames
from mosaics import Numbers, data_of, free, positive

LIBRARY = free(2)
X = positive(2, 300)
RNG = np.random.default_rng(0)


def frames(y: Numbers, deviations: Numbers, **options: bool) -> list:  # type: ignore[type-arg]
    return noise_frames(data_of(X, y), LIBRARY, MosaicConfig(**options), RowNoise(y, deviations))


@pytest.mark.parametrize("size", [0.01, 0.05])
def test_what_noise_leaves_is_about_one_a_row_in_every_plain_frame(size: float) -> None:
    truth = 3 + X[0] * X[1]
    deviations = np.full(300, size)
    found = frames(truth + size * RNG.normal(size=300), deviations, polynomials=False, scales=False, products=False)
    assert {frame.link.name for frame in found} >= {"y", "1/y", "y^2", "sqrt(y)", "exp(y)"}
    for frame in found:
        exact = frame.link.apply(truth)
        left = (frame.target - exact) * frame.free.row_scale
        assert np.mean(left**2) == pytest.approx(1.0, rel=0.25), frame.link.name


def test_shares_are_of_one_total() -> None:
    y = 3 + X[0] * X[1] + 0.05 * RNG.normal(size=300)
    totals = {frame.total for frame in frames(y, np.full(300, 0.05))}
    assert len(totals) == 1
    about = (y - y.mean()) / 0.05
    assert totals.pop() == pytest.approx(about @ about)


def test_noise_by_row_is_the_weight_of_the_row() -> None:
    deviations = np.where(np.arange(300) < 150, 0.01, 1.0)
    y = X[0] + deviations * RNG.normal(size=300)
    plain = frames(y, deviations)[0]
    np.testing.assert_allclose(plain.free.row_scale, 1 / deviations)


def test_a_few_rows_outside_a_link_do_not_count_and_many_forbid_it() -> None:
    y = X[0] * X[1]
    few, many = y.copy(), y.copy()
    few[:10], many[:100] = -0.01, -0.01
    roots = [frame for frame in frames(few, np.full(300, 0.05)) if frame.link.name == "sqrt(y)"]
    assert roots
    assert (roots[0].free.row_scale[:10] == 0).all()
    assert (roots[0].free.row_scale[10:] > 0).all()
    assert "sqrt(y)" not in {frame.link.name for frame in frames(many, np.full(300, 0.05))}


def test_a_product_with_noise_is_explained_by_logarithms() -> None:
    truth = 5 * X[0] ** 2.5 / X[1]
    y = truth * (1 + 0.02 * RNG.normal(size=300))
    found = [each for each in frames(y, 0.02 * truth) if each.free.is_product and len(each.free.exponents) > 1]
    assert found
    best = min(found, key=lambda frame: frame.unexplained)
    assert best.unexplained * best.total == pytest.approx(300, rel=0.3)
