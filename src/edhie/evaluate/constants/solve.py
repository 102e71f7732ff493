"""Compiled: small symmetric systems of equations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.expr.jit import jit

Numbers = NDArray[np.float64]
TINY_PIVOT = 1e-14  # of a unit diagonal: what is below is rounding


@jit
def solve_damped(products: Numbers, slope: Numbers, damping: Numbers, step: Numbers, work: Numbers) -> bool:
    """Solve (A + diag(A)·damping) x = slope for a positive A scaled to a unit diagonal; return False if that fails.

    Unknowns whose diagonal is 0 (they change nothing) and those that the others make up already
    (their pivot is rounding) stay where they are: their step is 0.
    """
    m = len(slope)
    scale = np.empty(m)
    for p in range(m):
        scale[p] = 1.0 / np.sqrt(products[p, p]) if products[p, p] > 0 else 0.0
        if not np.isfinite(scale[p]):
            return False
    for p in range(m):  # Cholesky, by rows
        for q in range(p + 1):
            total = products[p, q] * scale[p] * scale[q]
            if p == q:
                total += damping[p]
            for j in range(q):
                total -= work[p, j] * work[q, j]
            if p != q:
                work[p, q] = total * work[q, q]
            elif total > TINY_PIVOT and scale[p] > 0:
                work[p, p] = 1.0 / np.sqrt(total)
            else:
                work[p, p] = 0.0
    for p in range(m):
        total = slope[p] * scale[p]
        for j in range(p):
            total -= work[p, j] * step[j]
        step[p] = total * work[p, p]
    for p in range(m - 1, -1, -1):
        total = step[p]
        for j in range(p + 1, m):
            total -= work[j, p] * step[j]
        step[p] = total * work[p, p]
    finite = True
    for p in range(m):
        step[p] *= scale[p]
        finite = finite and np.isfinite(step[p])
    return finite
