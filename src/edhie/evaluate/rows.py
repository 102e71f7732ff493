"""A few rows that stand for all."""

from __future__ import annotations

import numpy as np

from edhie.evaluate.data import Data


def few_rows(data: Data, count: int) -> Data:
    """At most `count` rows that count, spread evenly over the target's order, its extremes among them."""
    if count >= data.n_rows:
        return data
    counting = np.arange(data.n_rows) if data.weights is None else np.flatnonzero(data.weights)
    by_target = counting[np.argsort(data.y[counting], kind="stable")]
    chosen = np.linspace(0, len(counting) - 1, min(count, len(counting))).round().astype(np.int64)
    return data.take(np.sort(by_target[chosen]))
