"""Curves in the way that people know them: `k/(1 + (x/s)^p)`, not `a/(b + x^p)`."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np

from edhie.evaluate.constants.fitting import FitConfig, fit_missing
from edhie.evaluate.constants.polish import polish
from edhie.evaluate.data import Data, few_rows
from edhie.evaluate.resolution import FULL_PRECISION
from edhie.evaluate.values import values
from edhie.expr import Expr, Forest, parse
from edhie.selection.prior.curves import curves, with_variable
from edhie.selection.prior.known_forms import generic_text

ROWS = 100  # on which starting points are compared
CAREFUL = FitConfig(points=300, starts=8, iterations=60, tolerance=1e-12, rows=None)


def is_as_known(expr: Expr) -> bool:
    """Return whether an expression is a curve in the first of several ways to write it."""
    return expr.variables != () and generic_text(expr) in _ways()[0]


def as_known(expr: Expr, data: Data, *, lower: float = -math.inf, upper: float = math.inf) -> Expr | None:
    """Return a curve in the first way to write it; None if it is no curve, or if that takes constants out of bounds.

    >>> x = np.linspace(0.5, 9.0, 20)
    >>> curve = parse("c/(c + x^c)").with_constants([6.0, 4.0, 2.0])
    >>> print(f"{as_known(curve, Data(x[np.newaxis], x, names=('x',))):.6g}")
    1.5/(1 + (2/x)^-2)
    """
    way = _ways()[1].get(generic_text(expr)) if len(expr.variables) == 1 else None
    if way is None:
        return None
    one = Forest.from_exprs([expr])
    data = replace(data, y=values(one, data.columns)[0], weights=None, sigma=None, resolution=FULL_PRECISION)
    if not np.isfinite(data.y).all():
        return None
    known = Forest.from_exprs([parse(with_variable(way, expr.variables[0]), expr.library)])
    start = fit_missing(known, few_rows(data, ROWS), config=replace(CAREFUL, lower=lower, upper=upper))
    if not np.isfinite(start.squared_errors).all():
        return None
    return polish(start.forest, data, lower=lower, upper=upper).forest[0]


@cache
def _ways() -> tuple[frozenset[str], dict[str, str]]:
    """Return the forms in the first way of curves that have several, and that way by the other forms."""
    first: set[str] = set()
    others: dict[str, str] = {}
    for ways in curves().values():
        for way in ways[1:]:
            # a ratio and its inverse are one way: which of them has a positive exponent depends on the curve
            if _upright(way) == _upright(ways[0]):
                first.add(generic_text(parse(way)))
            else:
                others[generic_text(parse(way))] = ways[0]
        if len(ways) > 1:
            first.add(generic_text(parse(ways[0])))
    return frozenset(first), others


def _upright(way: str) -> str:
    return way.replace("(c/x)", "(x/c)")
