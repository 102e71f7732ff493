"""Plain numbers: whole numbers, simple fractions and multiples of π, which take few bits."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from edhie.arrays import Numbers

DENOMINATORS = (1, 2, 3, 4)
LARGEST = 100  # numerator
OF_PI = 12  # numerator of a multiple of π
FIRST = 2.0  # bits of the number 1
NAMED = 4.0  # bits more for π
GROWTH = 1.5  # bits for each doubling of numerator or denominator: probabilities sum up to about 1
SAME = 1e-12
# kinds of plain numbers, `above * UNITS / BELOW` for whole numbers up to MOST: (kinds, 1)
UNITS, MOST, HEADS = (
    np.repeat(each, len(DENOMINATORS))[:, np.newaxis]
    for each in ((1.0, math.pi), (LARGEST, OF_PI), (FIRST, FIRST + NAMED))
)
BELOW = np.tile(np.array(DENOMINATORS, np.float64), 2)[:, np.newaxis]
TAILS = GROWTH * np.log2(BELOW)


def literal_bits(values: ArrayLike) -> Numbers:
    """Return the bits that each value takes as a plain number; infinite if it is not one.

    >>> literal_bits([1.0, 2.0, 0.5, 3.14159265358979, 0.7421]).round(1).tolist()
    [2.0, 3.5, 3.5, 6.0, inf]
    """
    given = np.abs(np.asarray(values, np.float64))
    with np.errstate(all="ignore"):
        above = np.round(given / UNITS * BELOW)
        is_one = (np.abs(given - above * UNITS / BELOW) <= SAME * given) & (above > 0) & (above <= MOST)
        if not is_one.any():  # as for most constants
            return np.where(given == 0, FIRST, np.inf)
        bits = np.where(is_one, (HEADS + GROWTH * np.log2(np.maximum(above, 1.0))) + TAILS, np.inf).min(axis=0)
    return np.where(given == 0, FIRST, bits)


def exact_literals(values: ArrayLike) -> Numbers:
    """Return the values, with those that are plain numbers up to rounding set to them exactly.

    >>> exact_literals([0.7421, 1.5000000000000004]).tolist()
    [0.7421, 1.5]
    """
    given = np.array(values, np.float64)
    for k in np.flatnonzero(np.isfinite(literal_bits(given)) & (given != 0)).tolist():
        given[k] = next(iter(literals_near(float(given[k]), SAME * abs(given[k]))), given[k])
    return given


def literals_near(value: float, reach: float, *, of_pi: bool = True) -> list[float]:
    """Return plain numbers within `reach` of a value, those of the fewest bits first, at most one of each kind.

    Without `of_pi`, none is a multiple of π.

    >>> literals_near(4.003, 0.01)
    [4.0]
    >>> literals_near(6.284, 0.01)
    [6.283185307179586]
    """
    found: set[float] = set()
    for unit in (1.0, math.pi) if of_pi else (1.0,):
        for below in DENOMINATORS:
            found.add(round(value / unit * below) * unit / below)
    near = np.array(sorted(each for each in found if abs(each - value) <= reach and each != 0))
    if len(near) == 0:
        return []
    bits = literal_bits(near)
    order = np.lexsort((np.abs(near - value), bits))
    return [float(near[k]) for k in order if np.isfinite(bits[k])]
