"""The compiled loop that samples trees."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from edhie.expr.jit import copy_to, jit, jit_inner

Whole = TypeVar("Whole", bound=np.integer[Any])
Ints = NDArray[np.int64]


@jit_inner
def longer(array: NDArray[Whole], needed: int) -> NDArray[Whole]:
    """Return the array itself, or a longer copy where `needed` does not fit."""
    if needed <= len(array):
        return array
    new = np.empty(max(needed, 2 * len(array)), array.dtype)
    copy_to(new, array)
    return new


@jit
def draw(
    rng: np.random.Generator, n: int, first: int, starts: Ints, left: Ints, right: Ints,
    cumulative: NDArray[np.float64], least_size: Ints, least_height: Ints, max_size: int, max_height: int,
) -> tuple[NDArray[np.int32], Ints]:  # fmt: skip
    """Return alternatives in prefix order and offsets of `n` trees within the limits; the state `first` derives them.

    A tree is given up as soon as nothing could bring it within the limits, and begun
    anew; so what is kept has the grammar's distribution on the trees within them.
    """
    chosen = np.empty(16 * n + 16, np.int32)
    offsets = np.zeros(n + 1, np.int64)
    waiting = np.empty(64, np.int64)  # states to be expanded, the leftmost on top
    depths = np.empty(64, np.int64)
    for k in range(n):
        size = max_size + 1
        while size > max_size:
            at = offsets[k]
            size = least_size[first]  # of the smallest tree that this one can still become
            waiting[0] = first
            depths[0] = 1
            top = 1
            while top > 0 and size <= max_size:
                top -= 1
                state = waiting[top]
                depth = depths[top]
                u = rng.random()
                a = starts[state]
                while u >= cumulative[a]:
                    a += 1
                chosen = longer(chosen, at + 1)
                chosen[at] = a
                at += 1
                size += 1 - least_size[state]
                waiting = longer(waiting, top + 2)
                depths = longer(depths, top + 2)
                for operand in (right[a], left[a]):  # the left one comes to lie on top
                    if operand >= 0:
                        size += least_size[operand]
                        if depth + least_height[operand] > max_height:
                            size = max_size + 1
                        waiting[top] = operand
                        depths[top] = depth + 1
                        top += 1
        offsets[k + 1] = at
    return chosen[: offsets[n]].copy(), offsets
