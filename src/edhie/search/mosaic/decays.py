"""Sums of two exponentials of one variable, with or without a constant: a·exp(k·x) + b·exp(l·x) + c.

Rates are on a grid, and the rest follows by linear least squares. The best few are written, and a fit brings their
constants to the optimum. From elsewhere a fit ends with both rates alike.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.data import Data
from edhie.expr import Expr
from edhie.search.mosaic.words import Speller, UnwritableError, Words

Numbers = NDArray[np.float64]
RATES = tuple(sign * rate for sign in (-1.0, 1.0) for rate in np.geomspace(0.3, 40.0, 12).tolist() if rate * sign < 10)
"""Exponents over the range of the variable; growth by more than exp(10) is one exponential in practice."""
LEAST_ROWS = 8  # with different values of the variable
MOST_VARIABLES = 8
WRITTEN = 2  # a variable, with a constant, and as many without
EXPLAINED = 0.5  # of the squares about the mean


def decay_expressions(data: Data, speller: Speller) -> list[Expr]:
    """Return sums of two exponentials that explain a good part of the target."""
    found: list[Expr] = []
    if not speller.is_free or "exp" not in speller.library:
        return found
    roots = np.ones(data.n_rows) if data.weights is None else np.sqrt(data.weights)
    for name, x in list(zip(data.names, data.columns, strict=True))[:MOST_VARIABLES]:
        for with_constant in (False, True):
            for rates, coefficients in best_decays(x, data.y, roots, with_constant=with_constant):
                terms = [(float(rate), Words((name,))) for rate in rates]
                try:
                    parts = [
                        (float(c), speller.over("exp", speller.sum([term])))
                        for c, term in zip(coefficients, terms, strict=False)
                    ]
                    found.append(speller.expr(speller.sum(parts, float(coefficients[2]) if with_constant else 0.0)))
                except UnwritableError:
                    continue
    return found


def best_decays(
    x: Numbers, y: Numbers, roots: Numbers, *, with_constant: bool
) -> list[tuple[tuple[float, float], Numbers]]:
    """Return the pairs of rates that leave the least, with the coefficients of both exponentials and the constant."""
    span, first = float(np.ptp(x)), float(x.min())
    if len(np.unique(x)) < LEAST_ROWS or not 0 < span < np.inf:
        return []
    target, one = y * roots, roots[np.newaxis]
    columns = np.exp(np.outer(RATES, (x - first) / span)) * roots
    total = float(np.square(target - roots * (target @ roots) / (roots @ roots)).sum())
    tried = []
    for pair in combinations(range(len(RATES)), 2):
        design = np.concatenate([columns[list(pair)], one]) if with_constant else columns[list(pair)]
        coefficients, *_ = np.linalg.lstsq(design.T, target, rcond=None)
        left = float(np.square(target - coefficients @ design).sum())
        if left < (1 - EXPLAINED) * total:
            tried.append((left, pair, coefficients))
    found = []
    for _, pair, coefficients in sorted(tried, key=lambda each: each[0])[:WRITTEN]:
        rates = (RATES[pair[0]] / span, RATES[pair[1]] / span)
        with np.errstate(all="ignore"):
            coefficients[:2] *= np.exp(-np.array(rates) * first)  # written without an offset of x
        if np.isfinite(coefficients).all():
            found.append((rates, coefficients))
    return found
