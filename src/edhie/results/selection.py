"""Which expression of a front to show first: rules as pure functions, all of them of errors and complexities alone."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from edhie.errors import SearchError
from edhie.evaluate.data import Data
from edhie.results.candidates import Candidate
from edhie.results.freedom import is_testable
from edhie.results.front import Front

CLOSE = 1.5  # times the least error: what `best` chooses among


def accuracy(front: Front) -> Candidate:
    """The one with the least error."""
    return _filled(front)[len(front) - 1]


def score(front: Front) -> Candidate:
    """Where the logarithm of the error falls the most for each unit of complexity."""
    return _filled(front)[int(np.argmax(drops(front)))]


def best(front: Front) -> Candidate:
    """The one with the greatest `score` among those whose error is close to the least."""
    errors = _filled(front).errors
    is_close = errors <= CLOSE * errors[-1] + front.negligible
    return front[int(np.argmax(np.where(is_close, drops(front), -math.inf)))]


def sparing(front: Front, data: Data) -> Front:
    """The front without what has as many constants as there are rows; where that is all there is, it stays."""
    kept = np.flatnonzero(is_testable(front.candidates.forest, data))
    return Front(front.candidates.take(kept), front.negligible) if len(kept) else front


def drops(front: Front) -> NDArray[np.float64]:
    """By member: how much the logarithm of the error falls from the one before, for each unit of complexity.

    The first falls from nowhere: 0.
    """
    return score_drops(front.errors, front.complexities, front.negligible)


def score_drops(
    errors: NDArray[np.float64], complexities: NDArray[np.float64], negligible: float
) -> NDArray[np.float64]:
    """As `drops`, for errors and complexities by rising complexity; 0 where the complexity stays the same."""
    logs = np.log(_positive(errors, negligible))
    found, steps = np.zeros(len(errors)), np.diff(complexities)
    found[1:] = np.where(steps > 0, -np.diff(logs) / np.where(steps > 0, steps, 1.0), 0.0)
    return found


def _positive(errors: NDArray[np.float64], negligible: float) -> NDArray[np.float64]:
    return np.maximum(errors, max(negligible, float(np.finfo(np.float64).tiny)))


def _filled(front: Front) -> Front:
    if len(front) == 0:
        raise SearchError("the front is empty, so there is nothing to choose; search longer, or with other symbols")
    return front


SELECTION: dict[str, Callable[[Front], Candidate]] = {"accuracy": accuracy, "score": score, "best": best}
"""The rules that need nothing else, by name."""
