"""Expressions that constraints do not allow as equations, changed until they do: variables added, parts taken out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from edhie.evaluate.constants.fitting import with_parts
from edhie.evaluate.constraints import Rules
from edhie.expr import Forest
from edhie.search.arrays import are_constants, with_missing
from edhie.search.mosaic.config import Scoring
from edhie.search.pieces.rewriting import shorter
from edhie.search.pieces.splicing import Stock


def allowed_or(first: Forest, second: Forest, rules: Rules) -> Forest:
    """Return, by expression, the first where it is allowed, and else the second."""
    others = np.flatnonzero(~rules.allowed(first))
    return with_parts(first, others, second.take(others))


def completed(forest: Forest, rules: Rules) -> Forest:
    """Return expressions with the variables that they lack added, where all have to be there; values stay.

    That is + 0*x, whose 0 is a constant to be fitted, or + (x - x) without constants.
    """
    library = forest.library
    needed = ("+", "*") if library.constant is not None else ("+", "-")
    if not rules.constraints.all_variables or any(name not in library for name in needed):
        return forest
    for k, name in enumerate(library.variables):
        lacks = rules.missing(forest)[:, k]
        if not lacks.any():
            continue
        n, stock = len(forest), Stock(forest)
        added = (needed[0], needed[1], library.constant or name, name)
        head, *tail = (stock.symbols(np.full(n, library.ids[each])).only(lacks) for each in added)
        made = stock.join([head, stock.trees(np.arange(n)), *tail])
        forest = with_missing(made, 0.0)  # constants that came in; an unfitted one that was there, too
    return forest


def trimmed(forest: Forest, rules: Rules) -> Forest:
    """Return allowed expressions that are left of too large ones when parts are taken out.

    Their constants have no values: they have to make up for what was taken out.
    """
    found = [forest.take([])]
    for _ in range(Scoring.TRIM_LEVELS):
        if len(forest) == 0:
            break
        smallest = np.argsort(forest.sizes, kind="stable")[: Scoring.TRIM_TRIED]
        variants = Forest.concatenate([shorter(forest.take([k])) for k in smallest.tolist()]).unique()
        is_allowed = rules.allowed(variants)
        found.append(variants.take(is_allowed))
        forest = variants.take(~is_allowed & (variants.sizes < forest.sizes.max()))
    made = Forest.concatenate(found)
    return replace(made, values=np.where(are_constants(made), np.nan, made.values)).unique()[: Scoring.TRIM_KEPT]
