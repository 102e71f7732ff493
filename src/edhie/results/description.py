"""How many bits it takes to tell someone the data, given an expression: the shortest description is the one to trust.

An expression costs its symbols and half the logarithm of the number of rows for each constant; what it
leaves unexplained costs what noise of that size costs, the same everywhere or in proportion to the prediction,
whichever explains the residuals better. Where rows were held out, what counts is what it leaves unexplained of those.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.complexity import complexity
from edhie.evaluate.data import Data
from edhie.evaluate.rows import few_rows
from edhie.evaluate.values import values
from edhie.expr import Forest
from edhie.results.candidates import Candidate, Candidates
from edhie.results.freedom import is_testable

Numbers = NDArray[np.float64]
ROUNDING = 1e-12  # of the target's spread: residuals below are as good as none
FEW_ROWS, CLOSER = 10_000, 100  # of more rows so many are looked at first, and so many candidates on all
MOST_DESCRIBED = 3000  # candidates, those of the least error and those of the least complexity
CHUNK = 256  # expressions whose predictions are held at once
RARE = ("tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "abs", "min", "max")
COSTLY = {"^": 2, **dict.fromkeys(RARE, 2)}
"""Symbols that cost as much as two: any base to any exponent says as much as exp and log do together, and of 1,600
symbols in 120 formulas of physics four are among the rare ones, ten bits each instead of five."""


def shortest_description(candidates: Candidates, data: Data, *, validation: Data | None = None) -> Candidate | None:
    """The candidate that describes the data in the fewest bits; None where none has a finite error.

    One with as many constants as there are rows is no description, but the rows themselves: it is chosen only where
    there is nothing else.
    With `validation`, rows that were held out: as `description_bits` counts them, unless no candidate predicts these.
    """
    finite = np.flatnonzero(np.isfinite(candidates.errors))
    if len(finite) == 0:
        return None
    sparing = finite[is_testable(candidates.forest.take(finite), data)]
    finite = sparing if len(sparing) else finite
    by_error = finite[np.argsort(candidates.errors[finite], kind="stable")[:MOST_DESCRIBED]]
    by_size = finite[np.lexsort((candidates.errors[finite], candidates.complexities[finite]))[: MOST_DESCRIBED // 3]]
    chosen = np.unique(np.concatenate([by_error, by_size]))
    if data.n_rows > FEW_ROWS:  # a first choice by a few rows
        first = description_bits(candidates.forest.take(chosen), few_rows(data, FEW_ROWS))
        chosen = chosen[np.sort(np.argsort(first, kind="stable")[:CLOSER])]
    bits = description_bits(candidates.forest.take(chosen), data, validation=validation)
    if validation is not None and not np.isfinite(bits).any():
        bits = description_bits(candidates.forest.take(chosen), data)
    return candidates[int(chosen[np.argmin(bits)])]


def description_bits(forest: Forest, data: Data, *, validation: Data | None = None) -> Numbers:
    """By expression: the bits that it and what it leaves unexplained take; infinite where it is no prediction.

    With `validation`, what it leaves of these rows stands for what it leaves of the data, row by row.
    """
    judged = data if validation is None else validation
    found = np.empty(len(forest))
    for start in range(0, len(forest), CHUNK):
        part = forest[start : start + CHUNK]
        found[start : start + CHUNK] = residual_bits(values(part, judged.columns), judged)
    if validation is not None:
        found *= data.n_rows / validation.n_rows
    symbols = complexity(forest, COSTLY) * math.log2(max(len(forest.library), 2))
    constants = np.diff(forest.value_offsets) * 0.5 * math.log2(max(data.n_rows, 2))
    return found + symbols + constants


def residual_bits(predicted: NDArray[np.floating], data: Data) -> Numbers:
    """What residuals cost under the better of two kinds of noise."""
    with np.errstate(all="ignore"):
        residuals = data.y - predicted
        least = ROUNDING * float(np.std(data.y) or abs(data.y[0]) or 1.0)
        same = data.n_rows * np.log2(np.maximum(_spread(residuals, data), least))
        sizes = np.abs(predicted)
        relative = np.maximum(_spread(residuals / sizes, data), ROUNDING)
        in_proportion = data.n_rows * np.log2(relative) + np.log2(sizes).sum(axis=1)
    bits: Numbers = np.fmin(*(np.where(np.isfinite(each), each, np.inf) for each in (same, in_proportion)))
    return np.where(np.isfinite(residuals).all(axis=1), bits, np.inf)


def _spread(residuals: Numbers, data: Data) -> Numbers:
    """The root of the mean square, by expression."""
    squares = np.square(residuals)
    weights = data.weights
    return np.sqrt(squares.mean(axis=1) if weights is None else squares @ weights / data.total_weight)
