"""Selection for prediction: the member of a Pareto front with the least error on rows that it was not fitted to."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.data import Data
from edhie.evaluate.losses import Loss
from edhie.evaluate.values import values
from edhie.expr import Forest
from edhie.results.candidates import Candidate
from edhie.results.front import Front
from edhie.selection.between_rows import neighbours, unreliable_bits

Numbers = NDArray[np.float64]
Refit = Callable[[Forest, Data], Forest]
FOLDS = 10
FOLD_SEED = 0  # the same folds whatever the seed of the search, so that results can be compared


def most_predictive(front: Front, data: Data, loss: Loss, *, held_out: Data | None, refit: Refit | None) -> Candidate:
    """Return the member with the least error on unseen rows, the simplest of equals.

    Without held-out rows, errors are cross-validated by `refit`, which fits constants from their present values, or are
    those of the front if that is None. A member with a pole between rows, or an oscillation that the rows cannot
    resolve, is chosen only if all have one.
    """
    forest, errors = front.candidates.forest, front.errors
    with np.errstate(all="ignore"):
        if held_out is not None:
            errors = _errors(values(forest, held_out.columns), held_out, loss)
        elif refit is not None and len(data.counting_rows) > 1:
            errors = cross_validated(forest, data, loss, refit)
        is_smooth = (unreliable_bits(forest, data, neighbours(data)) == 0) & np.isfinite(errors)
    errors = np.where(is_smooth, errors, np.inf) if is_smooth.any() else errors
    return front[int(np.flatnonzero(errors <= errors.min() + front.negligible)[0])]


def cross_validated(forest: Forest, data: Data, loss: Loss, refit: Refit) -> Numbers:
    """Return the cross-validated error of each expression: each fold is predicted with constants fitted to the others.

    It is infinite if the expression has no value in a row. Rows of weight 0 are left out.
    """
    rows = data.take(data.counting_rows)
    predicted = np.empty((len(forest), rows.n_rows))
    for fold in folds(rows.n_rows):
        predicted[:, fold] = values(refit(forest, rows.take(~fold)), rows.take(fold).columns)
    return _errors(predicted, rows, loss)


def folds(n_rows: int) -> list[NDArray[np.bool_]]:
    """Return the rows of each fold as a mask; every row is in one fold, and folds differ by one row at most."""
    count = min(FOLDS, n_rows)
    owners = np.random.default_rng(FOLD_SEED).permutation(np.arange(n_rows) % count)
    return [owners == fold for fold in range(count)]


def _errors(predicted: Numbers, data: Data, loss: Loss) -> Numbers:
    return np.array([loss.of_values(data.y, row, data.weights) for row in predicted])
