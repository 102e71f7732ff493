"""Which of all that was executed could be steps: by distance those that explain as much as any, but for noise."""

from __future__ import annotations

import math
import sys

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Expr, Forest
from edhie.expr.difference import Matching, shape_of
from edhie.expr.difference.matching import lower_bound
from edhie.results import Candidates

MOST_ALIKE = 40  # of one distance that are looked at


def alike_by_distance(
    original: Expr, error: float, candidates: Candidates, *, noise: float, matching: Matching
) -> dict[int, list[int]]:
    """Return, by distance, candidates whose loss is within a factor `noise` of the least up to that distance.

    Losses rise on the way, so distances have to fall.
    """
    shape, errors = shape_of(original), candidates.errors
    at_least = symbol_bounds(original, candidates.forest)
    order = np.argsort(errors, kind="stable")
    best: dict[int, list[int]] = {}
    furthest, limit = sys.maxsize, math.inf
    for k in order[errors[order] < error].tolist():
        if errors[k] > limit or len(best.get(furthest, ())) == MOST_ALIKE:
            furthest, limit = min(best) - 1, math.inf  # as far away as the last one is too far now
        if furthest < 1:
            break
        if at_least[k] > furthest:
            continue
        other = shape_of(candidates.forest[k])
        if lower_bound(shape, other) > furthest:
            continue
        distance = matching.distance(shape, other)
        if 1 <= distance <= furthest and distance not in best:
            best[distance] = [k]
            furthest, limit = distance, errors[k] * noise
        elif distance == furthest:
            best[distance].append(k)
    return best


def symbol_bounds(original: Expr, forest: Forest) -> NDArray[np.int64]:
    """Return a lower bound on the distance of each expression, by counts of its variables and functions."""
    library = forest.library
    counted = [
        k
        for k, symbol in enumerate(library.symbols)
        if symbol.kind == "variable" or (symbol.arity == 1 and symbol.style == "function" and symbol.name != "inv")
    ]
    own = Forest.from_exprs([original], library).tokens
    more, less = np.zeros((2, len(forest)), np.int64)
    for k in counted:
        surplus = np.bincount(forest.owners[forest.tokens == k], minlength=len(forest)) - int((own == k).sum())
        more, less = more + np.maximum(surplus, 0), less + np.maximum(-surplus, 0)
    return np.maximum(more, less)
