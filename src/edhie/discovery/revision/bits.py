"""How many bits it takes to tell data by a formula that is known and what changes in it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate import Data, FitConfig, fit_constants, values
from edhie.expr import Expr, Forest
from edhie.results.description import Criterion, description_bits, joined_rows

Numbers = NDArray[np.float64]
FROM_HERE = FitConfig(points=0, starts=1, iterations=30, rows=None)
ROUNDS = 2
MOST_CONSTANTS = 12  # with more, fitting them a second time takes long
SMALLEST = 1e-3  # of the greatest prediction: below that, noise is not in proportion to it


def revision_bits(
    exprs: Sequence[Expr], distances: Sequence[int], original: Expr, data: Data, validation: Data | None
) -> Numbers:
    """As `description_bits`, but of an expression only what is new is told.

    A form is judged by the constants that suit its kind of noise best: those it has, or those fitted by relative error.
    """
    forest = Forest.from_exprs(exprs)
    judged, criterion = joined_rows(data, validation), Criterion()
    told = description_bits(forest, judged, criterion)
    if len(original.constants) <= MOST_CONSTANTS:
        told = np.fmin(told, description_bits(_by_relative_error(forest, data), judged, criterion))
    structure = criterion.prior.bits(forest)
    own = criterion.prior.bits(Forest.from_exprs([original]))[0]
    new = np.asarray(distances) * math.log2(max(len(forest.library), 2)) + np.maximum(structure - own, 0.0)
    return np.asarray(told - structure + new, np.float64)


def _by_relative_error(forest: Forest, data: Data) -> Forest:
    """Each with constants for which rows count by their share of its own prediction."""
    for _ in range(ROUNDS):  # predictions change with constants
        with np.errstate(all="ignore"):
            predicted = np.abs(values(forest, data.columns))
        fitted = [_weighted(forest.take([k]), sizes, data) for k, sizes in enumerate(predicted)]
        forest = Forest.concatenate(fitted)
    return forest


def _weighted(one: Forest, sizes: Numbers, data: Data) -> Forest:
    if len(one.values) == 0 or not np.isfinite(sizes).all() or not sizes.any():
        return one
    weights = np.square(sizes.max() / np.maximum(sizes, SMALLEST * sizes.max()))
    weights = weights if data.weights is None else weights * data.weights
    fitted = fit_constants(one, replace(data, weights=weights / weights.mean()), config=FROM_HERE).forest
    return one if np.isnan(fitted.values).any() else fitted
