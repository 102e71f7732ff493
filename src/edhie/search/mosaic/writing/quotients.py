"""Quotients of polynomials: y·Q = P is linear in the coefficients of both, so they are found in closed form."""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.data import Data
from edhie.expr import Expr
from edhie.search.mosaic.frames.free_columns import polynomial_of_degree
from edhie.search.mosaic.frames.links import Link
from edhie.search.pieces.spelling import Speller, UnwritableError, Words

Numbers = NDArray[np.float64]
Term = tuple[float, NDArray[np.int64]]  # a coefficient, and the powers of the variables
DEGREES = ((1, 1), (2, 1), (1, 2), (2, 2), (3, 2), (2, 3), (3, 3))  # of numerator and denominator
LINKS = ("y", "y^2", "exp(y)", "sin(y)", "cos(y)")  # the reciprocal of a quotient is one
MOST_COLUMNS = 66
ROWS_A_COLUMN = 3
VANISHING = 1e-12  # the length of a combination, over that of the largest, that is rounding


def rational_expressions(data: Data, speller: Speller, links: list[Link]) -> list[Expr]:
    """Exact quotients of polynomials, for the target or a function of it; those of the least degree.

    `data` may be a few of the rows: the speller knows how to write numbers that hold on all of them.
    """
    found = []
    for link in links:
        if link.name not in LINKS:
            continue
        with np.errstate(all="ignore"):
            target = link.apply(data.y)
        words = _quotient(target, data, speller) if np.isfinite(target).all() else None
        if words is None:
            continue
        try:
            headed = speller.headed(link.head, words)
            negative = link.is_even and data.y[0] < 0
            found.append(speller.expr(speller.negative(headed) if negative else headed))
        except UnwritableError:
            continue
    return found


def _quotient(target: Numbers, data: Data, speller: Speller) -> Words | None:
    n_variables = data.n_variables
    for above, below in DEGREES:
        if comb(n_variables + max(above, below), n_variables) > MOST_COLUMNS:
            continue
        numerator, denominator = (polynomial_of_degree(data.columns, degree) for degree in (above, below))
        with np.errstate(all="ignore"):
            columns = np.concatenate([numerator.columns, target * denominator.columns])
            norms = np.linalg.norm(columns, axis=1)
        if len(columns) > min(MOST_COLUMNS, data.n_rows // ROWS_A_COLUMN):
            continue
        if not np.isfinite(norms).all() or (norms == 0).any():
            return None
        columns /= norms[:, np.newaxis]
        if _vanishing(columns)[0] > VANISHING:
            continue
        kept = _few_columns(columns)
        coefficients = _vanishing(columns[kept])[1] / norms[kept]
        n_above = len(numerator.columns)
        if (kept < n_above).all() or (kept >= n_above).all():
            return None  # the variables depend on one another
        try:
            top = [(c, numerator.exponents[k]) for k, c in zip(kept, coefficients, strict=True) if k < n_above]
            bottom = [
                (-c, denominator.exponents[k - n_above])
                for k, c in zip(kept, coefficients, strict=True)
                if k >= n_above
            ]
            return quotient_words(top, bottom, speller)
        except UnwritableError:
            return None
    return None


def _vanishing(columns: Numbers) -> tuple[float, Numbers]:
    """The combination of columns, of length 1, that is nearest to nothing, and how near."""
    _, s, vt = np.linalg.svd(columns.T, full_matrices=False)
    return float(s[-1] / s[0]), vt[-1]


def _few_columns(columns: Numbers) -> NDArray[np.int64]:
    """Columns of which a combination vanishes: few, found by leaving out one after the other, the last first."""
    kept = np.arange(len(columns))
    for column in range(len(columns) - 1, -1, -1):
        fewer = kept[kept != column]
        if len(fewer) > 1 and _vanishing(columns[fewer])[0] <= VANISHING:
            kept = fewer
    return kept


def quotient_words(above: list[Term], below: list[Term], speller: Speller) -> Words:
    """Return the quotient of two polynomials, with 1 for the first coefficient below."""
    unit = below[0][0]
    top, bottom = (_polynomial([(c / unit, e) for c, e in terms], speller) for terms in (above, below))
    return speller.over("/", top, bottom)


def _polynomial(terms: list[Term], speller: Speller) -> Words:
    variables = [Words((name,)) for name in speller.library.variables]
    constant, parts = 0.0, []
    for coefficient, exponents in terms:
        powers = [(float(e), words) for e, words in zip(exponents.tolist(), variables, strict=True) if e]
        if powers:
            parts.append((float(coefficient), speller.product(powers)))
        else:
            constant += float(coefficient)
    return speller.sum(parts, constant)
