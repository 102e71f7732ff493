"""What was written but may not be an equation, changed until it may: variables added, parts taken out."""

from __future__ import annotations

import numpy as np

from edhie.evaluate.constraints import Rules
from edhie.expr import Forest
from edhie.search.pieces.rewriting import shorter
from edhie.search.pieces.splicing import Part, Stock

LEVELS = 3  # parts that are taken out one after the other
TRIED, TRIMMED = 24, 200  # too large ones that go on from level to level, and variants that come of it, at most


def allowed_or(first: Forest, second: Forest, rules: Rules) -> Forest:
    """By expression the first where it is allowed, and else the second."""
    places = np.where(rules.allowed(first), np.arange(len(first)), len(first) + np.arange(len(first)))
    return Forest.concatenate([first, second]).take(places)


def completed(forest: Forest, rules: Rules) -> Forest:
    """Expressions with the variables that they lack added, where all have to be there, so that values stay.

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
        inner = (needed[1], library.constant or name, name)
        head, *tail = (stock.symbols(np.full(n, library.ids[each])) for each in (needed[0], *inner))
        head, *tail = (Part(part.start, np.where(lacks, part.length, 0)) for part in (head, *tail))
        made = stock.join([head, stock.trees(np.arange(n)), *tail])
        added = np.isnan(made.values)  # the constants that came in; an unfitted one that was there starts at 0 too
        forest = Forest(library, made.tokens, made.offsets, np.where(added, 0.0, made.values))
    return forest


def trimmed(forest: Forest, rules: Rules) -> Forest:
    """What is left of expressions that are too large when parts are taken out until they are allowed.

    Constants are to be fitted anew: what an expression has lost, they have to make up for.
    """
    found = [forest.take([])]
    for _ in range(LEVELS):
        if len(forest) == 0:
            break
        smallest = np.argsort(forest.sizes, kind="stable")[:TRIED]
        parts = [shorter(forest.take([k])) for k in smallest.tolist()]
        variants = Forest.concatenate(parts).unique()
        is_allowed = rules.allowed(variants)
        found.append(variants.take(is_allowed))
        forest = variants.take(~is_allowed & (variants.sizes < forest.sizes.max()))
    made = Forest.concatenate(found)
    library = made.library
    slots = made.tokens[library.has_slot[made.tokens]]
    is_constant = slots == library.ids.get(library.constant or "", -1)
    free = Forest(library, made.tokens, made.offsets, np.where(is_constant, np.nan, made.values)).unique()
    return free.take(np.arange(min(len(free), TRIMMED)))
