"""Which expressions of a call are executed: new ones within the budget, and some of those that are known."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.explored import Explored
from edhie.evaluate.key_table import Indices
from edhie.evaluate.known import Known
from edhie.expr import Forest


class Call(NamedTuple):
    """What an evaluator was asked."""

    forest: Forest
    writings: Indices
    """By expression: its writing, a row of what is known."""
    forms: Indices
    """By expression: its form, a row of what is known."""
    complexities: NDArray[Any]
    bound: float


def to_execute(call: Call, known: Known, explored: Explored, remaining: float) -> tuple[Indices, Indices]:
    """The simplest writing of each form that is new, as far as the budget goes, and of each to be seen again."""
    simplest = _simplest(call.forms, call.complexities)
    places = known.forms["place"][call.forms[simplest]]
    is_new = places < 0
    new, seen, places = simplest[is_new], simplest[~is_new], places[~is_new]
    is_cut_short = known.forms["bound"][call.forms[seen]] < call.bound  # exact ones have NaN there
    is_simpler = call.complexities[seen] < explored.complexities[places]
    again = seen[is_cut_short | (is_simpler & _is_untried(call, seen, known))]
    return new[: int(max(0, min(remaining, len(new))))], again


def _simplest(forms: Indices, complexities: NDArray[Any]) -> Indices:
    """The first of the least complex of each form, in the order in which forms come."""
    if len(forms) == 0:
        return np.zeros(0, np.int64)
    order = np.lexsort((complexities, forms))
    starts = np.flatnonzero(np.append(True, np.diff(forms[order]) != 0))
    return order[starts][np.argsort(np.minimum.reduceat(order, starts))]


def other_writings(call: Call, known: Known, explored: Explored, *, is_screened: bool) -> Indices:
    """The untried writings of forms without a finite error: they may be defined in more places."""
    places = known.forms["place"][call.forms]
    seen = np.flatnonzero(places >= 0)
    open_ones = seen[explored.errors[places[seen]] == math.inf]
    open_ones = open_ones[_is_untried(call, open_ones, known)]
    if is_screened:  # of what was screened out, it is not known
        open_ones = open_ones[np.isnan(known.forms["bound"][call.forms[open_ones]])]
    _, first = np.unique(call.writings[open_ones], return_index=True)
    chosen: Indices = open_ones[np.sort(first)]
    return chosen


def _is_untried(call: Call, chosen: Indices, known: Known) -> NDArray[np.bool_]:
    is_untried: NDArray[np.bool_] = known.writings["tried"][call.writings[chosen]] < call.bound
    return is_untried
