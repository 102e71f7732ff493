"""What models draw: codes from the prior, and symbols at a temperature."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.generators.base import Codes
from edhie.generators.checks import check_count

COLDEST = 1e-6  # below this temperature the most probable symbol is as good as certain
HIGHEST = np.float32(1e38)  # of a score: whatever is drawn stays above what is not allowed, minus infinity


def prior_codes(n: int, latent_dim: int, rng: np.random.Generator) -> Codes:
    """Codes drawn from the prior N(0, I)."""
    check_count(n)
    return rng.standard_normal((n, latent_dim), dtype=np.float32)


def tempered(scores: NDArray[np.float32], temperature: float, rng: np.random.Generator) -> NDArray[np.float32]:
    """Scores whose greatest is a draw from their softmax at a temperature; finite for finite scores."""
    with np.errstate(over="ignore"):
        warm: NDArray[np.float32] = scores / np.float32(max(temperature, COLDEST))
    np.clip(warm, -HIGHEST, HIGHEST, out=warm)
    warm += rng.gumbel(size=warm.shape).astype(np.float32)
    return warm
