"""Least squares keep the columns that the target is made of, and no others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edhie.search.mosaic.frames.free_columns import polynomial_columns
from edhie.search.mosaic.writing.linear_fit import Fit, pruned_fit, refit_with, rounded
from mosaics import Numbers, positive

ROWS = 120
COLUMNS = polynomial_columns(positive(2, ROWS), np.ones(ROWS)).columns


def fit_of(columns: Numbers, target: Numbers) -> Fit:
    return pruned_fit(columns, target, float(np.square(target - target.mean()).sum()))


@given(st.sets(st.integers(1, 14), min_size=1, max_size=4), st.sampled_from([0.0, 0.01]), st.integers(0, 50))
def test_what_is_not_needed_goes(planted: set[int], noise: float, seed: int) -> None:
    rng, chosen = np.random.default_rng(seed), sorted(planted)
    columns = np.concatenate([np.ones((1, ROWS)), np.random.default_rng(5).normal(size=(14, ROWS))])
    coefficients = rng.choice([-1, 1], len(chosen)) * rng.uniform(0.5, 3, len(chosen))
    target = coefficients @ columns[chosen] + noise * rng.normal(size=ROWS)
    fit = fit_of(columns, target)
    assert set(chosen) <= set(fit.kept.tolist())
    if noise == 0:
        assert fit.kept.tolist() == chosen
        np.testing.assert_allclose(fit.coefficients, coefficients, rtol=1e-9)
        assert fit.is_exact
    else:
        assert len(fit.kept) <= len(chosen) + 3
        inside = np.isin(fit.kept, chosen)
        assert (np.abs(fit.coefficients[inside] - coefficients) <= 6 * fit.errors[inside] + 1e-12).all()


def test_polynomials_whose_columns_are_much_alike() -> None:
    target = 2.5 * COLUMNS[4] - COLUMNS[1] + 0.5
    fit = fit_of(COLUMNS, target)
    assert fit.kept.tolist() == [0, 1, 4]
    np.testing.assert_allclose(fit.coefficients, [0.5, -1, 2.5], rtol=1e-8)


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_of_columns_that_depend_on_each_other_the_first_stay(noise: float) -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(0.5, 3, ROWS)
    columns = np.stack([np.ones(ROWS), np.full(ROWS, 2.0), x, x, x + 1, x**2, 2 * x**2, np.zeros(ROWS)])
    fit = fit_of(columns, 3 * x**2 + x + noise * rng.normal(size=ROWS))
    assert {2, 5} <= set(fit.kept.tolist()) <= {0, 2, 5}
    np.testing.assert_allclose(fit.coefficients[np.isin(fit.kept, [2, 5])], [1, 3], atol=20 * noise + 1e-9)


def test_more_columns_than_rows() -> None:
    columns = np.random.default_rng(0).normal(size=(6, 3))
    fit = fit_of(columns, np.array([1.0, 2.0, 4.0]))
    assert len(fit.kept) <= 3
    np.testing.assert_allclose(fit.coefficients @ columns[fit.kept], [1, 2, 4], atol=1e-9)


def test_pure_noise_keeps_little() -> None:
    kept = [len(fit_of(COLUMNS, np.random.default_rng(seed).normal(size=ROWS)).kept) for seed in range(20)]
    assert np.mean(kept) < 3


@given(st.floats(-50, 50), st.floats(0, 2))
def test_rounding_stays_within_a_few_standard_errors(value: float, error: float) -> None:
    plain = rounded(value, error)
    reach = max(3 * error, 1e-7 * max(abs(value), 1e-3))
    if plain is None:
        assert abs(round(value) - value) > reach
    else:
        assert abs(plain - value) <= reach
        assert any(abs(plain * below - round(plain * below)) < 1e-9 for below in (1, 2, 3, 4, 6))


def test_the_plainest_fraction_comes_first() -> None:
    assert rounded(1.4, 0.2) == 1.0
    assert rounded(1.51, 0.01) == 1.5
    assert rounded(1 / 3 + 1e-9, 1e-9) == 1 / 3
    assert rounded(1 / 3, 1e-9, denominators=(1, 2)) is None
    assert rounded(np.pi, 1e-9) is None


def test_what_is_fixed_stays_and_the_rest_is_least_squares() -> None:
    rng = np.random.default_rng(3)
    columns, target = rng.normal(size=(4, 50)), rng.normal(size=50)
    fit = fit_of(columns, target)
    full = Fit(np.arange(4), np.zeros(4), np.zeros(4), 0.0, fit.total)
    coefficients, left = refit_with(columns, target, full, {1: 0.5, 3: -2.0})
    rest = target - 0.5 * columns[1] + 2 * columns[3]
    wanted = np.linalg.lstsq(columns[[0, 2]].T, rest, rcond=None)[0]
    np.testing.assert_allclose(coefficients, [wanted[0], 0.5, wanted[1], -2], rtol=1e-10)
    assert left == pytest.approx(np.square(target - coefficients @ columns).sum())
    coefficients, left = refit_with(columns, target, full, dict(enumerate([1.0, 2.0, 3.0, 4.0])))
    assert left == pytest.approx(np.square(target - np.array([1, 2, 3, 4]) @ columns).sum())


def test_columns_that_are_too_small_for_their_squares_are_left_out() -> None:
    target = np.arange(5.0)
    fit = pruned_fit(np.full((1, 5), 1e-269), target, 30.0)
    assert len(fit.kept) == 0
    assert fit.left == target @ target
