"""Compiled: the scale of Student's distribution, for residuals with gross errors among them."""

from __future__ import annotations

import math

import numpy as np

from edhie.arrays import Numbers
from edhie.expr.jit import jit

MOST_STEPS, PRECISION = 60, 1e-10  # of the logarithm of the scale's square
LEAST = 1e-30  # of the largest square: if most residuals are 0, so is the maximum-likelihood scale


@jit
def likeliest_square(squares: Numbers, shares: Numbers, freedom: float) -> float:
    """Return the square of the maximum-likelihood scale of residuals with these squares; `shares` are weights.

    It solves Σ share·(k + 1)·r²/(k·s² + r²) = 1 for k degrees of freedom, whose left side falls with s.
    """
    largest = 0.0
    for i in range(len(squares)):
        if shares[i] > 0.0:
            largest = max(largest, squares[i])
    if not (0.0 < largest < np.inf):
        return 0.0
    low, high = math.log(LEAST), 0.0  # of s² over the largest square
    at, mean = 0.0, 0.0
    for i in range(len(squares)):
        mean += shares[i] * (squares[i] / largest)
    at = min(max(math.log(mean), low), high)
    for _ in range(MOST_STEPS):  # Newton's method, within the bracket
        square, total, slope = math.exp(at), 0.0, 0.0
        for i in range(len(squares)):
            own = squares[i] / largest
            part = shares[i] * (freedom + 1.0) * own / (freedom * square + own)
            total += part
            slope -= part * freedom * square / (freedom * square + own)
        if total > 1.0:
            low = at
        else:
            high = at
        step = (1.0 - total) / slope if slope < 0.0 else 0.0
        middle = 0.5 * (low + high)
        found = at + step if slope < 0.0 and low < at + step < high else middle
        if abs(found - at) < PRECISION:
            at = found
            break
        at = found
    return largest * math.exp(at)


@jit
def student_scale(residuals: Numbers, weights: Numbers, freedom: float) -> float:
    """Return the maximum-likelihood scale of residuals with variances proportional to 1/weight; weight 0 is ignored."""
    n = 0
    for i in range(len(weights)):
        if weights[i] > 0.0:
            n += 1
    shares, squares = np.empty(len(weights)), np.empty(len(weights))
    for i in range(len(weights)):
        shares[i] = 1.0 / n if weights[i] > 0.0 else 0.0
        squares[i] = weights[i] * residuals[i] * residuals[i]
    return max(math.sqrt(likeliest_square(squares, shares, freedom)), 1e-150)
