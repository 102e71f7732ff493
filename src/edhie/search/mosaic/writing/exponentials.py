"""Sums of exponentials of one variable: two, with or without a constant, or three: a·exp(k·x) + b·exp(l·x) + ….

Rates are on a grid, and the rest follows by linear least squares. The best are refined and written. From other starts
a fit ends with all rates alike.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from edhie.evaluate.data import Data, few_rows
from edhie.expr import Expr
from edhie.search.arrays import Numbers
from edhie.search.mosaic.config import OneVariable
from edhie.search.pieces.spelling import Speller, UnwritableError, Words


def exponential_expressions(data: Data, speller: Speller) -> list[Expr]:
    """Return sums of exponentials that explain a good part of the target."""
    found: list[Expr] = []
    if not speller.is_free or "exp" not in speller.library:
        return found
    data = few_rows(data, OneVariable.EXPONENTIAL_ROWS)
    roots = np.ones(data.n_rows) if data.weights is None else np.sqrt(data.weights)
    for name, x in list(zip(data.names, data.columns, strict=True))[: OneVariable.MOST_VARIABLES]:
        for n_exponentials, with_constant in OneVariable.EXPONENTIALS:
            best = best_exponentials(x, data.y, roots, n_exponentials, with_constant=with_constant)
            if best is None:
                continue
            rates, coefficients = best
            try:
                parts = [
                    (float(c), speller.over("exp", speller.sum([(rate, Words((name,)))])))
                    for rate, c in zip(rates, coefficients, strict=False)
                ]
                found.append(speller.expr(speller.sum(parts, float(coefficients[-1]) if with_constant else 0.0)))
            except UnwritableError:
                continue
    return found


def best_exponentials(
    x: Numbers, y: Numbers, roots: Numbers, n_exponentials: int, *, with_constant: bool
) -> tuple[list[float], Numbers] | None:
    """Return the rates that leave the least, with the coefficients of the exponentials and the constant.

    None where they explain too little, or there are too few values.
    """
    span, first = float(np.ptp(x)), float(x.min())
    n_free = n_exponentials + with_constant
    if len(np.unique(x)) < max(OneVariable.LEAST_VALUES, 3 * n_exponentials) or not 0 < span < np.inf:
        return None
    target, grid = y * roots, OneVariable.EXPONENTIAL_RATES
    columns = np.exp(np.outer(grid, (x - first) / span)) * roots
    total = float(np.square(target - roots * (target @ roots) / (roots @ roots)).sum())
    chosen = np.array(list(combinations(range(len(grid)), n_exponentials)))
    designs = np.empty((len(chosen), len(x), n_free))
    designs[:, :, :n_exponentials] = columns[chosen].transpose(0, 2, 1)
    designs[:, :, n_exponentials:] = roots[:, np.newaxis]
    bases = np.linalg.qr(designs)[0]
    along = np.einsum("knj,n->kj", bases, target)
    left = float(target @ target) - np.square(along).sum(axis=1)
    k = int(np.argmin(left))
    if not left[k] < (1 - OneVariable.EXPLAINED) * total:
        return None
    rates, coefficients = _refined(np.array(grid)[chosen[k]], (x - first) / span, target, roots, n_free)
    rates = rates / span
    with np.errstate(all="ignore"):
        coefficients[:n_exponentials] *= np.exp(-rates * first)  # written without an offset of x
    return (rates.tolist(), coefficients) if np.isfinite([*rates, *coefficients]).all() else None


def _refined(rates: Numbers, x: Numbers, target: Numbers, roots: Numbers, n_free: int) -> tuple[Numbers, Numbers]:
    """Return the rates near those of the grid that leave the least, with their coefficients.

    Coefficients are solved for at every step. A fit of both at once takes very long where rates are near.
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
        logs = least_squares(residuals, np.log(np.abs(rates)), method="lm", max_nfev=OneVariable.REFINEMENTS).x
        coefficients = np.asarray(np.linalg.lstsq(design(logs), target, rcond=None)[0], np.float64)
    return np.sign(rates) * np.exp(np.clip(logs, -5.0, 5.0)), coefficients
