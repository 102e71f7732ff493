"""When an error counts as unchanged."""

from __future__ import annotations

import numpy as np

from edhie.evaluate.constants.fitting import total_squares
from edhie.evaluate.data import Data

ROUNDING = 1e-18  # of the target's sum of squares: a fit to nine digits
ROUNDING_OF_VALUES = (8 * float(np.finfo(np.float64).eps)) ** 2  # where the target varies little around a large mean


def error_limit(error: float, data: Data, *, slack: float) -> float:
    """The largest sum of squares that is the same as `error`, to a share of `slack` and to rounding."""
    weights = np.ones(data.n_rows) if data.weights is None else data.weights
    floor = ROUNDING * total_squares(data) + ROUNDING_OF_VALUES * float(weights @ np.square(data.y))
    return error * (1.0 + slack) + floor
