"""Sums of exponentials of one variable: two, with or without a constant, or three: a·exp(k·x) + b·exp(l·x) + ….

Rates are on a grid, and the rest follows by linear least squares. The best few are refined and written. From elsewhere
a fit ends with all rates alike.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.data import Data, few_rows
from edhie.expr import Expr
from edhie.search.pieces.spelling import Speller, UnwritableError, Words

Numbers = NDArray[np.float64]
RATES = tuple(sign * rate for sign in (-1.0, 1.0) for rate in np.geomspace(0.3, 40.0, 12).tolist() if rate * sign < 10)
"""Exponents over the range of the variable; growth by more than exp(10) is one exponential in practice."""
LEAST_ROWS = 8  # with different values of the variable
MOST_VARIABLES = 8
KINDS = ((2, False), (2, True), (3, False))  # exponentials, and whether there is a constant
WRITTEN = 1  # of a kind, for a variable
REFINEMENTS = 200  # evaluations
MOST_ROWS = 200  # that rates are compared on
EXPLAINED = 0.5  # of the squares about the mean


def decay_expressions(data: Data, speller: Speller) -> list[Expr]:
    """Return sums of exponentials that explain a good part of the target."""
    found: list[Expr] = []
    if not speller.is_free or "exp" not in speller.library:
        return found
    data = few_rows(data, MOST_ROWS)
    roots = np.ones(data.n_rows) if data.weights is None else np.sqrt(data.weights)
    for name, x in list(zip(data.names, data.columns, strict=True))[:MOST_VARIABLES]:
        for n_exponentials, with_constant in KINDS:
            for rates, coefficients in best_decays(x, data.y, roots, n_exponentials, with_constant=with_constant):
                try:
                    parts = [
                        (float(c), speller.over("exp", speller.sum([(rate, Words((name,)))])))
                        for rate, c in zip(rates, coefficients, strict=False)
                    ]
                    found.append(speller.expr(speller.sum(parts, float(coefficients[-1]) if with_constant else 0.0)))
                except UnwritableError:
                    continue
    return found


def best_decays(
    x: Numbers, y: Numbers, roots: Numbers, n_exponentials: int, *, with_constant: bool
) -> list[tuple[list[float], Numbers]]:
    """Return the rates that leave the least, with the coefficients of the exponentials and the constant."""
    span, first = float(np.ptp(x)), float(x.min())
    n_free = n_exponentials + with_constant
    if len(np.unique(x)) < max(LEAST_ROWS, 3 * n_exponentials) or not 0 < span < np.inf:
        return []
    target = y * roots
    columns = np.exp(np.outer(RATES, (x - first) / span)) * roots
    total = float(np.square(target - roots * (target @ roots) / (roots @ roots)).sum())
    chosen = np.array(list(combinations(range(len(RATES)), n_exponentials)))
    designs = np.empty((len(chosen), len(x), n_free))
    designs[:, :, :n_exponentials] = columns[chosen].transpose(0, 2, 1)
    designs[:, :, n_exponentials:] = roots[:, np.newaxis]
    bases = np.linalg.qr(designs)[0]
    along = np.einsum("knj,n->kj", bases, target)
    left = float(target @ target) - np.square(along).sum(axis=1)
    found = []
    for k in np.argsort(left, kind="stable")[:WRITTEN].tolist():
        if not left[k] < (1 - EXPLAINED) * total:
            break
        rates, coefficients = _refined(np.array(RATES)[chosen[k]], (x - first) / span, target, roots, n_free)
        rates = rates / span
        with np.errstate(all="ignore"):
            coefficients[:n_exponentials] *= np.exp(-rates * first)  # written without an offset of x
        if np.isfinite([*rates, *coefficients]).all():
            found.append((rates.tolist(), coefficients))
    return found


def _refined(rates: Numbers, x: Numbers, target: Numbers, roots: Numbers, n_free: int) -> tuple[Numbers, Numbers]:
    """Rates that leave the least near those of the grid, with the coefficients that belong to them.

    Coefficients follow from the rates at every step. A fit of both at once takes very long where rates are near.
    """
    from scipy.optimize import least_squares

    def design(logs: Numbers) -> Numbers:
        columns = np.ones((len(x), n_free))
        columns[:, : len(rates)] = np.exp(np.outer(x, np.sign(rates) * np.exp(np.clip(logs, -5.0, 5.0))))
        return columns * roots[:, np.newaxis]

    def residuals(logs: Numbers) -> Numbers:
        basis = np.linalg.qr(design(logs))[0]
        return np.asarray(target - basis @ (basis.T @ target))

    with np.errstate(all="ignore"):
        logs = least_squares(residuals, np.log(np.abs(rates)), method="lm", max_nfev=REFINEMENTS).x
        coefficients = np.asarray(np.linalg.lstsq(design(logs), target, rcond=None)[0], np.float64)
    return np.sign(rates) * np.exp(np.clip(logs, -5.0, 5.0)), coefficients
