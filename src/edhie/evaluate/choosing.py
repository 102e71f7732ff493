"""Which expressions of a call are executed: new ones within the budget, and some of those that are known."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from numpy.typing import NDArray

from edhie.evaluate.explored import Explored
from edhie.evaluate.known import Known
from edhie.expr import Forest


class Call(NamedTuple):
    """What an evaluator was asked."""

    forest: Forest
    writings: list[bytes]
    complexities: NDArray[Any]
    bound: float


def to_execute(call: Call, known: Known, explored: Explored, remaining: float) -> tuple[list[int], list[int]]:
    """The simplest writing of each form that is new, as far as the budget goes, and of each to be seen again."""
    simplest: dict[bytes, int] = {}
    for k, writing in enumerate(call.writings):
        first = simplest.setdefault(known.form_by_writing[writing], k)
        if call.complexities[k] < call.complexities[first]:
            simplest[known.form_by_writing[writing]] = k
    new: list[int] = []
    again: list[int] = []
    for form, k in simplest.items():
        place = known.place_by_form.get(form)
        if place is None:
            if len(new) < remaining:
                new.append(k)
        elif known.bound_by_place.get(place, math.inf) < call.bound or (
            call.complexities[k] < explored.complexities[place] and _is_untried(call, k, known)
        ):
            again.append(k)
    return new, again


def other_writings(call: Call, known: Known, explored: Explored, *, is_screened: bool) -> list[int]:
    """The untried writings of forms without a finite error: they may be defined in more places."""
    errors, chosen = explored.errors, dict[bytes, int]()
    for k, writing in enumerate(call.writings):
        place = known.place_of(writing)
        if place is None or (place in known.bound_by_place and is_screened):
            continue  # of what was screened out, it is not known
        if errors[place] == math.inf and _is_untried(call, k, known):
            chosen.setdefault(writing, k)
    return list(chosen.values())


def _is_untried(call: Call, k: int, known: Known) -> bool:
    return known.tried.get(call.writings[k], -math.inf) < call.bound
