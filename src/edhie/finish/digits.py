"""Rounding of constants for print: as few significant digits as the loss and the predictions need."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from edhie.arrays import Indices, Numbers
from edhie.evaluate.constants.jacobian import Response
from edhie.evaluate.data import Data
from edhie.evaluate.values import squared_errors, values
from edhie.expr import Expr, Forest, SymbolLibrary
from edhie.expr.numerals import short_numeral
from edhie.expr.symbols import constant

LEAST, MOST = 4, 17  # significant digits; 17 tell all doubles apart
LOSS_SHARE = 0.01  # by which the sum of squares may change
RESIDUAL_SHARE = 1e-3  # of the residuals' spread: how far a prediction may move
ACCURACY = 1e-6  # of the target's spread: a prediction may always move so far, if the loss allows it
NORMAL_SPREAD = 1.4826  # standard deviation over median absolute deviation
TIGHTER = 0.25
SAMPLED_ROWS = 10_000  # rows on which slopes are computed; the result is checked on all rows


def needed_digits(expr: Expr, data: Data, *, held_out: Data | None = None) -> Expr:
    """Round the constants and numbers of an expression to as few digits as its text needs.

    The result has the same tree. Its sum of squares is that of `expr` to 1 %, and its predictions on all rows,
    held-out ones included, differ by less than a thousandth of the residuals' spread (or of the row's own residual)
    or a millionth of the target's, whichever is larger. Constants of an exact equation have all digits that count.
    Constants get 4 digits or more, by how much predictions depend on them. An expression without finite
    predictions keeps all digits.

    >>> from edhie.evaluate import read_data
    >>> from edhie.expr import parse
    >>> t = np.linspace(0.0, 1.0, 50)
    >>> data = read_data({"t": t}, np.sin(1234567.891 * t) + 0.01 * np.cos(90 * t))
    >>> str(needed_digits(parse("c*sin(c*t)", variables=["t"]).with_constants([1.0000123, 1234567.891]), data))
    '1.00001*sin(1234567.891*t)'
    """
    if None in expr.constants:
        return expr
    forest = Forest.from_exprs([expr])
    check = _Check(forest, data, held_out)
    if not len(forest.values) or not check.parts:
        return expr
    budget, least = 1.0 / math.sqrt(len(forest.values)), LEAST
    effects = _effects(forest, check.parts)
    while True:
        digits = _digits(forest.values, effects, budget, least)
        found = forest.with_values(np.array(list(map(_rounded, forest.values.tolist(), digits.tolist()))))
        if digits.min() >= MOST or check.holds(found):
            return found[0]
        budget, least = budget * TIGHTER, least + 1  # slopes may be 0, and the effect not


class _Part(NamedTuple):
    """Rows on which the expression is finite."""

    columns: Numbers
    predicted: Numbers
    tolerance: Numbers
    """Distance by which the prediction of each row may move."""


class _Check:
    """A comparison of rounded expressions with the original."""

    def __init__(self, forest: Forest, data: Data, held_out: Data | None) -> None:
        self.data = data
        self.squares = float(squared_errors(forest, data)[0])
        least = max(
            RESIDUAL_SHARE * _spread(data.y - values(forest, data.columns)[0]),
            ACCURACY * math.sqrt(data.squares_to_explain / data.total_weight),
        )
        parts = [_part(forest, each, least) for each in (data, held_out) if each is not None]
        self.parts = [part for part in parts if len(part.predicted)]

    def holds(self, other: Forest) -> bool:
        for part in self.parts:
            with np.errstate(all="ignore"):
                distance = np.abs(values(other, part.columns)[0] - part.predicted)
            if not (distance <= part.tolerance).all():
                return False
        if not math.isfinite(self.squares):
            return True
        after = float(squared_errors(other, self.data)[0])
        return abs(after - self.squares) <= LOSS_SHARE * self.squares


def _part(forest: Forest, data: Data, least: float) -> _Part:
    predicted = values(forest, data.columns)[0]
    rows = np.isfinite(predicted)
    columns = data.columns if rows.all() else np.ascontiguousarray(data.columns[:, rows])
    own = RESIDUAL_SHARE * np.abs(data.y - predicted)[rows]
    return _Part(columns, predicted[rows], np.maximum(own, least))


def _with_constant(library: SymbolLibrary) -> SymbolLibrary:
    if library.constant is not None:
        return library
    name = "c"
    while name in library:
        name += "_"
    return library.extended(constant(name))


def _spread(residuals: Numbers) -> float:
    """Return a robust standard deviation of the residuals, which a few outliers hardly change."""
    size = np.abs(residuals[np.isfinite(residuals)])
    if not len(size):
        return math.inf
    return float(min(math.sqrt(np.mean(np.square(size))), NORMAL_SPREAD * np.median(size)))


def _effects(forest: Forest, parts: list[_Part]) -> Numbers:
    """Return the largest move of a prediction for each unit of each value, in units of its tolerance."""
    library, tokens = _with_constant(forest.library), forest.tokens.copy()
    tokens[library.has_slot[tokens]] = library.ids[library.constant or ""]  # as constants, numbers have slopes too
    probe = Forest(library, tokens, forest.offsets, forest.values)
    found = np.zeros(len(forest.values))
    for part in parts:
        step = -(-part.columns.shape[1] // SAMPLED_ROWS)
        response = Response(probe, np.ascontiguousarray(part.columns[:, ::step]))
        with np.errstate(all="ignore"):
            _, slopes = response.jacobian(response.constants)
            size = np.abs(slopes / part.tolerance[::step])
        found = np.maximum(found, np.where(np.isfinite(size), size, 0.0).max(axis=1))
    return found


def _digits(constants: Numbers, effects: Numbers, budget: float, least: int) -> Indices:
    """Return the significant digits with which rounding a value moves no prediction by more than its budget."""
    with np.errstate(all="ignore"):
        size = np.floor(np.log10(np.abs(constants))) + 1.0
        wanted = np.ceil(size + np.log10(0.5 * effects / budget))
    wanted = np.where(np.isnan(wanted), least, wanted)  # 0, or of no effect
    return np.clip(wanted, least, MOST).astype(np.int64)


def _rounded(value: float, digits: int) -> float:
    """Return the value rounded to this number of digits, if that makes its text shorter."""
    found = float(f"{value:.{digits - 1}e}")
    if not math.isfinite(found):
        return value
    return found if len(short_numeral(found)) < len(short_numeral(value)) else value
