"""A Gaussian process follows smooth functions, and its slopes are those of its values."""

from __future__ import annotations

import numpy as np

from edhie.search.mosaic.symmetry.gaussian_process import GaussianProcess, _cost

X = np.random.default_rng(0).uniform(1, 3, (2, 300))
Y = X[0] * np.sin(X[1])


def test_follows_a_smooth_function() -> None:
    process = GaussianProcess.fitted(X[:, :200], Y[:200])
    assert process is not None
    values, slopes = process.at(X[:, 200:])
    assert np.std(values - Y[200:]) < 1e-3 * np.std(Y)
    assert np.std(slopes[0] - np.sin(X[1, 200:])) < 0.01
    assert np.std(slopes[1] - X[0, 200:] * np.cos(X[1, 200:])) < 0.01


def test_slopes_are_those_of_the_values() -> None:
    process = GaussianProcess.fitted(X[:, :100], Y[:100])
    assert process is not None
    at, step = X[:, 200:220], 1e-5
    _, slopes = process.at(at)
    for k in range(2):
        moved = np.eye(2)[:, [k]] * step
        difference = (process.at(at + moved)[0] - process.at(at - moved)[0]) / (2 * step)
        np.testing.assert_allclose(slopes[k], difference, rtol=1e-4, atol=1e-5)


def test_slopes_of_the_likelihood() -> None:
    t = (Y[:60] - Y[:60].mean()) / Y[:60].std()
    settings = np.log([1.5, 0.7, 2.0, 0.05])
    _, slopes = _cost(settings, X[:, :60].T, t)
    for k in range(4):
        moved = 1e-5 * np.eye(4)[k]
        difference = (_cost(settings + moved, X[:, :60].T, t)[0] - _cost(settings - moved, X[:, :60].T, t)[0]) / 2e-5
        np.testing.assert_allclose(slopes[k], difference, rtol=1e-4, atol=1e-4)


def test_what_does_not_vary_is_not_fitted() -> None:
    assert GaussianProcess.fitted(np.ones((1, 50)), Y[:50]) is None
    assert GaussianProcess.fitted(X[:, :50], np.ones(50)) is None
