"""Quotients of polynomials: y·Q = P is linear in the coefficients of both, so they are found in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np

from edhie.evaluate.data import Data
from edhie.expr import Expr
from edhie.search.arrays import Indices, Numbers
from edhie.search.mosaic.config import Quotients
from edhie.search.mosaic.frames.free_columns import polynomial_of_degree
from edhie.search.mosaic.frames.links import Link
from edhie.search.pieces.spelling import Speller, UnwritableError, Words

Monomials = list[tuple[float, Indices]]
"""Coefficients, and the powers of the variables."""


def quotients(data: Data, speller: Speller, links: Sequence[Link]) -> list[Expr]:
    """Return exact quotients of polynomials, for the target or a function of it; those of the least degree.

    `data` may be a few of the rows: the speller writes numbers that hold on all of them.
    """
    found = []
    for link in links:
        if link.name not in Quotients.LINKS:
            continue
        with np.errstate(all="ignore"):
            target = link.apply(data.y)
        parts = _exact_quotient(target, data) if np.isfinite(target).all() else None
        if parts is not None:
            found += written_quotient(link, *parts, speller, is_negative=link.is_even and bool(data.y[0] < 0))
    return found


def written_quotient(
    link: Link, above: Monomials, below: Monomials, speller: Speller, *, is_negative: bool
) -> list[Expr]:
    """Return a quotient with a link undone, with 1 for the first coefficient below; an empty list if unwritable."""
    unit = below[0][0]
    try:
        top, bottom = (_polynomial([(c / unit, e) for c, e in terms], speller) for terms in (above, below))
        words = speller.headed(link.head, speller.over("/", top, bottom))
        return [speller.expr(speller.negative(words) if is_negative else words)]
    except UnwritableError:
        return []


def _polynomial(terms: Monomials, speller: Speller) -> Words:
    constant = sum(float(c) for c, exponents in terms if not exponents.any())
    return speller.sum([(float(c), speller.monomial(e.tolist())) for c, e in terms if e.any()], constant)


def _exact_quotient(target: Numbers, data: Data) -> tuple[Monomials, Monomials] | None:
    n_variables = data.n_variables
    for above, below in Quotients.DEGREES:
        if comb(n_variables + max(above, below), n_variables) > Quotients.MOST_COLUMNS:
            continue
        numerator, denominator = (polynomial_of_degree(data.columns, degree) for degree in (above, below))
        with np.errstate(all="ignore"):
            columns = np.concatenate([numerator.columns, target * denominator.columns])
            norms = np.linalg.norm(columns, axis=1)
        if len(columns) > min(Quotients.MOST_COLUMNS, data.n_rows // Quotients.ROWS_A_COLUMN):
            continue
        if not np.isfinite(norms).all() or (norms == 0).any():
            return None
        columns /= norms[:, np.newaxis]
        if _vanishing(columns)[0] > Quotients.VANISHING:
            continue
        kept = _few_columns(columns)
        coefficients = _vanishing(columns[kept])[1] / norms[kept]
        n_above = len(numerator.columns)
        top = [(c, numerator.exponents[k]) for k, c in zip(kept, coefficients, strict=True) if k < n_above]
        bottom = [
            (-c, denominator.exponents[k - n_above]) for k, c in zip(kept, coefficients, strict=True) if k >= n_above
        ]
        return (top, bottom) if top and bottom else None  # else the variables depend on one another
    return None


def _vanishing(columns: Numbers) -> tuple[float, Numbers]:
    """Return how near the nearest combination of columns is to zero, and its coefficients, of length 1."""
    _, s, vt = np.linalg.svd(columns.T, full_matrices=False)
    return float(s[-1] / s[0]), vt[-1]


def _few_columns(columns: Numbers) -> Indices:
    """Return few columns of which a combination vanishes, by leaving out one after the other, the last first."""
    kept = np.arange(len(columns))
    for column in range(len(columns) - 1, -1, -1):
        fewer = kept[kept != column]
        if len(fewer) > 1 and _vanishing(columns[fewer])[0] <= Quotients.VANISHING:
            kept = fewer
    return kept
