"""What a run is judged by: pure functions of errors, values and expressions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
STRICT = 1e-10  # the RMSE that the paper asks for, whatever the target's size


def success_threshold(y: Numbers) -> float:
    """The RMSE below which a target is found again: the paper's 1e-10, in units of a deviation above 1.

    On [-20, 20] the very formula of NG-4 misses 1e-10: a double of that size has no such digit.
    """
    return STRICT * max(1.0, float(np.std(y)))


def bounded_r2(y: Numbers, y_hat: Numbers, train_mean: float) -> float:
    """The paper's max(0, R²) on a test set, about the mean of the training set; 0 where a value is not finite."""
    if not np.isfinite(y_hat).all():
        return 0.0
    with np.errstate(all="ignore"):
        left = float(np.square(y - y_hat).sum())
        whole = float(np.square(y - train_mean).sum())
    if not np.isfinite(left):
        return 0.0
    if whole == 0:
        return float(left == 0)
    return max(0.0, 1.0 - left / whole)


def evaluated_to_success(errors: Numbers, executed_at: NDArray[np.int64], threshold: float) -> int | None:
    """How many distinct expressions had been executed when the first below the threshold was; None for never."""
    found = executed_at[errors < threshold]
    return int(found.min()) if len(found) else None


def rank_of_truth(noisy: Numbers, clean: Numbers, threshold: float) -> int | None:
    """The place, from 1, of the first expression that is right without noise in the order of the noisy errors.

    Of equal errors the one that came first stands first. None where no expression is right.
    """
    order = np.argsort(noisy, kind="stable")
    right = np.flatnonzero(clean[order] < threshold)
    return int(right[0]) + 1 if len(right) else None
