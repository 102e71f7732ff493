"""What runs are judged by, on cases with known answers."""

from __future__ import annotations

import numpy as np
import pytest

from edhie.bench.metrics import bounded_r2, evaluated_to_success, rank_of_truth, success_threshold


def test_the_threshold_grows_with_the_target_and_is_never_below_the_papers() -> None:
    small = np.array([0.0, 1e-3])
    assert success_threshold(small) == 1e-10
    assert success_threshold(1e9 * small) == pytest.approx(1e-10 * 5e5)


def test_bounded_r2() -> None:
    y = np.array([1.0, 2.0, 4.0])
    assert bounded_r2(y, y, 0.0) == 1
    assert bounded_r2(y, np.full(3, 2.0), 2.0) == 0
    assert bounded_r2(y, 100 * y, 2.0) == 0
    # about the mean of the training data, not of the test data: 1 - (1 + 0 + 4)/(1 + 4 + 16)
    assert bounded_r2(y, np.full(3, 2.0), 0.0) == pytest.approx(1 - 5 / 21)
    assert bounded_r2(y, np.array([1.0, 2.0, np.nan]), 0.0) == 0
    assert bounded_r2(y, np.array([1.0, 2.0, 1e300]), 0.0) == 0
    assert (bounded_r2(np.ones(2), np.ones(2), 1.0), bounded_r2(np.ones(2), np.zeros(2), 1.0)) == (1, 0)


def test_evaluated_to_success() -> None:
    errors, executed_at = np.array([3.0, 1e-12, 0.5, 0.0]), np.array([1, 7, 2, 5])
    assert evaluated_to_success(errors, executed_at, 1e-10) == 5
    assert evaluated_to_success(errors, executed_at, 0.0) is None


def test_rank_of_truth() -> None:
    noisy = np.array([0.3, 0.1, 0.2, 0.2])
    assert rank_of_truth(noisy, np.array([1.0, 1.0, 0.0, 0.0]), 1e-10) == 2
    assert rank_of_truth(noisy, np.array([0.0, 1.0, 1.0, 1.0]), 1e-10) == 4
    assert rank_of_truth(noisy, np.ones(4), 1e-10) is None
    assert rank_of_truth(np.array([]), np.array([]), 1e-10) is None
