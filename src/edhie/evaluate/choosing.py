"""The choice of expressions to execute: new ones within the budget, and some of those that are known."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.explored import Explored
from edhie.evaluate.hash_table import Indices
from edhie.evaluate.known import Known
from edhie.expr import Forest


class Request(NamedTuple):
    """Expressions to be scored."""

    forest: Forest
    writings: Indices
    """Row of each expression's writing in `Known.writings`."""
    forms: Indices
    """Row of each expression's form in `Known.forms`."""
    complexities: NDArray[Any]
    bound: float


def to_execute(request: Request, known: Known, explored: Explored, remaining: float) -> tuple[Indices, Indices]:
    """Return the simplest writing of each new form, as far as the budget goes, and of each form to execute again."""
    simplest = _simplest(request.forms, request.complexities)
    places = known.forms["place"][request.forms[simplest]]
    is_new = places < 0
    new, seen, places = simplest[is_new], simplest[~is_new], places[~is_new]
    is_cut_short = known.forms["bound"][request.forms[seen]] < request.bound  # exact ones have NaN there
    is_simpler = request.complexities[seen] < explored.complexities[places]
    again = seen[is_cut_short | (is_simpler & _is_untried(request, seen, known))]
    return new[: int(max(0, min(remaining, len(new))))], again


def _simplest(forms: Indices, complexities: NDArray[Any]) -> Indices:
    """Return the first of the least complex of each form, in the order in which forms come."""
    if len(forms) == 0:
        return np.zeros(0, np.int64)
    order = np.lexsort((complexities, forms))
    starts = np.flatnonzero(np.append(True, np.diff(forms[order]) != 0))
    return order[starts][np.argsort(np.minimum.reduceat(order, starts))]


def other_writings(request: Request, known: Known, explored: Explored) -> Indices:
    """Return the untried writings of forms without a finite error: they may be defined in more places."""
    places = known.forms["place"][request.forms]
    seen = np.flatnonzero(places >= 0)
    invalid = seen[explored.errors[places[seen]] == math.inf]
    untried = invalid[_is_untried(request, invalid, known)]
    _, first = np.unique(request.writings[untried], return_index=True)
    chosen: Indices = untried[np.sort(first)]
    return chosen


def _is_untried(request: Request, chosen: Indices, known: Known) -> NDArray[np.bool_]:
    is_untried: NDArray[np.bool_] = known.writings["tried"][request.writings[chosen]] < request.bound
    return is_untried
