"""Which expressions of a corpus a training keeps aside."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.generators.config import TrainConfig

Places = NDArray[np.int64]


def split(n: int, config: TrainConfig) -> tuple[Places, Places]:
    """The places of those kept aside, and of those learnt from; they follow from the seed alone."""
    order = np.random.default_rng([config.seed, 0]).permutation(n)
    kept = int(config.validation * n) if n > 1 else 0
    return order[:kept], order[kept:]
