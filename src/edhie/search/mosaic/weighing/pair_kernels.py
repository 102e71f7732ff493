"""All pairs of regressors at once, from their inner products."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.expr.jit import jit

Numbers = NDArray[np.float64]
Indices = NDArray[np.int64]


@jit
def best_pairs_of(gram: Numbers, loads: Numbers, top: int) -> tuple[Numbers, Indices, Indices]:
    """The pairs that explain most of a target, of which `loads` are the correlations with each regressor.

    With c the correlation of two regressors and a, b theirs with the target, both together explain
    (a² + b² - 2abc) / (1 - c²) of it. Shares and both places, the best first; -1 where there are too few.
    """
    n = len(loads)
    shares = np.full(top, -1.0)
    first = np.full(top, -1, np.int64)
    second = np.full(top, -1, np.int64)
    for i in range(n):
        a = loads[i]
        for j in range(i + 1, n):
            c = gram[i, j]
            own = 1.0 - c * c
            if own < 1e-7:
                continue
            b = loads[j]
            share = (a * a + b * b - 2.0 * a * b * c) / own
            if share > shares[top - 1]:
                at = top - 1
                while at > 0 and shares[at - 1] < share:
                    shares[at], first[at], second[at] = shares[at - 1], first[at - 1], second[at - 1]
                    at -= 1
                shares[at], first[at], second[at] = share, i, j
    return shares, first, second


@jit
def best_with_one_of_few(
    dots: Numbers, squares: Numbers, weights: Numbers, overlap: Numbers, loads: Numbers, few_weights: Numbers, top: int
) -> tuple[Numbers, Numbers, Indices, Indices]:
    """The pairs of a candidate and one of a few others that explain most of a target of length 1 for their weights.

    `dots` are the candidates' inner products with the target, `squares` their own, `overlap` those with the few, which
    are of length 1 and have `loads` with the target. Costs (what a pair leaves, times both weights), shares
    and both places, the best first; -1 where there are too few.
    """
    costs = np.full(top, np.inf)
    shares = np.zeros(top)
    first = np.full(top, -1, np.int64)
    second = np.full(top, -1, np.int64)
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
            if cost < costs[top - 1]:
                at = top - 1
                while at > 0 and costs[at - 1] > cost:
                    costs[at], shares[at], first[at], second[at] = (
                        costs[at - 1],
                        shares[at - 1],
                        first[at - 1],
                        second[at - 1],
                    )
                    at -= 1
                costs[at], shares[at], first[at], second[at] = cost, share, i, j
    return costs, shares, first, second


@jit
def best_sums(gram: Numbers, dots: Numbers, squares: float, top: int) -> tuple[Numbers, Indices, Indices, Indices]:
    """The sums and differences of two rows that come nearest to a target, coefficients being 1 and 1 or 1 and -1.

    `gram` has the rows' inner products, `dots` those with the target, whose square is `squares`. Squared
    distances, both places and the second's sign, the nearest first; the difference of i and j and that of j and i
    are both looked at. -1 where there are too few.
    """
    n = len(dots)
    found = np.full(top, np.inf)
    first = np.full(top, -1, np.int64)
    second = np.full(top, -1, np.int64)
    signs = np.zeros(top, np.int64)
    for i in range(n):
        alone = squares + gram[i, i] - 2.0 * dots[i]
        for j in range(n):
            both = alone + gram[j, j]
            for sign in (1, -1):
                if (sign == 1 and j < i) or (sign == -1 and j == i):
                    continue
                distance = both + 2.0 * sign * (gram[i, j] - dots[j])
                if distance < found[top - 1]:
                    at = top - 1
                    while at > 0 and found[at - 1] > distance:
                        found[at], first[at], second[at], signs[at] = (
                            found[at - 1],
                            first[at - 1],
                            second[at - 1],
                            signs[at - 1],
                        )
                        at -= 1
                    found[at], first[at], second[at], signs[at] = distance, i, j, sign
    return found, first, second, signs
