"""Rules that select a member of a Pareto front by errors and complexities alone: score, best."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from edhie.errors import SearchError
from edhie.evaluate.constants.jacobian import constants_among_values
from edhie.evaluate.data import Data
from edhie.expr import Forest
from edhie.results.candidates import Candidate
from edhie.results.front import Front

CLOSE = 1.5  # times the least error: the members that `best` chooses among


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


def scores_of(front: Front) -> NDArray[np.float64]:
    """Return the score of each member of a front."""
    return scores(front.errors, front.complexities, front.negligible)


def scores(errors: NDArray[np.float64], complexities: NDArray[np.float64], negligible: float) -> NDArray[np.float64]:
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


def is_testable(forest: Forest, data: Data) -> NDArray[np.bool_]:
    """Return for each expression whether it has no constants, or fewer than there are rows of nonzero weight."""
    counts = np.bincount(forest.value_owners[constants_among_values(forest)], minlength=len(forest))
    return np.asarray((counts == 0) | (counts < len(data.counting_rows)))


def _nonempty(front: Front) -> Front:
    if len(front) == 0:
        raise SearchError("the front is empty, so there is nothing to choose; search longer, or with other symbols")
    return front
