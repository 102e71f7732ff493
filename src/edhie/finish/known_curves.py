"""Curves in the way that people know them: `k/(1 + (x/s)^p)`, not `a/(b + x^p)`."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np

from edhie.evaluate.constants.fitting import CAREFUL, fit_missing
from edhie.evaluate.constants.polish import polish
from edhie.evaluate.data import Data, few_rows
from edhie.evaluate.resolution import FULL_PRECISION
from edhie.evaluate.values import values
from edhie.expr import Expr, Forest, parse
from edhie.expr.nodes import Node, expr_of, operation, tree_of
from edhie.selection.prior.known_forms import curves, form_of, with_variable

ROWS = 100  # on which starting points are compared


def is_as_known(expr: Expr) -> bool:
    """Return whether an expression is a curve in the first of several ways to write it, without further numbers."""
    return len(expr.variables) == 1 and _ways()[0].get(form_of(expr)) == n_numbers(expr)


def as_known(expr: Expr, data: Data, *, lower: float = -math.inf, upper: float = math.inf) -> Expr | None:
    """Return a curve in the first way to write it; None if it is no curve, or if that takes constants out of bounds.

    >>> x = np.linspace(0.5, 9.0, 20)
    >>> curve = parse("c/(c + x^c)").with_constants([6.0, 4.0, 2.0])
    >>> print(f"{as_known(curve, Data(x[np.newaxis], x, None, ('x',))):.6g}")
    1.5/(1 + (2/x)^-2)
    """
    way = _ways()[1].get(form_of(expr)) if len(expr.variables) == 1 else None
    if way is None:
        return None
    one = Forest.from_exprs([expr])
    data = replace(data, y=values(one, data.columns)[0], weights=None, sigma=None, resolution=FULL_PRECISION)
    if not np.isfinite(data.y).all():
        return None
    text = with_variable(way, expr.variables[0], expr.library.constant or "c")
    known = Forest.from_exprs([parse(text, expr.library)])
    start = fit_missing(known, few_rows(data, ROWS), config=replace(CAREFUL, lower=lower, upper=upper))
    if not np.isfinite(start.squared_errors).all():
        return None
    return polish(start.forest, data, lower=lower, upper=upper).forest[0]


def upright(expr: Expr) -> Expr:
    """Return a response to a dose with its two limits as terms: `a/(1 + (x/s)^p) + b`, not `c - a/(1 + (s/x)^p)`.

    >>> print(upright(parse("c - c/(1 + (c/x)^c)").with_constants([4.0, 3.0, 60.0, 2.5])))
    3/(1 + (x/60)^2.5) + 1
    """
    whole = tree_of(expr)
    if whole.op != "-" or whole.operands[0].value is None or whole.operands[1].op != "/":
        return expr
    (offset, falling), (height, below) = whole.operands, whole.operands[1].operands
    if below.op != "+" or below.operands[0].number != 1 or below.operands[1].op != "^" or height.value is None:
        return expr
    ratio, exponent = below.operands[1].operands
    if ratio.op != "/":
        return expr
    turned = below.operands[1].over(ratio.over(*reversed(ratio.operands)), exponent)
    rest = Node(expr.library, offset.token, (), (offset.value or 0.0) - height.value)
    return expr_of(operation("+", falling.over(height, below.over(below.operands[0], turned)), rest), expr.library)


def n_numbers(expr: Expr) -> int:
    """Return how many constants and numbers an expression has."""
    return sum(expr.library[token].kind in ("constant", "number", "literal") for token in expr.tokens)


@cache
def _ways() -> tuple[dict[bytes, int], dict[bytes, str]]:
    """Return forms in the first of several ways, with their count of numbers, and other forms with the first way."""
    first: dict[bytes, int] = {}
    others: dict[bytes, str] = {}
    for ways in curves().values():
        for way in ways if len(ways) > 1 else ():
            curve = parse(way)
            # a ratio and its inverse are one way: which of them has a positive exponent depends on the curve
            if _upright(way) == _upright(ways[0]):
                first[form_of(curve)] = n_numbers(curve)
            else:
                others[form_of(curve)] = ways[0]
    return first, others


def _upright(way: str) -> str:
    return way.replace("(c/x)", "(x/c)")
