"""Fit the constants of many expressions at once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.constants.config import CHEAP, FitConfig
from edhie.evaluate.data import Data
from edhie.evaluate.program import plan, with_custom_operators
from edhie.evaluate.rows import spread_rows
from edhie.evaluate.threads import spread
from edhie.evaluate.values import check_columns, target_of
from edhie.expr import Forest

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Fitted:
    """Expressions with the values of their constants, and the sums of squares that these leave."""

    forest: Forest
    squared_errors: Numbers


def fit_constants(forest: Forest, data: Data, *, config: FitConfig = CHEAP, threads: int | None = 1) -> Fitted:
    """Every constant by least squares; those that have a value begin there, as one start more.

    Expressions that are linear in their constants have a closed form. What cannot be fitted (no
    start with finite values) keeps an infinite error. Neither the order of the expressions nor
    the number of threads changes a fit.
    """
    check_columns(forest, data.columns)
    sample = data.take(spread_rows(data.y, config.rows)) if config.rows and config.rows < data.n_rows else data
    fitted, errors = _search(forest, sample, config, threads)
    if sample is not data:  # from the sample's optimum to that of all rows
        fitted, errors = _search(fitted, data, replace(config, points=min(config.points, 1), starts=1), threads)
    if config.integers:
        from edhie.evaluate.constants.rounding import round_to_integers

        fitted, errors = round_to_integers(fitted, errors, data, config.slack, lower=config.lower, upper=config.upper)
    return Fitted(fitted, errors)


def _search(forest: Forest, data: Data, config: FitConfig, threads: int | None) -> tuple[Forest, Numbers]:
    from edhie.evaluate.constants.least_squares import Effort, fit
    from edhie.evaluate.constants.scales import leaf_scales

    program, target = plan(forest, keep=True), target_of(data)
    scales = leaf_scales(program, data.columns)
    errors, leaves = np.full(len(forest), np.inf), program.leaf_values.copy()
    effort = Effort(
        float(config.lower), float(config.upper), config.points, config.starts, config.iterations,
        float(config.tolerance), config.enough * total_squares(data), config.seed,
    )  # fmt: skip
    spread(lambda start, stop: fit(program, scales, target, effort, start, stop, errors, leaves), len(forest), threads)
    fitted = with_leaves(forest, leaves)
    custom = with_custom_operators(forest)
    if len(custom):
        from edhie.evaluate.constants.custom import fit_custom

        fitted, errors = fit_custom(fitted, errors, custom, data, config)
    return fitted, errors


def with_leaves(forest: Forest, leaves: Numbers) -> Forest:
    """The forest with its constants and numbers from the leaves of its program."""
    library = forest.library
    is_leaf = (library.arities == 0) & ~np.isin(np.arange(len(library)), [library.ids[v] for v in library.variables])
    has_value = library.has_slot[forest.tokens[is_leaf[forest.tokens]]]
    return Forest(library, forest.tokens, forest.offsets, np.ascontiguousarray(leaves[has_value]))


def total_squares(data: Data) -> float:
    """The weighted sum of squares of the target around its mean, or around 0 where it is constant."""
    weights = np.ones(data.n_rows) if data.weights is None else data.weights
    around = float(weights @ (data.y - np.average(data.y, weights=weights)) ** 2)
    return around if around > 0 else float(weights @ data.y**2)
