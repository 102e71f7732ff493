"""A few rows that stand for all."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def spread_rows(y: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """The places of `count` rows spread evenly over the target's order, its extremes among them; in rising order."""
    if count >= len(y):
        return np.arange(len(y))
    by_target = np.argsort(y, kind="stable")
    return np.sort(by_target[np.linspace(0, len(y) - 1, count).round().astype(np.int64)])
