"""Standard errors of constants and values, from the slopes at the fit; constants that are tied to each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from edhie.arrays import Numbers
from edhie.errors import EdhieError, ExpressionError
from edhie.evaluate.constants.jacobian import Response
from edhie.evaluate.constants.slope_svd import SlopeSVD, Triangle
from edhie.evaluate.data import Data
from edhie.expr import Expr

Weigh = Callable[[Numbers, Data], Numbers | None]
"""From predictions and rows to the weights of the rows; None if all are equal."""
ROUNDING = 1e-6  # of a slope: a smaller part outside of the directions that the data determine is rounding


@dataclass(frozen=True)
class TiedConstants:
    """The parameter to which each constant of an expression belongs."""

    of: tuple[int, ...]
    """By constant, in prefix order: (0, 1, 0) for a constant, another, and the first again."""

    @classmethod
    def none(cls, count: int) -> TiedConstants:
        """Return ties in which each constant is a separate parameter."""
        return cls(tuple(range(count)))

    @property
    def n_different(self) -> int:
        """The number of parameters."""
        return max(self.of, default=-1) + 1

    def different(self, values: Numbers) -> Numbers:
        """Return the values of the parameters, given those of all constants."""
        found = np.zeros(self.n_different)
        found[np.array(self.of, np.int64)] = values
        return found

    def together(self, slopes: Numbers) -> Numbers:
        """Return slopes by parameter, given slopes by constant, (constants, rows): those of copies add up.

        >>> TiedConstants((0, 1, 0)).together(np.array([[5.0], [2.0], [1.0]])).tolist()
        [[6.0], [2.0]]
        """
        if len(slopes) != len(self.of):
            raise ExpressionError(f"there are ties for {len(self.of)} constants, and the expression has {len(slopes)}")
        found = np.zeros((self.n_different, slopes.shape[1]))
        np.add.at(found, np.array(self.of, np.int64), slopes)
        return found

    def constants_of(self, parameters: tuple[int, ...]) -> tuple[int, ...]:
        """Return the constants that are among some parameters."""
        return tuple(k for k, parameter in enumerate(self.of) if parameter in parameters)


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """The constants of one expression in prefix order, with standard errors and confidence intervals."""

    values: Numbers
    standard_errors: Numbers
    """Infinite for constants that the data do not determine; 0 for those `held`."""
    lower: Numbers
    upper: Numbers
    covariance: Numbers
    degrees_of_freedom: int
    """Rows of nonzero weight, less the directions that the data determine; below 1 the noise is unknown."""
    unidentified: tuple[tuple[int, ...], ...]
    """Groups of constants that can change, together or alone, without changing the values of the expression."""
    held: tuple[int, ...] = ()
    """Constants that were held fixed, as many of each group as it takes for the data to determine the others.

    Of 1/(a*x + b) it is the 1, though it was fitted: a factor that could be written elsewhere has no error of its own.
    """


def uncertainty(expr: Expr, data: Data, *, level: float = 0.95, ties: TiedConstants | None = None) -> Uncertainty:
    """Return standard errors from the slopes at the fit, and confidence intervals by Student's distribution.

    The noise is estimated from the residuals, so weights count by their ratios. If constants are redundant, some are
    held, and the standard errors of the others are conditional on these. `ties` are constants that occur in several
    places.
    """
    return uncertainty_of(LinearisedFit.of(expr, data, ties), level=level)


def uncertainty_of(fit: LinearisedFit, *, level: float = 0.95) -> Uncertainty:
    """Return standard errors and intervals, as `uncertainty` does."""
    from scipy.special import stdtrit

    if not 0 < level < 1:
        raise EdhieError(f"the level of an interval lies between 0 and 1, not at {level}; 0.95 is usual")
    values, precision, freedom = fit.constants, fit.precision, fit.degrees_of_freedom
    parameters = fit.ties.different(values)
    held = fit.svd.held(precision, parameters)
    free = [k for k in range(len(parameters)) if k not in held]
    covariance = np.zeros((len(parameters), len(parameters)))
    with np.errstate(all="ignore"):
        of_free = SlopeSVD.of(fit.triangle.slopes[free])
        covariance[np.ix_(free, free)] = of_free.inverse(precision) * fit.variance
    covariance = covariance[np.ix_(fit.ties.of, fit.ties.of)]  # copies vary as one
    covariance[np.isnan(covariance)] = np.inf  # 0 · ∞: a perfect fit with undetermined constants
    groups = tuple(map(fit.ties.constants_of, fit.svd.unidentified(precision)))
    held = fit.ties.constants_of(held)
    if not np.isfinite(fit.variance):  # nothing is known of the noise
        covariance[:], held = np.inf, ()
    errors = np.sqrt(np.diag(covariance))
    with np.errstate(all="ignore"):
        width = float(stdtrit(freedom, 0.5 + 0.5 * level)) if freedom > 0 else np.inf  # in standard errors
        reach = np.where(errors == 0, 0.0, errors * width)
    return Uncertainty(values, errors, values - reach, values + reach, covariance, freedom, groups, held)


def value_deviations_of(fit: LinearisedFit, expr: Expr, columns: Numbers) -> Numbers:
    """Return the standard error of the expression's value in each row of `columns`, for constants of a fit.

    Constants that the data do not determine one by one may still determine the values. Infinite where they do not;
    NaN where the expression has no value.
    """
    if not expr.constants:
        return np.zeros(columns.shape[1])
    svd, rank = fit.svd, fit.svd.rank(fit.precision)
    with np.errstate(all="ignore"):
        _, there = Response(expr, columns).jacobian(fit.constants)
        scaled = fit.ties.together(there) / svd.scales[:, np.newaxis]
        along = svd.axes[:, :rank].T @ scaled
        outside = scaled - svd.axes[:, :rank] @ along
        lengths = np.linalg.norm(along / svd.singular_values[:rank, np.newaxis], axis=0)
        found: Numbers = np.sqrt(fit.variance) * lengths
        is_lost = np.linalg.norm(outside, axis=0) > ROUNDING * np.linalg.norm(scaled, axis=0)
    return np.where(is_lost, np.inf, found)


class LinearisedFit(NamedTuple):
    """A fit to first order in its parameters, which are its constants without copies."""

    constants: Numbers
    precision: float
    """Relative size of a slope below which it is a rounding error."""
    ties: TiedConstants
    triangle: Triangle
    """Slopes by each parameter, and residuals."""
    svd: SlopeSVD

    @classmethod
    def of(cls, expr: Expr, data: Data | Triangle, ties: TiedConstants | None) -> LinearisedFit:
        """Linearise an expression about its constants, on rows or on those that a triangle was made from."""
        columns = np.ones((len(expr.library.variables), 1)) if isinstance(data, Triangle) else data.columns
        response = Response(expr, columns)
        ties = ties or TiedConstants.none(len(response.constants))
        triangle = data if isinstance(data, Triangle) else linearise(response, data, data.weights, ties)[1]
        return cls(response.constants, response.precision, ties, triangle, SlopeSVD.of(triangle.slopes))

    @property
    def degrees_of_freedom(self) -> int:
        """Rows, less the directions that they determine."""
        return self.triangle.n_rows - self.svd.rank(self.precision)

    @property
    def variance(self) -> float:
        """Variance of the residual of a row of weight 1; infinite without degrees of freedom."""
        freedom = self.degrees_of_freedom
        return self.triangle.squared_error / freedom if freedom > 0 else np.inf


def linearise(
    response: Response, data: Data, weights: Weigh | Numbers | None, ties: TiedConstants, before: Triangle | None = None
) -> tuple[Numbers, Triangle]:
    """Return values on some rows, and the triangle of the slopes and residuals there, and of the rows `before`.

    `weights` may be a function of values and rows, for weights that follow from predictions.
    """
    with np.errstate(all="ignore"):
        values, slopes = response.jacobian(response.constants)
        own = weights(values, data) if callable(weights) else weights
        triangle = before if before is not None and before.n_rows else Triangle.empty(ties.n_different)
        return values, triangle.plus(ties.together(slopes), data.y - values, own)
