"""Phases and frequencies of fitted waves as people write them, with the constants refitted."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.constants.polish import polish
from edhie.evaluate.data import Data, error_limit
from edhie.evaluate.values import squared_errors
from edhie.expr import Expr, Forest
from edhie.finish.phases import Grid, normal_phases

Numbers = NDArray[np.float64]

OFF_GRID = 1e-7  # share of a step by which a value may be off the grid
MOST_STEPS = 1_000_000  # between the least and the greatest value: any numbers lie on a finer grid
SLACK = 1e-6  # relative increase of the sum of squares: large phases can fit their own rounding errors


def unaliased(
    expr: Expr,
    data: Data,
    *,
    lower: float = -math.inf,
    upper: float = math.inf,
    may_polish: bool = True,
) -> Expr:
    """Write waves with phases within one turn and with the lowest frequencies that have the same values on the data.

    On evenly spaced rows a frequency above the Nyquist limit is an alias: `sin(65*t)` is `sin(2.168*t)` where t is
    a multiple of 0.1. If rounding changes the sum of squares, constants are refitted within the bounds, since those of
    the old form had lost digits to its large numbers. If the sum of squares would rise, the expression is unchanged.
    """
    grids = {name: grid for name in expr.variables if (grid := grid_of(data.columns[data.names.index(name)]))}
    found = normal_phases(expr, grids)
    if found == expr or None in expr.constants:
        return expr
    if not all(lower <= (value or 0.0) <= upper for value in set(found.constants) - set(expr.constants)):
        return expr
    before, after = (float(squared_errors(Forest.from_exprs([each]), data)[0]) for each in (expr, found))
    if abs(after - before) <= SLACK * before:
        return found
    if may_polish:
        polished = polish(Forest.from_exprs([found]), data, lower=lower, upper=upper)
        found, after = polished.forest[0], float(polished.squared_errors[0])
    return found if after <= error_limit(before, data, slack=SLACK) else expr


def grid_of(column: Numbers) -> Grid | None:
    """Return the coarsest even grid that all values of a column lie on; None if there is only a very fine one."""
    values = np.unique(column)
    if len(values) < 3:
        return None
    distances = values - values[0]
    rounding = 4.0 * float(np.spacing(np.abs(values).max()))
    step, finest = float(np.diff(values).min()), float(distances[-1]) / MOST_STEPS
    while step > finest:
        exact = _refined(distances, step)
        if (_left(distances, exact) <= max(OFF_GRID * exact, rounding)).all():
            return Grid(float(values[0]), exact)
        left = _left(distances, step)
        missing = left > np.maximum(OFF_GRID * step, rounding * (1.0 + distances / step))
        if not missing.any():
            return None
        step = float(left[missing].min())  # as in Euclid's algorithm
    return None


def _left(distances: Numbers, step: float) -> Numbers:
    return np.asarray(np.abs(distances - step * np.round(distances / step)))


def _refined(distances: Numbers, step: float) -> float:
    """Return the step by least squares, over wider and wider ranges: one rounded difference would drift off."""
    reach = step
    while reach < distances[-1]:
        reach *= 8.0
        near = distances[distances <= reach]
        counts = np.round(near / step)
        step = float(counts @ near / (counts @ counts)) if counts.any() else step
    return step
