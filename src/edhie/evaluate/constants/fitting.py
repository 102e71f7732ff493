"""Fits of the constants of many expressions at once, by least squares; `FitConfig`: the effort spent on them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from edhie.arrays import Flags, Indices, Numbers
from edhie.errors import EdhieError
from edhie.evaluate.data import Data, few_rows
from edhie.evaluate.losses import Loss
from edhie.evaluate.machine.program import plan
from edhie.evaluate.numbers import check_whole
from edhie.evaluate.parallel import parallel_for
from edhie.evaluate.values import check_columns, squared_errors, target_of, values, with_custom_operators
from edhie.expr import Forest
from edhie.expr.symbols import NUMBER

HOPELESS = 4.0  # times the bound on the mean square: above it on the sample, an expression is not fitted to all rows


@dataclass(frozen=True)
class FitConfig:
    """Settings of a fit of constants by least squares."""

    points: int = 16
    """Points tried: all ones, the data's scales, then at random; linear expressions need one. 0: given values alone."""
    starts: int = 3
    """Number of descents, from the best of these points."""
    rounds: int = 1
    """Largest number of rounds, each with other points; six rounds that end in the same error are enough."""
    iterations: int = 20
    """Largest number of steps from each start."""
    tolerance: float = 1e-8
    """Relative decrease of the sum of squares below which a step is the last."""
    enough: float = 1e-24
    """Share of the target's sum of squares below which the error is rounding, and the fit ends."""
    rows: int | None = 2000
    """Number of rows on which starts are tried, spread over the target; the best is fitted to all. None for all."""
    lower: float = -math.inf
    """Lower bound of constants."""
    upper: float = math.inf
    """Upper bound of constants."""
    seed: int = 0
    """Seed of the random points."""

    def __post_init__(self) -> None:
        for name, least in (("points", 0), ("starts", 1), ("rounds", 1), ("iterations", 1), ("seed", 0)):
            check_whole(name, getattr(self, name), least)
        if self.rows is not None:
            check_whole("rows", self.rows, 1, or_none="all rows")
        if not self.lower < self.upper:
            raise EdhieError(f"lower must be below upper: they are {self.lower} and {self.upper}")
        for name in ("tolerance", "enough"):
            if not 0 <= getattr(self, name) < math.inf:
                raise EdhieError(f"{name} is a share, 0 or more, not {getattr(self, name)}")


CHEAP = FitConfig()
"""A fit for the many expressions of a search."""
THOROUGH = FitConfig(points=500, starts=10, rounds=20, iterations=200, tolerance=1e-14)
"""A fit for the few expressions that matter."""
CAREFUL = FitConfig(points=300, starts=8, iterations=60, tolerance=1e-12, rows=None)
"""A fit for hundreds of curves, each with a few constants."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """Expressions with fitted constants, and their sums of squared residuals."""

    forest: Forest
    squared_errors: Numbers
    is_cut: Flags
    """True where a sample of the rows showed that the error exceeds the bound; it is then infinite."""


def fit_constants(forest: Forest, data: Data, *, config: FitConfig = CHEAP, bound: float = math.inf) -> Fitted:
    """Fit every constant by least squares.

    If all constants of an expression have values, they are one more start. Constants in which an expression is linear
    are solved for by linear least squares. Expressions that cannot be fitted (no start with finite values) have an
    infinite error, and so may those above the `bound`, a sum of squares. Neither the order of the expressions nor the
    number of threads changes a fit.
    """
    check_columns(forest, data.columns)
    sample = data if config.rows is None else few_rows(data, config.rows)
    fitted, errors = _search(forest, sample, config)
    is_cut = np.zeros(len(forest), np.bool_)
    if sample is not data:  # from the sample's optimum to that of all rows
        last = replace(config, points=min(config.points, 1), starts=1, rounds=1)
        is_cut = errors / sample.total_weight > HOPELESS * bound / data.total_weight
        errors[is_cut] = np.inf
        rest = np.flatnonzero(~is_cut)
        again, errors[rest] = _search(fitted.take(rest), data, last)
        fitted = with_parts(fitted, rest, again)
    return Fitted(fitted, errors, is_cut)


def fit_missing(forest: Forest, data: Data, *, config: FitConfig = CHEAP, bound: float = math.inf) -> Fitted:
    """Fit as `fit_constants` does, but keep constants that have a value."""
    fixed = with_numbers(forest, ~np.isnan(forest.values))
    done = fit_constants(fixed, data, config=config, bound=bound)
    return replace(done, forest=forest.with_values(done.forest.values))


def with_numbers(forest: Forest, is_number: Flags) -> Forest:
    """Return the forest with some of its values as numbers, which no fit changes."""
    if not is_number.any():
        return forest
    library, tokens = forest.library.with_numbers(), forest.tokens.copy()
    tokens[np.flatnonzero(forest.library.has_slot[tokens])[is_number]] = library.ids[NUMBER.name]
    return Forest(library, tokens, forest.offsets, forest.values)


def _search(forest: Forest, data: Data, config: FitConfig) -> tuple[Forest, Numbers]:
    from edhie.evaluate.constants.least_squares import Effort, fit
    from edhie.evaluate.constants.starts import leaf_scales

    program, target = plan(forest), target_of(data)
    scales = leaf_scales(program, data.columns)
    errors, leaves = np.full(len(forest), np.inf), program.leaf_values.copy()
    effort = Effort(
        float(config.lower), float(config.upper), config.points, config.starts, config.rounds, config.iterations,
        float(config.tolerance), config.enough * data.squares_to_explain, config.seed,
    )  # fmt: skip
    parallel_for(partial(fit, program, scales, target, effort, errors, leaves), len(forest))
    of_leaves = forest.tokens[forest.library.is_number[forest.tokens]]
    has_value = forest.library.has_slot[of_leaves]
    fitted = forest.with_values(leaves[has_value])
    custom = with_custom_operators(forest)
    if len(custom):
        from edhie.evaluate.constants.custom_fit import fit_custom

        fitted, errors = fit_custom(fitted, errors, custom, data, config)
    return fitted, errors


def with_parts(forest: Forest, places: Indices, parts: Forest) -> Forest:
    """Return the forest with the expressions at `places` replaced by `parts`."""
    order = np.arange(len(forest))
    order[places] = len(forest) + np.arange(len(places))
    return Forest.concatenate([forest, parts]).take(order)


# -- fits and scores -------------------------------------------------------------------

VALUES_AT_ONCE = 4_000_000  # numbers, 32 MB: held at a time for losses that need values


def fit_and_score(
    forest: Forest, data: Data, loss: Loss, config: FitConfig, *, bound: float
) -> tuple[Forest, Numbers, Flags]:
    """Return the expressions with fitted constants, their errors, and which were only found to be above the bound."""
    to_fit = np.unique(forest.value_owners[np.isnan(forest.values)])
    plain = np.setdiff1d(np.arange(len(forest)), to_fit, assume_unique=True)
    limit = np.inf if loss.to_sum_of_squares is None else float(loss.to_sum_of_squares(bound, data))
    squares, is_cut = np.empty(len(forest)), np.zeros(len(forest), np.bool_)
    fitted = forest
    if len(to_fit):
        done = fit_missing(forest.take(to_fit), data, config=config, bound=limit)
        squares[to_fit], is_cut[to_fit] = done.squared_errors, done.is_cut
        fitted = with_parts(forest, to_fit, done.forest)
    if loss.from_sum_of_squares is None:
        return fitted, _errors_by_values(fitted, data, loss), is_cut
    squares[plain] = squared_errors(forest.take(plain), data, bounds=limit)
    is_cut[plain] = np.isinf(squares[plain]) & np.isfinite(limit)
    return fitted, loss.from_sum_of_squares(squares, data), is_cut


def _errors_by_values(forest: Forest, data: Data, loss: Loss) -> Numbers:
    """Return the loss of each expression; infinite for those whose constants could not be fitted."""
    errors = np.full(len(forest), np.inf)
    whole = np.setdiff1d(np.arange(len(forest)), forest.value_owners[np.isnan(forest.values)])
    step = max(1, VALUES_AT_ONCE // data.n_rows)
    for start in range(0, len(whole), step):
        part = whole[start : start + step]
        found = values(forest.take(part), data.columns)
        errors[part] = [loss.of_values(data.y, row, data.weights) for row in found]
    return errors
