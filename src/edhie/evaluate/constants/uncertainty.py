"""How well data determine constants: standard errors, intervals, and what cannot be told apart."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from edhie.errors import EdhieError
from edhie.evaluate.constants.config import FitConfig
from edhie.evaluate.constants.directions import Directions
from edhie.evaluate.constants.fitting import fit_constants
from edhie.evaluate.constants.jacobian import Response
from edhie.evaluate.constants.ties import Ties
from edhie.evaluate.data import Data
from edhie.expr import Expr, Forest
from edhie.expr.numerals import numeral

Numbers = NDArray[np.float64]

FROM_THE_FIT = FitConfig(points=0, starts=1, iterations=100, tolerance=1e-10, rows=None)


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """The constants of one expression in prefix order, and how far they may be from the truth."""

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
    """Of each group as many as have to be given for the data to determine the others: of 1/(a*x + b) the 1, though
    it was fitted. As a factor that could be written elsewhere, it has no error of its own."""


def uncertainty(expr: Expr, data: Data, *, level: float = 0.95, ties: Ties | None = None) -> Uncertainty:
    """Standard errors from the slopes at the fit, and Student's intervals around it.

    The noise is estimated from what the fit leaves over, so weights count by their ratios. Where constants are one too
    many, some are held, and the errors of the others are those of a fit with these given. `ties` are constants that
    are one in several places.
    """
    _check_level(level)
    response = Response(expr, data.columns)
    fit = response.constants
    values, slopes = response.jacobian(fit)
    ties = ties or Ties.none(len(fit))
    slopes = ties.together(slopes)
    weights = np.ones(data.n_rows) if data.weights is None else data.weights
    directions = Directions.of(slopes, weights)
    freedom = int(np.count_nonzero(weights)) - directions.rank(response.precision)
    groups = ties.everywhere(directions.unidentified(response.precision))
    held = directions.held(response.precision, ties.different(fit))
    free = [k for k in range(ties.n_different) if k not in held]
    with np.errstate(all="ignore"):
        variance = float(weights @ np.square(data.y - values)) / freedom if freedom > 0 else np.inf
        covariance = np.zeros((ties.n_different, ties.n_different))
        covariance[np.ix_(free, free)] = Directions.of(slopes[free], weights).inverse(response.precision) * variance
    covariance, (held,) = ties.apart(covariance), ties.everywhere((held,))
    covariance[np.isnan(covariance)] = np.inf  # 0 · ∞: a perfect fit of what is not determined
    if not np.isfinite(variance):  # nothing is known of the noise
        covariance[:], held = np.inf, ()
    errors = np.sqrt(np.diag(covariance))
    with np.errstate(all="ignore"):
        reach = np.where(errors == 0, 0.0, errors * _students(freedom, level))
    return Uncertainty(fit, errors, fit - reach, fit + reach, covariance, freedom, groups, held)


def bootstrap(expr: Expr, data: Data, *, n: int = 200, level: float = 0.95, rng: np.random.Generator) -> Uncertainty:
    """Standard errors and percentile intervals from `n` fits to rows drawn with replacement.

    It trusts neither straight slopes nor equal noise, but takes n times as long. Each fit begins
    where the expression's constants are; those without a finite error are left out. What `uncertainty` holds is
    held here, too.
    """
    _check_level(level)
    if n < 2:
        raise EdhieError(f"a bootstrap needs at least 2 fits, not {n}; 200 and more are usual")
    by_slopes = uncertainty(expr, data, level=level)
    samples = np.tile(by_slopes.values, (n, 1))
    free = [k for k in range(len(by_slopes.values)) if k not in by_slopes.held]
    varied = _with_given(expr, by_slopes.held)
    samples[:, free] = np.array([_refitted(varied, data, rng) for _ in range(n)]).reshape(n, len(free))
    samples = samples[np.isfinite(samples).all(axis=1)]
    lost = ~np.isfinite(by_slopes.standard_errors)
    if len(samples) < 2:
        lost[:] = True
        samples = np.tile(by_slopes.values, (2, 1))
    with np.errstate(all="ignore"):  # squares of huge constants are beyond float64
        covariance = np.atleast_2d(np.cov(samples, rowvar=False)) if samples.shape[1] else np.empty((0, 0))
    covariance[np.isnan(covariance)] = np.inf
    covariance[lost, :] = np.inf
    covariance[:, lost] = np.inf
    tail = 50.0 * (1.0 - level)
    lower, upper = np.percentile(samples, [tail, 100.0 - tail], axis=0)
    return Uncertainty(
        by_slopes.values,
        np.sqrt(np.diag(covariance)),
        np.where(lost, -np.inf, lower),
        np.where(lost, np.inf, upper),
        covariance,
        by_slopes.degrees_of_freedom,
        by_slopes.unidentified,
        by_slopes.held,
    )


def _with_given(expr: Expr, held: tuple[int, ...]) -> Expr:
    """The expression with numbers for the constants that are held."""
    if not held:
        return expr
    library = expr.library.with_numbers()
    tokens, constants, k = [], [], 0
    for token in expr.tokens:
        if token != expr.library.constant:
            tokens.append(token)
            continue
        value = expr.constants[k]
        tokens.append(numeral(value or 0.0) if k in held else token)
        constants += [] if k in held else [value]
        k += 1
    return Expr(library, tokens, constants)


def _refitted(expr: Expr, data: Data, rng: np.random.Generator) -> Numbers:
    """The constants that fit rows drawn with replacement; NaN where they cannot be fitted."""
    counting = np.ones(data.n_rows) if data.weights is None else (data.weights > 0).astype(np.float64)
    # a row drawn twice counts twice: the same as two rows, and nothing is copied
    weights = rng.multinomial(int(counting.sum()), counting / counting.sum()).astype(np.float64)
    if data.weights is not None:
        weights *= data.weights
    drawn = replace(data, weights=weights)
    fitted = fit_constants(Forest.from_exprs([expr]), drawn, config=FROM_THE_FIT)
    constants = np.array(fitted.forest[0].constants, dtype=np.float64)
    return constants if np.isfinite(fitted.squared_errors[0]) else np.full(len(constants), np.nan)


def _students(freedom: int, level: float) -> float:
    """How many standard errors an interval reaches to either side."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.5 + 0.5 * level)) if freedom > 0 else np.inf


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise EdhieError(f"the level of an interval lies between 0 and 1, not at {level}; 0.95 is usual")
