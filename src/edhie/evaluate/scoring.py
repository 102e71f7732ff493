"""Fitting and scoring a forest: constants without a value are fitted, then the loss is computed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.constants.fitting import FitConfig, fit_missing, with_parts
from edhie.evaluate.data import Data
from edhie.evaluate.losses import Loss
from edhie.evaluate.values import squared_errors, values
from edhie.expr import Forest

VALUES_AT_ONCE = 4_000_000  # numbers, 32 MB: held at a time for losses that need values


class Executed(NamedTuple):
    """The result of executing a forest."""

    forest: Forest
    """The expressions with their constants fitted."""
    errors: NDArray[np.float64]
    is_exact: NDArray[np.bool_]
    """False for expressions that were only found to be worse than the bound."""


def fit_and_score(forest: Forest, data: Data, loss: Loss, config: FitConfig, *, bound: float) -> Executed:
    """Fit and score a forest; an error above the bound may be infinite."""
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
        return Executed(fitted, _errors_by_values(fitted, data, loss), ~is_cut)
    squares[plain] = squared_errors(forest.take(plain), data, bounds=limit)
    is_cut[plain] = np.isinf(squares[plain]) & np.isfinite(limit)
    return Executed(fitted, loss.from_sum_of_squares(squares, data), ~is_cut)


def _errors_by_values(forest: Forest, data: Data, loss: Loss) -> NDArray[np.float64]:
    """Return the loss of each expression; infinite for those whose constants could not be fitted."""
    errors = np.full(len(forest), np.inf)
    whole = np.setdiff1d(np.arange(len(forest)), forest.value_owners[np.isnan(forest.values)])
    step = max(1, VALUES_AT_ONCE // data.n_rows)
    for start in range(0, len(whole), step):
        part = whole[start : start + step]
        found = values(forest.take(part), data.columns)
        errors[part] = [loss.of_values(data.y, row, data.weights) for row in found]
    return errors
