"""Measures of a run, as pure functions of errors, values and expressions."""

from __future__ import annotations

import numpy as np

from edhie.arrays import Indices, Numbers

STRICT = 1e-10  # the RMSE that the paper asks for, whatever the target's size


def success_threshold(y: Numbers) -> float:
    """Return the RMSE below which a formula counts as found: the paper's 1e-10, times the target's deviation if over 1.

    On [-20, 20] rounding alone gives the formula of NG-4 a larger RMSE than 1e-10.
    """
    return STRICT * max(1.0, float(np.std(y)))


def bounded_r2(y: Numbers, y_hat: Numbers, train_mean: float) -> float:
    """Return the paper's max(0, R²) on a test set, about the training mean; 0 if a value is not finite."""
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


def evaluated_to_success(errors: Numbers, executed_at: Indices, threshold: float) -> int | None:
    """Return the number of expressions executed up to the first below the threshold; None if there is none."""
    found = executed_at[errors < threshold]
    return int(found.min()) if len(found) else None


def rank_of_truth(noisy: Numbers, clean: Numbers, threshold: float) -> int | None:
    """Return the rank by noisy error, from 1, of the first expression that is correct without noise.

    Ties keep their order. None if no expression is correct.
    """
    order = np.argsort(noisy, kind="stable")
    right = np.flatnonzero(clean[order] < threshold)
    return int(right[0]) + 1 if len(right) else None
