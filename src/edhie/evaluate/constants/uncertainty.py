"""Standard errors of constants and values, from the slopes at the fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from edhie.errors import EdhieError
from edhie.evaluate.constants.jacobian import Response
from edhie.evaluate.constants.slope_svd import SlopeSVD
from edhie.evaluate.constants.ties import Ties
from edhie.evaluate.data import Data
from edhie.expr import Expr

Numbers = NDArray[np.float64]
ROUNDING = 1e-6  # of a slope: a smaller part outside of the directions that the data determine is rounding


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """The constants of one expression in prefix order, with standard errors and confidence intervals."""

    values: Numbers
    standard_errors: Numbers
    """Infinite for what the data do not determine; 0 for what is `held`, which the others are conditional on."""
    lower: Numbers
    upper: Numbers
    covariance: Numbers
    degrees_of_freedom: int
    """Rows that count, less the directions that the data determine; below 1 nothing is known of the noise."""
    unidentified: tuple[tuple[int, ...], ...]
    """Groups of constants that can change, together or one alone, while no value of the expression does."""
    held: tuple[int, ...] = ()
    """Constants that were held fixed, as many of each group as it takes for the data to determine the others.

    Of 1/(a*x + b) it is the 1, though it was fitted: a factor that could be written elsewhere has no error of its own.
    """


def uncertainty(expr: Expr, data: Data, *, level: float = 0.95, ties: Ties | None = None) -> Uncertainty:
    """Return standard errors from the slopes at the fit, and Student's intervals around it.

    The noise is estimated from the residuals, so weights count by their ratios. Where constants are redundant, some
    are held, and the errors of the others are those of a fit with these given. `ties` are constants that are one in
    several places.
    """
    if not 0 < level < 1:
        raise EdhieError(f"the level of an interval lies between 0 and 1, not at {level}; 0.95 is usual")
    fit = _LinearisedFit.of(expr, data, ties)
    response, ties, directions, variance = fit.response, fit.ties, fit.directions, fit.variance
    values = response.constants
    groups = ties.everywhere(directions.unidentified(response.precision))
    held = directions.held(response.precision, ties.different(values))
    free = [k for k in range(ties.n_different) if k not in held]
    with np.errstate(all="ignore"):
        covariance = np.zeros((ties.n_different, ties.n_different))
        of_free = SlopeSVD.of(fit.slopes[free], fit.weights)
        covariance[np.ix_(free, free)] = of_free.inverse(response.precision) * variance
    covariance, (held,) = ties.apart(covariance), ties.everywhere((held,))
    covariance[np.isnan(covariance)] = np.inf  # 0 · ∞: a perfect fit of what is not determined
    if not np.isfinite(variance):  # nothing is known of the noise
        covariance[:], held = np.inf, ()
    errors = np.sqrt(np.diag(covariance))
    with np.errstate(all="ignore"):
        reach = np.where(errors == 0, 0.0, errors * _students(fit.degrees_of_freedom, level))
    return Uncertainty(values, errors, values - reach, values + reach, covariance, fit.degrees_of_freedom, groups, held)


def value_deviations(expr: Expr, data: Data, columns: Numbers, *, ties: Ties | None = None) -> Numbers:
    """Return the standard error of the expression's value in each row of `columns`, for constants fitted to `data`.

    Constants that the data do not determine one by one may still determine the values. Infinite where they do not;
    NaN where the expression has no value. `ties` are constants that are one in several places.
    """
    if not expr.constants:
        return np.zeros(columns.shape[1])
    fit = _LinearisedFit.of(expr, data, ties)
    directions, rank = fit.directions, fit.directions.rank(fit.response.precision)
    with np.errstate(all="ignore"):
        _, there = Response(expr, columns).jacobian(fit.response.constants)
        scaled = fit.ties.together(there) / directions.scales[:, np.newaxis]
        along = directions.axes[:, :rank].T @ scaled
        outside = scaled - directions.axes[:, :rank] @ along
        lengths = np.linalg.norm(along / directions.singular_values[:rank, np.newaxis], axis=0)
        found: Numbers = np.sqrt(fit.variance) * lengths
        is_lost = np.linalg.norm(outside, axis=0) > ROUNDING * np.linalg.norm(scaled, axis=0)
    return np.where(is_lost, np.inf, found)


class _LinearisedFit(NamedTuple):
    """A fit to first order in its constants."""

    response: Response
    ties: Ties
    slopes: Numbers
    """Slopes of shape (different constants, rows)."""
    weights: Numbers
    directions: SlopeSVD
    degrees_of_freedom: int
    variance: float
    """Variance of the residual of a row of weight 1; infinite without degrees of freedom."""

    @classmethod
    def of(cls, expr: Expr, data: Data, ties: Ties | None) -> _LinearisedFit:
        """Linearise an expression about its constants."""
        response = Response(expr, data.columns)
        ties = ties or Ties.none(len(response.constants))
        values, slopes = response.jacobian(response.constants)
        slopes = ties.together(slopes)
        weights = np.ones(data.n_rows) if data.weights is None else data.weights
        directions = SlopeSVD.of(slopes, weights)
        freedom = int(np.count_nonzero(weights)) - directions.rank(response.precision)
        with np.errstate(all="ignore"):
            variance = float(weights @ np.square(data.y - values)) / freedom if freedom > 0 else np.inf
        return cls(response, ties, slopes, weights, directions, freedom, variance)


def _students(freedom: int, level: float) -> float:
    """Return the half-width of Student's interval, in standard errors."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.5 + 0.5 * level)) if freedom > 0 else np.inf
