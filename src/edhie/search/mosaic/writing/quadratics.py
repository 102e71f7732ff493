"""Solutions of quadratic equations: y² + y·B = C is linear in the coefficients of the polynomials B and C.

So an exact polynomial plus or minus the square root of another is found in closed form.
"""

from __future__ import annotations

import numpy as np

from edhie.evaluate.data import Data
from edhie.expr import Expr
from edhie.search.arrays import Numbers
from edhie.search.mosaic.config import Quotients
from edhie.search.mosaic.frames.free_columns import FreeColumns, polynomial_of_degree
from edhie.search.mosaic.writing.quotients import few_columns, polynomial, vanishing
from edhie.search.pieces.spelling import Speller, UnwritableError

DEGREE = 2  # of C, and of the polynomial under the root


def quadratics(data: Data, speller: Speller) -> list[Expr]:
    """Return a polynomial of degree 1 plus or minus the square root of one of degree 2, if it is exact.

    `data` may be a sample of the rows.
    """
    if "sqrt" not in speller.library.built_in:
        return []
    above, below = (polynomial_of_degree(data.columns, degree) for degree in (DEGREE, DEGREE - 1))
    with np.errstate(all="ignore"):
        columns = np.concatenate([above.columns, data.y * below.columns, [np.square(data.y)]])
        norms = np.linalg.norm(columns, axis=1)
    is_sound = np.isfinite(norms).all() and norms.all()
    if not is_sound or len(columns) > min(Quotients.MOST_COLUMNS, data.n_rows // Quotients.ROWS_A_COLUMN):
        return []
    columns /= norms[:, np.newaxis]
    if vanishing(columns)[0] > Quotients.VANISHING:
        return []
    kept = few_columns(columns[::-1])  # reversed, so that the square of the target is the last to be dropped
    kept = np.sort(len(columns) - 1 - kept)
    coefficients = np.zeros(len(columns))
    coefficients[kept] = vanishing(columns[kept])[1] / norms[kept]
    if coefficients[-1] == 0:
        return []
    coefficients /= coefficients[-1]
    constant, linear = -coefficients[: len(above.columns)], coefficients[len(above.columns) : -1]
    return _written(data, speller, above, constant, below, linear)


def _written(
    data: Data, speller: Speller, above: FreeColumns, constant: Numbers, below: FreeColumns, linear: Numbers
) -> list[Expr]:
    """Return -B/2 ± sqrt(B²/4 + C); an empty list if the sign is not the same in all rows."""
    half = linear / 2
    under = dict(zip(map(tuple, above.exponents.tolist()), constant.tolist(), strict=True))
    for a, first in zip(half, below.exponents, strict=True):
        for b, second in zip(half, below.exponents, strict=True):
            under[tuple((first + second).tolist())] += float(a * b)
    largest = max(map(abs, under.values()))
    terms = [(c, np.array(e)) for e, c in under.items() if abs(c) > Quotients.NEGLIGIBLE * largest]
    outside = data.y + half @ below.columns
    sign = float(np.sign(outside[0]))
    if not (np.sign(outside) == sign).all():
        return []
    try:
        root = speller.over("sqrt", polynomial(terms, speller))
        parts = [
            (-c, speller.monomial(e.tolist())) for c, e in zip(half, below.exponents, strict=True) if c and e.any()
        ]
        return [speller.sum([(sign, root), *parts], -float(half[~below.exponents.any(axis=1)].sum()))]
    except UnwritableError:
        return []
