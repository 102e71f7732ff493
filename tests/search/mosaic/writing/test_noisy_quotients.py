"""Quotients of noisy targets: the sparse ones are found under noise that hides them from a fit of all monomials."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.evaluate.values import values
from edhie.expr import Forest
from edhie.search.mosaic.config import MosaicConfig
from edhie.search.mosaic.frames.noise_frames import RowNoise, noise_views
from edhie.search.mosaic.writing.noisy_quotients import noisy_quotients
from edhie.search.pieces.spelling import Speller
from mosaics import data_of, free

X = np.random.default_rng(0).uniform(1, 5, (4, 800))
A, B, C, D = X
TRUTHS = {
    "centre of mass": (A * B + C * D) / (A + C),
    "lens": A * B / (B + C * A),
    "saturation": 2.5 * A / (1.8 + A),
    "root": np.sqrt(A * B / (C + D)),
}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", TRUTHS)
def test_a_sparse_quotient_is_found_under_noise(name: str, seed: int) -> None:
    y, library = TRUTHS[name], free(4)
    size = 0.1 * float(y.std())
    data = data_of(X, y + size * np.random.default_rng([seed, 1]).standard_normal(len(y)))
    noise = RowNoise(data.y, np.full(len(y), size))
    views = noise_views(data, library, MosaicConfig(), noise)
    found = Forest.from_exprs(noisy_quotients(data, views, Speller(library, data)), library)
    with np.errstate(all="ignore"):
        errors = np.sqrt(np.square(values(found, X) - y).mean(axis=1))
    short = found.sizes <= 25
    assert errors[short & np.isfinite(errors)].min() < 0.3 * size
