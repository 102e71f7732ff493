"""Compiled: sums over blocks of rows; eight partial sums side by side, so that they can be done in vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.expr.jit import jit

Numbers = NDArray[np.float64]


@jit
def distance(a: Numbers, b: Numbers) -> float:
    """The sum of squared differences."""
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    n = len(a)
    whole = n - n % 8
    for i in range(0, whole, 8):
        d0, d1, d2, d3 = a[i] - b[i], a[i + 1] - b[i + 1], a[i + 2] - b[i + 2], a[i + 3] - b[i + 3]
        d4, d5, d6, d7 = a[i + 4] - b[i + 4], a[i + 5] - b[i + 5], a[i + 6] - b[i + 6], a[i + 7] - b[i + 7]
        s0 += d0 * d0
        s1 += d1 * d1
        s2 += d2 * d2
        s3 += d3 * d3
        s4 += d4 * d4
        s5 += d5 * d5
        s6 += d6 * d6
        s7 += d7 * d7
    for i in range(whole, n):
        s0 += (a[i] - b[i]) ** 2
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))


@jit
def weighted_distance(a: Numbers, b: Numbers, weights: Numbers) -> float:
    """The weighted sum of squared differences."""
    s0 = s1 = s2 = s3 = 0.0
    n = len(a)
    whole = n - n % 4
    for i in range(0, whole, 4):
        d0, d1, d2, d3 = a[i] - b[i], a[i + 1] - b[i + 1], a[i + 2] - b[i + 2], a[i + 3] - b[i + 3]
        s0 += weights[i] * d0 * d0
        s1 += weights[i + 1] * d1 * d1
        s2 += weights[i + 2] * d2 * d2
        s3 += weights[i + 3] * d3 * d3
    for i in range(whole, n):
        s0 += weights[i] * (a[i] - b[i]) ** 2
    return (s0 + s1) + (s2 + s3)


@jit
def dot(a: Numbers, b: Numbers, n: int) -> float:
    """The sum of products over the first n."""
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    whole = n - n % 8
    for i in range(0, whole, 8):
        s0 += a[i] * b[i]
        s1 += a[i + 1] * b[i + 1]
        s2 += a[i + 2] * b[i + 2]
        s3 += a[i + 3] * b[i + 3]
        s4 += a[i + 4] * b[i + 4]
        s5 += a[i + 5] * b[i + 5]
        s6 += a[i + 6] * b[i + 6]
        s7 += a[i + 7] * b[i + 7]
    for i in range(whole, n):
        s0 += a[i] * b[i]
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
