"""Rows kept aside, to judge by what a search has not seen."""

from __future__ import annotations

import numpy as np

from edhie.evaluate.data import Data

LEAST_ROWS = 1000  # with fewer, the search needs them all
PARTS = 5  # one of them is held out
MOST_HELD_OUT = 20_000


def split(data: Data, rng: np.random.Generator) -> tuple[Data, Data | None]:
    """The rows to search on and those held out, both in their order; with few rows none is held out.

    Rows of weight 0 count as none, and are never held out.
    """
    counting = np.arange(data.n_rows) if data.weights is None else np.flatnonzero(data.weights)
    if len(counting) < LEAST_ROWS:
        return data, None
    held_out = np.zeros(data.n_rows, np.bool_)
    held_out[rng.choice(counting, min(len(counting) // PARTS, MOST_HELD_OUT), replace=False)] = True
    return data.take(~held_out), data.take(held_out)
