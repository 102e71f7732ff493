"""Sums of exponentials of one variable: two, with or without a constant, or three: a·exp(k·x) + b·exp(l·x) + ….

Rates are on a grid, and the rest follows by linear least squares. The best few are written, and a fit brings their
constants to the optimum. From elsewhere a fit ends with all rates alike.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.data import Data
from edhie.evaluate.rows import few_rows
from edhie.expr import Expr
from edhie.search.mosaic.words import Speller, UnwritableError, Words

Numbers = NDArray[np.float64]
RATES = tuple(sign * rate for sign in (-1.0, 1.0) for rate in np.geomspace(0.3, 40.0, 12).tolist() if rate * sign < 10)
"""Exponents over the range of the variable; growth by more than exp(10) is one exponential in practice."""
LEAST_ROWS = 8  # with different values of the variable
MOST_VARIABLES = 8
KINDS = ((2, False), (2, True), (3, False))  # exponentials, and whether there is a constant
WRITTEN = 2  # of a kind, for a variable
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
    bases, triangles = np.linalg.qr(designs)
    along = np.einsum("knj,n->kj", bases, target)
    left = float(target @ target) - np.square(along).sum(axis=1)
    found = []
    for k in np.argsort(left, kind="stable")[:WRITTEN].tolist():
        if not left[k] < (1 - EXPLAINED) * total:
            break
        rates = [RATES[each] / span for each in chosen[k].tolist()]
        with np.errstate(all="ignore"):
            coefficients = np.linalg.lstsq(triangles[k], along[k], rcond=None)[0]
            coefficients[:n_exponentials] *= np.exp(-np.array(rates) * first)  # written without an offset of x
        if np.isfinite(coefficients).all():
            found.append((rates, coefficients))
    return found
