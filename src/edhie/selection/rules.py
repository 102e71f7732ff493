"""Rules that select an equation: by errors and complexities alone (score, best), or for prediction (accuracy)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from edhie.arrays import Flags, Numbers
from edhie.errors import SearchError
from edhie.evaluate.constants.jacobian import constants_among_values
from edhie.evaluate.data import Data
from edhie.evaluate.losses import LOSSES, Loss
from edhie.evaluate.values import values
from edhie.expr import Forest
from edhie.results.candidates import Candidate, Front
from edhie.selection.between_rows import POLE, unreliable_bits

CLOSE = 1.5  # times the least error: the members that `best` chooses among
Refit = Callable[[Forest, Data], Forest]
FOLDS = 10
FOLD_SEED = 0  # the same folds whatever the seed of the search, so that results can be compared
STANDARD_ERRORS = 1.0  # of the difference to the least error, up to which an error is not clearly larger


def score(front: Front) -> Candidate:
    """Return the member with the greatest score."""
    return _nonempty(front)[int(np.argmax(scores_of(front)))]


def best(front: Front) -> Candidate:
    """Return the member with the greatest score among those whose error is close to the least."""
    errors = _nonempty(front).errors
    is_close = errors <= CLOSE * errors[-1] + front.negligible
    return front[int(np.argmax(np.where(is_close, scores_of(front), -np.inf)))]


SELECTION: dict[str, Callable[[Front], Candidate]] = {"score": score, "best": best}
"""The rules by name."""


def scores_of(front: Front) -> Numbers:
    """Return the score of each member of a front."""
    return scores(front.errors, front.complexities, front.negligible)


def scores(errors: Numbers, complexities: Numbers, negligible: float) -> Numbers:
    """Return the decrease of the log error from each expression to the next, per unit of complexity.

    Complexities are in ascending order. The score is 0 for the first, and where the complexity stays the same.
    """
    logs = np.log(np.maximum(errors, max(negligible, float(np.finfo(np.float64).tiny))))
    found, steps = np.zeros(len(errors)), np.diff(complexities)
    found[1:] = np.where(steps > 0, -np.diff(logs) / np.where(steps > 0, steps, 1.0), 0.0)
    return found


def without_interpolation(front: Front, data: Data) -> Front:
    """Return the front without expressions that have as many constants as rows; unchanged if no other is left."""
    kept = np.flatnonzero(is_testable(front.candidates.forest, data))
    return Front(front.candidates.take(kept), front.negligible) if len(kept) else front


def is_testable(forest: Forest, data: Data) -> Flags:
    """Return for each expression whether it has no constants, or fewer than there are rows of nonzero weight."""
    counts = np.bincount(forest.value_owners[constants_among_values(forest)], minlength=len(forest))
    return np.asarray((counts == 0) | (counts < len(data.counting_rows)))


def _nonempty(front: Front) -> Front:
    if len(front) == 0:
        raise SearchError("the front is empty, so there is nothing to choose; search longer, or with other symbols")
    return front


# -- for prediction -----------------------------------------------------------------------


def most_predictive(
    forest: Forest,
    sizes: Numbers,
    data: Data,
    loss: Loss,
    *,
    held_out: Data | None = None,
    refit: Refit | None = None,
    negligible: float = 0.0,
) -> int:
    """Return the position of the simplest expression whose error on unseen rows is not clearly larger than the least.

    The expression with the least error on unseen rows is often a long one that won by chance, and a long expression may
    be far off where it has seen no rows. So the one-standard-error rule of cross-validation is used (Breiman and
    others, 1984, *Classification and Regression Trees*).

    `sizes` are the complexities. Errors are those of ten folds of the held-out rows; without such rows, each fold of
    the data is predicted with constants that `refit` fits to the others, from their present values. Without `refit`,
    constants stay as they are. An error is not clearly larger if the mean difference over the folds is at most one
    standard error, or `negligible`. An expression with a pole between rows, or an oscillation that the rows cannot
    resolve, is chosen only if all have one.
    """
    if loss.from_sum_of_squares is not None and loss.to_sum_of_squares is not None:
        rmse = LOSSES["rmse"]  # in the same order as any other loss of squares, and defined in a fold of one row
        assert rmse.from_sum_of_squares is not None
        negligible = float(rmse.from_sum_of_squares(loss.to_sum_of_squares(negligible, data), data))
        loss = rmse
    with np.errstate(all="ignore"):
        if held_out is not None or len(data.counting_rows) == 1:
            refit = None
        errors = cross_validated(forest, held_out or data, loss, refit)
        is_sound = (unreliable_bits(forest, data) < POLE) & np.isfinite(errors).all(axis=1)
        if not is_sound.any():
            is_sound = np.ones(len(forest), np.bool_)
        means = np.where(is_sound, errors.mean(axis=1), np.inf)
        more = errors - errors[np.argmin(means)]
        deviations = more.std(axis=1, ddof=1) if errors.shape[1] > 1 else np.zeros(len(forest))
        clearly = STANDARD_ERRORS * deviations / np.sqrt(errors.shape[1])
        is_good = is_sound & ~(more.mean(axis=1) > np.maximum(clearly, negligible))
    return int(np.lexsort((means, sizes, ~is_good))[0])


def cross_validated(forest: Forest, data: Data, loss: Loss, refit: Refit | None) -> Numbers:
    """Return (expressions, folds) errors, each fold predicted with constants fitted to the others.

    Without `refit`, constants stay as they are. An error is infinite if the expression has no value in a row. Rows of
    weight 0 are left out.
    """
    rows = data.take(data.counting_rows)
    errors = []
    for fold in folds(rows.n_rows):
        fitted, part = forest if refit is None else refit(forest, rows.take(~fold)), rows.take(fold)
        errors.append([loss.of_values(part.y, row, part.weights) for row in values(fitted, part.columns)])
    return np.stack(errors, axis=1)


def folds(n_rows: int) -> list[Flags]:
    """Return the rows of each fold as a mask; every row is in one fold, and folds differ by one row at most."""
    count = min(FOLDS, n_rows)
    owners = np.random.default_rng(FOLD_SEED).permutation(np.arange(n_rows) % count)
    return [owners == fold for fold in range(count)]
