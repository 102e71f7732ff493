"""Whether an expression has the form of a formula: with its constants fitted to data without noise it is exact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from runs import Numbers

if TYPE_CHECKING:
    from edhie.evaluate import Data
    from edhie.expr import Expr, Forest

EXACT = 1e-6  # RMSE over the target's standard deviation
PROMISING = 0.1  # of the same, on some of the rows, after a quick fit
SOME_ROWS = 100
LONGER = 2  # times the size of the formula: a right form has at most so many symbols
WINDOW = 1.3  # times the least error: what scored within it could have been chosen


def right_forms(forest: Forest, columns: Numbers, y: Numbers, *, size: int) -> NDArray[np.bool_]:
    """Return for each expression whether it has the form of a formula of this size.

    `columns`, of shape (variables, rows), and `y` are without noise. All expressions get a quick fit on some rows,
    from the constants that they have; those that come near are fitted to all rows.
    """
    from edhie.evaluate import CHEAP, THOROUGH, read_data

    found = np.zeros(len(forest), np.bool_)
    places = np.flatnonzero(forest.sizes <= LONGER * size)
    if len(places) == 0:
        return found
    rows = np.linspace(0, len(y) - 1, min(SOME_ROWS, len(y))).astype(np.int64)
    data = read_data(columns.T, y, names=forest.library.variables, allow_constant_target=True)
    quick = replace(CHEAP, iterations=50)
    near, errors = _fitted(with_free_numbers(forest.take(places)), data.take(rows), quick)
    promising = errors < PROMISING
    _, errors[promising] = _fitted(near.take(promising), data, replace(THOROUGH, points=20, starts=3, rounds=2))
    found[places] = promising & (errors < EXACT)
    return found


def forest_of(exprs: Sequence[Expr]) -> Forest:
    """Return expressions as one forest, whether they have numbers or not."""
    from edhie.expr import Forest

    return Forest.from_exprs(exprs, exprs[0].library.with_numbers())


def with_free_numbers(forest: Forest, *, whole: bool = False) -> Forest:
    """Return the forest with numbers as constants: they may have been fitted and rounded.

    Whole numbers stay as they are; with `whole`, only whole exponents do.
    """
    from edhie.expr import Forest
    from edhie.expr.symbols import NUMBER

    library = forest.library
    if library.constant is None or not library.has_numbers:
        return forest
    slots = np.flatnonzero(library.has_slot[forest.tokens])
    is_free = (forest.tokens[slots] == library.ids[NUMBER.name]) & (forest.values != np.round(forest.values))
    if whole:
        exponents = forest.right[forest.tokens == library.ids["^"]] if "^" in library else []
        is_free |= (forest.tokens[slots] == library.ids[NUMBER.name]) & ~np.isin(slots, exponents)
    tokens = forest.tokens.copy()
    tokens[slots[is_free]] = library.ids[library.constant]
    return Forest(library, tokens, forest.offsets, forest.values)


def _fitted(forest: Forest, data: Data, config: object) -> tuple[Forest, Numbers]:
    """Return the forest with constants fitted, and each RMSE over the target's standard deviation."""
    from edhie.evaluate import FitConfig, fit_constants

    assert isinstance(config, FitConfig)
    done = fit_constants(forest, data, config=config)
    return done.forest, np.sqrt(done.squared_errors / data.squares_to_explain)


def where_lost(is_right: NDArray[np.bool_], errors: Numbers, *, chosen: bool, shown: bool) -> str:
    """Return where the right form was lost; an empty text if it was chosen.

    `is_right` and `errors` are those of all expressions that were scored, `shown` tells whether one of the equations
    shown has the right form.
    """
    if chosen:
        return ""
    if shown or (is_right & (errors <= WINDOW * np.min(errors, initial=np.inf))).any():
        return "chosen otherwise"
    return "ranked low" if is_right.any() else "never built"


def places_of(values: Sequence[str]) -> dict[str, int]:
    """Return how often each of the places where a form can be lost occurs."""
    return {place: list(values).count(place) for place in ("chosen otherwise", "ranked low", "never built")}
