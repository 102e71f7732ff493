"""Where a search within a template begins: parts that are constants, polynomials, or the plainest pieces."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edhie.expr import Expr, Forest
from edhie.search.template.pool import Pool
from edhie.search.template.shapes import polynomial
from edhie.search.template.template import Template

DEGREES = (0, 1, 2, 3, 4)
DRAWN, PLAINEST = 12, 12  # whole expressions with parts drawn from so many of the plainest pieces


def starts(template: Template, pools: Sequence[Pool | None], rng: np.random.Generator) -> Forest:
    """Whole expressions; their constants have no values that mean anything."""
    found = [template.filled([Forest.from_exprs([], template.library) for _ in pools])]
    if template.library.constant is not None:
        found += [whole for degree in DEGREES if (whole := _polynomials(template, pools, degree)) is not None]
    drawn = [_drawn(template, pool, rng) for pool in pools]
    if all(len(each) for each in drawn):
        found.append(template.filled(drawn))
    return Forest.concatenate(found).unique()


def _constant(template: Template) -> Expr:
    assert template.library.constant is not None
    return Expr(template.library, (template.library.constant,))


def _polynomials(template: Template, pools: Sequence[Pool | None], degree: int) -> Forest | None:
    """Every part a polynomial of one degree."""
    contents = []
    for pool in pools:
        expr = _constant(template) if pool is None or degree == 0 else polynomial(pool.library, degree)
        if expr is None:
            return None
        contents.append(Forest.from_exprs([expr.cast(template.library)], template.library))
    return template.filled(contents)


def _drawn(template: Template, pool: Pool | None, rng: np.random.Generator) -> Forest:
    """Some of a part's plainest pieces."""
    if pool is None:
        return Forest.from_exprs([_constant(template)] * DRAWN, template.library)
    plain = pool.pieces.forest.take(np.arange(min(PLAINEST, len(pool.pieces))))
    return pool.to_whole(plain.take(rng.integers(0, len(plain), DRAWN))) if len(plain) else pool.to_whole(plain)
