"""How far the values of an expression may be off because its constants are only known to within the noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.constants.directions import Directions
from edhie.evaluate.constants.jacobian import Response
from edhie.evaluate.constants.ties import Ties
from edhie.evaluate.data import Data
from edhie.expr import Expr

Numbers = NDArray[np.float64]
ROUNDING = 1e-6  # of a slope: what is left outside of the directions that data tell of is rounding below this


def value_deviations(expr: Expr, data: Data, columns: Numbers, *, ties: Ties | None = None) -> Numbers:
    """By row of `columns`: the standard deviation of the expression's value, as fitted to `data`.

    Constants that the data do not determine one by one may still determine the values. Infinite where they do not;
    NaN where the expression has no value. `ties` are constants that are one in several places.
    """
    if not expr.constants:
        return np.zeros(columns.shape[1])
    response = Response(expr, data.columns)
    ties = ties or Ties.none(len(response.constants))
    fitted, slopes = response.jacobian(response.constants)
    slopes = ties.together(slopes)
    weights = np.ones(data.n_rows) if data.weights is None else data.weights
    directions = Directions.of(slopes, weights)
    rank = directions.rank(response.precision)
    freedom = int(np.count_nonzero(weights)) - rank
    with np.errstate(all="ignore"):
        variance = float(weights @ np.square(data.y - fitted)) / freedom if freedom > 0 else np.inf
        _, there = Response(expr, columns).jacobian(response.constants)
        there = ties.together(there)
        scaled = there / directions.scales[:, np.newaxis]
        along = directions.axes[:, :rank].T @ scaled
        outside = scaled - directions.axes[:, :rank] @ along
        found: Numbers = np.sqrt(variance) * np.linalg.norm(along / directions.strengths[:rank, np.newaxis], axis=0)
        is_lost = np.linalg.norm(outside, axis=0) > ROUNDING * np.linalg.norm(scaled, axis=0)
    return np.where(is_lost, np.inf, found)
