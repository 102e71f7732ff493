"""When an error counts as unchanged."""

from __future__ import annotations

import numpy as np

from edhie.evaluate.data import Data, squares_about_zero

ROUNDING = 1e-18  # of the target's sum of squares: a fit to nine digits
ROUNDING_OF_VALUES = (8 * float(np.finfo(np.float64).eps)) ** 2  # where the target varies little around a large mean


def error_limit(error: float, data: Data, *, slack: float) -> float:
    """The largest sum of squares that is the same as `error`, to a share of `slack` and to rounding."""
    floor = ROUNDING * data.squares_to_explain + ROUNDING_OF_VALUES * squares_about_zero(data.y, data.weights)
    return error * (1.0 + slack) + floor
