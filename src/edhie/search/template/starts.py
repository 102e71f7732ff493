"""The first expressions of a search within a template: with constants, polynomials, or the plainest pieces."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from edhie.expr import Expr, Forest, SymbolLibrary
from edhie.search.pieces.function_grid import exponents_up_to
from edhie.search.pieces.spelling import Speller, UnwritableError, Words
from edhie.search.template.pool import Pool
from edhie.search.template.template import Template

DEGREES = (0, 1, 2, 3, 4)  # of polynomials in all parts
MOST_TERMS = 10  # of a polynomial
DRAWN, PLAINEST = 12, 12  # whole expressions with parts drawn from so many of the plainest pieces


def starts(template: Template, pools: Mapping[int, Pool], rng: np.random.Generator) -> Forest:
    """Return whole expressions; the values of their constants mean nothing. Parts without a pool are constants."""
    library, every = template.library, [pools.get(part) for part in range(len(template.names))]
    found = [template.filled([Forest.from_exprs([], library) for _ in every])]
    for degree in DEGREES if library.constant is not None else ():
        parts = [polynomial(pool.library, degree) if pool else polynomial(library, 0) for pool in every]
        if None not in parts:
            cast = [Forest.from_exprs([part.cast(library)], library) for part in parts if part is not None]
            found.append(template.filled(cast))
    drawn = [_drawn(template, pool, rng) for pool in every]
    if all(len(each) for each in drawn):
        found.append(template.filled(drawn))
    return Forest.concatenate(found).unique()


def polynomial(library: SymbolLibrary, degree: int) -> Expr | None:
    """Return all terms up to a degree, each with a constant; None where it cannot be written, or has too many terms."""
    speller, constant = Speller(library), Words((str(library.constant),), (None,))
    exponents = exponents_up_to(len(library.variables), degree)
    if library.constant is None or len(exponents) >= MOST_TERMS:
        return None
    words = constant
    try:
        for each in exponents:
            words = speller.over("+", words, speller.over("*", constant, speller.monomial(each)))
    except UnwritableError:
        return None
    return speller.expr(words)


def _drawn(template: Template, pool: Pool | None, rng: np.random.Generator) -> Forest:
    """Draw some of a part's plainest pieces."""
    if pool is None:
        return Forest.from_exprs([Expr(template.library, (str(template.library.constant),))] * DRAWN, template.library)
    plain = pool.pieces.forest.take(np.arange(min(PLAINEST, len(pool.pieces))))
    return pool.to_whole(plain.take(rng.integers(0, len(plain), DRAWN))) if len(plain) else pool.to_whole(plain)
