"""Gaussian process regression: a smooth function through the rows, with its gradient.

The kernel is a squared exponential with a length scale for each variable, plus noise. Its hyperparameters maximise the
marginal likelihood of some of the rows; the process is conditioned on more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs
from scipy.optimize import minimize

from edhie.search.arrays import Numbers
from edhie.search.mosaic.config import Symmetry


@dataclass(frozen=True, eq=False)
class GaussianProcess:
    """A fitted process: its posterior mean."""

    centre: Numbers
    spread: Numbers
    """Mean and standard deviation by which each variable is standardised."""
    lengths: Numbers
    """The length scale of each standardised variable."""
    places: Numbers
    """The training rows, standardised and divided by the length scales."""
    coefficients: Numbers
    """The dual coefficient of each training row, in units of the target."""
    mean: float
    """The mean of the target."""

    @classmethod
    def fitted(cls, columns: Numbers, y: Numbers) -> GaussianProcess | None:
        """Fit a process to columns, of shape (variables, rows), and a target.

        None if a variable or the target is constant, or the kernel matrix is singular.
        """
        centre, spread = columns.mean(axis=1), columns.std(axis=1)
        mean, size = float(y.mean()), float(y.std())
        if not (size > 0 and (spread > 0).all()):
            return None
        X, t = ((columns.T - centre) / spread), (y - mean) / size  # noqa: N806 -- as in the field
        start = np.log(np.append(np.full(len(spread), Symmetry.LENGTH), [Symmetry.HEIGHT, Symmetry.NOISE]))
        few = slice(Symmetry.FITTED_ROWS)
        limits = [np.log(Symmetry.LENGTHS)] * len(spread) + [np.log(Symmetry.HEIGHTS), np.log(Symmetry.NOISES)]
        found = minimize(
            _cost, start, (X[few], t[few]), "L-BFGS-B", jac=True, bounds=limits, options={"maxiter": Symmetry.STEPS}
        )
        lengths = np.exp(found.x[:-2])
        places = X / lengths
        factor = _factor(_kernel(places, places, found.x), found.x)
        if factor is None:
            return None
        coefficients = dpotrs(factor, t, lower=1)[0] * size * np.exp(2 * found.x[-2])
        return cls(centre, spread, lengths, places, coefficients, mean)

    def at(self, columns: Numbers) -> tuple[Numbers, Numbers]:
        """Return the values at columns of shape (variables, rows), and the gradient, of the same shape."""
        where = (columns.T - self.centre) / self.spread / self.lengths
        near = _kernel(where, self.places, np.zeros(len(self.lengths) + 2)) * self.coefficients
        pulls = near @ self.places - where * near.sum(axis=1, keepdims=True)
        return near.sum(axis=1) + self.mean, (pulls / (self.lengths * self.spread)).T


def _kernel(a: Numbers, b: Numbers, settings: Numbers) -> Numbers:
    """Return the covariances of scaled rows; `settings[-2]` is the logarithm of the signal's standard deviation."""
    apart = np.square(a).sum(axis=1)[:, np.newaxis] + np.square(b).sum(axis=1) - 2 * a @ b.T
    return np.asarray(np.exp(2 * settings[-2] - 0.5 * np.maximum(apart, 0)))


def _factor(kernel: Numbers, settings: Numbers) -> Numbers | None:
    """Return the Cholesky factor of the kernel with noise on its diagonal; None if it is not positive definite."""
    noisy = np.array(kernel, order="F")  # the order of LAPACK
    noisy[np.diag_indices_from(noisy)] += np.exp(2 * settings[-1]) + Symmetry.JITTER * np.exp(2 * settings[-2])
    factor, fault = dpotrf(noisy, lower=1, overwrite_a=1)
    return None if fault else np.asarray(factor)


def _cost(settings: Numbers, X: Numbers, t: Numbers) -> tuple[float, Numbers]:  # noqa: N803
    """Return the negative logarithm of the marginal likelihood, and its gradient.

    `settings` are logarithms of the length scales, and of the standard deviations of signal and noise.
    """
    scaled = X / np.exp(settings[:-2])
    kernel = _kernel(scaled, scaled, settings)
    factor = _factor(kernel, settings)
    if factor is None:
        return Symmetry.FAILED, np.zeros_like(settings)
    alpha = dpotrs(factor, t, lower=1)[0]
    half = dpotri(factor, lower=1)[0]  # the lower triangle of the inverse
    inner = half + np.tril(half, -1).T - np.outer(alpha, alpha)
    weighted = inner * kernel
    # half the sum over all pairs of weighted * (difference of a variable)², without an array of the differences
    by_length = (np.square(scaled) * weighted.sum(axis=1)[:, np.newaxis]).sum(axis=0)
    by_length -= ((weighted @ scaled) * scaled).sum(axis=0)
    slopes = np.append(by_length, [weighted.sum(), np.exp(2 * settings[-1]) * np.trace(inner)])
    return float(0.5 * t @ alpha + np.log(np.diag(factor)).sum()), slopes
