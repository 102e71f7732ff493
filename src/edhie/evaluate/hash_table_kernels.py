"""Compiled: the hash table of `KeyTable`, and the choice of the expression that stands for a form."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from edhie.arrays import Flags, Indices, Numbers
from edhie.expr.jit import copy_to, jit, jit_inner

Keys = NDArray[np.uint64]


@jit_inner
def slot_of(key: Keys, stored: Keys, count: int, slots: Indices) -> int:
    """Return the slot of a key's row, or an empty one; slots of rows from `count` on are passed over."""
    mask = np.uint64(len(slots) - 1)
    at = key[0] & mask
    while True:
        row = slots[at]
        if row < 0 or (row < count and stored[row, 0] == key[0] and stored[row, 1] == key[1]):
            return int(at)
        at = (at + np.uint64(1)) & mask


@jit
def find(keys: Keys, stored: Keys, count: int, slots: Indices) -> Indices:
    """Return the rows of keys among the first `count` stored, -1 where there is none."""
    rows = np.empty(len(keys), np.int64)
    for k in range(len(keys)):
        rows[k] = slots[slot_of(keys[k], stored, count, slots)]
    return rows


@jit
def insert(keys: Keys, stored: Keys, count: int, slots: Indices) -> tuple[Indices, Indices]:
    """Return the rows of keys, added where there was none, and the indices of new keys; there must be room."""
    rows, new = np.empty(len(keys), np.int64), np.empty(len(keys), np.int64)
    n_new = 0
    for k in range(len(keys)):
        at = slot_of(keys[k], stored, count + n_new, slots)
        if slots[at] < 0:
            slots[at] = count + n_new
            copy_to(stored[count + n_new], keys[k])
            new[n_new] = k
            n_new += 1
        rows[k] = slots[at]
    return rows, new[:n_new].copy()


@jit
def index(stored: Keys, count: int, at_least: int) -> Indices:
    """Return the slots of the first `count` rows; their number is a power of two."""
    capacity = 16
    while capacity < at_least:
        capacity *= 2
    slots = np.empty(capacity, np.int64)
    slots[:] = -1
    for row in range(count):
        slots[slot_of(stored[row], stored, row, slots)] = row
    return slots


@jit_inner
def is_no_worse(
    place: int, known: int, errors: Numbers, complexities: Numbers, share: float, negligible: float
) -> bool:
    """Return True if an error is no larger than another, up to rounding, and the expression no more complex."""
    if not math.isfinite(errors[known]) or not math.isfinite(errors[place]):
        return bool(errors[place] < errors[known])
    if complexities[place] > complexities[known]:
        return False
    return bool(errors[place] <= errors[known] + (abs(errors[known]) * share + negligible))


@jit
def settle(
    writings: Indices, forms: Indices, places: Indices, is_exact: Flags, bound: float,
    tried: Numbers, standing: Indices, bounds: Numbers,
    errors: Numbers, complexities: Numbers, executed_at: Indices, share: float, negligible: float,
) -> None:  # fmt: skip
    """Let expressions that were just executed stand for their forms, unless a better one is known.

    `tried` is by writing, `standing` (a place) and `bounds` by form, the next three by place; all
    change in place. Where `is_exact` is False an expression was cut short by the bound.
    """
    for k in range(len(writings)):
        writing, form, place = writings[k], forms[k], places[k]
        own_bound = math.nan if is_exact[k] else bound
        tried[writing] = max(tried[writing], math.inf if is_exact[k] else bound)
        known = standing[form]
        if known >= 0:
            if math.isnan(bounds[form]):
                if not is_exact[k] or not is_no_worse(place, known, errors, complexities, share, negligible):
                    continue
            elif own_bound < bounds[form]:
                continue
            if math.isfinite(errors[known]):  # it was found then; this is a simpler writing
                executed_at[place] = executed_at[known]
        standing[form], bounds[form] = place, own_bound
