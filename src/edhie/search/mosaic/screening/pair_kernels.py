"""The best pairs of regressors, from their inner products, as rows of numbers.

Rows are sorted by their first column, the lowest first. Indices in a row are -1 if there are too few pairs.
"""

from __future__ import annotations

import numpy as np

from edhie.expr.jit import copy_to, jit, jit_inner
from edhie.search.arrays import Numbers


@jit_inner
def _insert(best: Numbers, row: tuple[float, ...]) -> None:
    """Insert a row into sorted rows; the last of them is dropped."""
    at = len(best) - 1
    while at > 0 and best[at - 1, 0] > row[0]:
        copy_to(best[at], best[at - 1])
        at -= 1
    for k in range(len(row)):
        best[at, k] = row[k]


@jit_inner
def _none(top: int, width: int) -> Numbers:
    """Return `top` empty rows, which sort behind any other."""
    best = np.empty((top, width))
    best[:] = -1.0
    best[:, 0] = np.inf
    return best


@jit
def best_pairs_of(gram: Numbers, loads: Numbers, top: int) -> Numbers:
    """Return (-share, first, second) of the pairs that explain most of a target.

    `gram` has the correlations of the regressors, and `loads` theirs with the target. If c is the correlation of two
    regressors, and a and b are theirs with the target, they explain a share of (a² + b² - 2abc) / (1 - c²) together.
    """
    best = _none(top, 3)
    for i in range(len(loads)):
        a = loads[i]
        for j in range(i + 1, len(loads)):
            c = gram[i, j]
            own = 1.0 - c * c
            if own < 1e-7:
                continue
            b = loads[j]
            share = (a * a + b * b - 2.0 * a * b * c) / own
            if -share < best[top - 1, 0]:
                _insert(best, (-share, float(i), float(j)))
    return best


@jit
def best_with_one_of_few(
    dots: Numbers, squares: Numbers, weights: Numbers, overlap: Numbers, loads: Numbers, few_weights: Numbers, top: int
) -> Numbers:
    """Return (cost, share, first, second) of the best pairs of a candidate and one of a few other regressors.

    `dots` are the candidates' inner products with the target, `squares` their squared norms, and `overlap` their inner
    products with the few others; `loads` are those of the others with the target. The target and the others have norm
    1. The cost of a pair is its residual times both weights.
    """
    best = _none(top, 4)
    for i in range(len(dots)):
        if squares[i] <= 0.0:
            continue
        for j in range(len(loads)):
            own = squares[i] - overlap[i, j] * overlap[i, j]
            if own <= 1e-7 * squares[i]:
                continue
            new = dots[i] - overlap[i, j] * loads[j]
            share = min(loads[j] * loads[j] + new * new / own, 1.0)
            cost = (1.0 - share + 1e-16) * weights[i] * few_weights[j]
            if cost < best[top - 1, 0]:
                _insert(best, (cost, share, float(i), float(j)))
    return best


@jit
def best_sums(gram: Numbers, dots: Numbers, squares: float, top: int) -> Numbers:
    """Return (squared distance, first, second, sign) of the sums and differences of two rows nearest to a target.

    `gram` has the inner products of the rows, `dots` those with the target, and `squares` is the target's squared norm.
    The sign is that of the second row; both differences of two rows are tried.
    """
    best = _none(top, 4)
    for i in range(len(dots)):
        alone = squares + gram[i, i] - 2.0 * dots[i]
        for j in range(len(dots)):
            both = alone + gram[j, j]
            for sign in (1, -1):
                if (sign == 1 and j < i) or (sign == -1 and j == i):
                    continue
                distance = both + 2.0 * sign * (gram[i, j] - dots[j])
                if distance < best[top - 1, 0]:
                    _insert(best, (distance, float(i), float(j), float(sign)))
    return best
