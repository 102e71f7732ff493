"""Compiled: where the search for constants begins."""

from __future__ import annotations

import math

import numpy as np

from edhie.expr.jit import jit

SPREAD = 1.5  # decades to either side of a constant's scale
REACH = 3.0  # scales to either side of 0


@jit
def start_value(seed: int, start: int, place: int, scale: float) -> float:
    """The start of a constant: 1, then its scale, then at random.

    By turns: any magnitude around its scale, any around 1, and evenly around 0, where a constant is
    beside a variable in a sum and decides where a pole or a zero lies.
    """
    if start == 0:
        return 1.0
    if start == 1:
        return scale
    first, second = uniform(seed, start, 2 * place), uniform(seed, start, 2 * place + 1)
    turn = start % 4
    if turn >= 2:
        return (scale if turn == 2 else 1.0) * REACH * (2.0 * first - 1.0)
    sign = 1.0 if first < 0.7 else -1.0
    return sign * (scale if turn == 0 else 1.0) * math.pow(10.0, SPREAD * (2.0 * second - 1.0))


@jit
def uniform(seed: int, start: int, place: int) -> float:
    """A number from 0 to 1 that its arguments decide: no state, so the order of fits does not matter."""
    state = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(start) * np.uint64(0xBF58476D1CE4E5B9)
    state += np.uint64(place + 1) * np.uint64(0x94D049BB133111EB)
    for _ in range(2):
        state ^= state >> np.uint64(30)
        state *= np.uint64(0xBF58476D1CE4E5B9)
        state ^= state >> np.uint64(27)
        state *= np.uint64(0x94D049BB133111EB)
        state ^= state >> np.uint64(31)
    return float(state >> np.uint64(11)) * 2.0**-53
