"""Fits and curves of equations, values to try, and differences between two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from edhie.arrays import Numbers
from edhie.errors import EdhieError
from edhie.evaluate import Data
from edhie.evaluate.losses import FREEDOM, r2
from edhie.expr import Expr, parse
from edhie.expr.interpret import interpret
from edhie.expr.standard_libraries import everything
from edhie.fit import Equation
from edhie.plots.fit import parts_of
from edhie.selection.description_kernels import row_weights
from edhie.selection.noise import NoiseModel, smallest_prediction
from edhie.studio.answers.reading import MOST_POINTS, OpenedRun, Rows, finite, finites, opened_run, rows_of
from edhie.studio.question import Refused

GRID = 240  # points of a curve
BEYOND = 0.3  # of the range of the data, to either side
BEYOND_FACTOR = 3.0  # the same on a logarithmic axis
DEVIATIONS = 2.0  # that the band reaches to either side


def fit(
    folder: str,
    x: str | None,
    equation: int | None = None,
    expression: str | None = None,
    table: str | None = None,
    question: dict[str, Any] | None = None,
    log: bool = False,
) -> dict[str, Any]:
    """Return the measurements with predictions, and the curve along a column, of an equation or a live expression."""
    each: Equation | None = None
    is_relative = False
    if expression is None:
        run = opened_run(folder)
        each, is_relative = run.equation(equation), run.has_relative_errors
        rows, expr = run.rows, each.expr
    else:
        rows = rows_of(folder, table, question)
        try:
            expr = parse(expression, everything(rows.train.names))
        except EdhieError as error:
            raise Refused(f"this expression cannot be read: {error}") from error
    place = rows.place(x)
    grid, columns, limits = _grid(rows, place, rows.medians, log=log)
    values = _values(expr, rows, columns)
    with np.errstate(all="ignore"):  # the half width of the band that the uncertainty of the constants gives
        reach = DEVIATIONS * (np.full(GRID, np.nan) if each is None else each.standard_deviations(columns))
    low, high = (finites(values - reach), finites(values + reach)) if np.isfinite(reach).any() else (None, None)
    predicted = _values(expr, rows, rows.train.columns)
    with np.errstate(all="ignore"):
        return {
            "x": rows.columns[place],
            "measured": _measured(rows, expr, place, None if each is None else each.model),
            "curve": {"x": finites(grid), "y": finites(values), "low": low, "high": high, **limits},
            "error": finite(typical_error(rows.train, predicted, is_relative=is_relative)),
            "is_relative": is_relative,
            "r2": finite(r2(rows.train.y, predicted, rows.train.weights)),
        }


def try_values(
    folder: str,
    equation: int,
    x: str | None,
    constants: list[float] | None,
    values: dict[str, float],
    log: bool = False,
) -> dict[str, Any]:
    """Return what an equation gives with other constants, or at other values of its columns."""
    run = opened_run(folder)
    each, rows = run.equation(equation), run.rows
    expr = each.expr
    if constants is not None:
        if len(constants) != len(expr.constants):
            raise Refused(f"this equation has {len(expr.constants)} constants, not {len(constants)}")
        expr = expr.with_constants(constants)
    at = rows.medians.copy()
    for name, value in values.items():
        at[rows.place(name)] = value
    place = rows.place(x)
    grid, columns, limits = _grid(rows, place, at, log=log)
    predicted = _values(expr, rows, rows.train.columns)
    deviation = _deviation(run, each, at) if constants is None else None
    return {
        "value": finite(_values(expr, rows, at[:, np.newaxis])[0]),
        "standard_deviation": deviation,
        "at": dict(zip(rows.columns, finites(at), strict=True)),
        "curve": {"x": finites(grid), "y": finites(_values(expr, rows, columns)), **limits},
        "error": finite(typical_error(rows.train, predicted, is_relative=run.has_relative_errors)),
        "is_relative": run.has_relative_errors,
    }


def compared_curves(rows: Rows, one: Equation, other: Equation, x: str | None, *, log: bool) -> dict[str, Any]:
    """Return the curves of two equations along a column, and the row of the data where they differ most."""
    place = rows.place(x)
    grid, columns, limits = _grid(rows, place, rows.medians, log=log)
    a, b = (_values(each.expr, rows, columns) for each in (one, other))
    data = rows.train.columns
    with np.errstate(all="ignore"):
        apart = np.abs(_values(one.expr, rows, data) - _values(other.expr, rows, data))
    largest: dict[str, Any] | None = None
    if np.isfinite(apart).any():
        row = int(np.nanargmax(np.where(np.isfinite(apart), apart, np.nan)))
        largest = {"value": finite(apart[row]), "at": dict(zip(rows.columns, finites(data[:, row]), strict=True))}
    return {
        "x": rows.columns[place],
        "curves": {"x": finites(grid), "a": finites(a), "b": finites(b), **limits},
        "largest_difference": largest,
    }


def _grid(rows: Rows, place: int, at: Numbers, *, log: bool) -> tuple[Numbers, Numbers, dict[str, Any]]:
    """Return points along a column, to beyond the data on both sides; all columns there; and where that is.

    Other columns have the values `at`. For a logarithmic axis the ratios of points are equal, if all data are positive.
    """
    data = np.concatenate([part.columns[place] for part in rows.parts])
    low, high = float(data.min()), float(data.max())
    beyond = BEYOND * (high - low) or 1.0
    if log and low > 0:
        grid = np.geomspace(low / BEYOND_FACTOR, high * BEYOND_FACTOR, GRID)
    else:
        grid = np.linspace(low - beyond, high + beyond, GRID)
    columns = np.repeat(at[:, np.newaxis], GRID, axis=1)
    columns[place] = grid
    others = {name: finite(at[k]) for k, name in enumerate(rows.columns) if k != place}
    return grid, columns, {"data_from": finite(low), "data_to": finite(high), "at": others}


def _values(expr: Expr, rows: Rows, columns: Numbers) -> Numbers:
    """Return the values of an expression; NumPy's functions need no compiling."""
    found = interpret(expr, dict(zip(rows.train.names, columns, strict=True)))
    return np.broadcast_to(found, columns.shape[1:]).astype(np.float64)


def _measured(rows: Rows, expr: Expr, place: int, model: NoiseModel | None) -> list[dict[str, Any]]:
    """Return rows that were fitted to and held out, in proportion, with predictions and residuals.

    Where rows scatter differently, `scaled` are the residuals over the standard deviation that is expected of each row.
    """
    found = []
    parts = parts_of(rows.train, rows.validation, lambda columns: _values(expr, rows, columns), most=MOST_POINTS)
    deviations: Sequence[Numbers | None] = _expected(rows, expr, model) or [None] * len(parts)
    for part, expected in zip(parts, deviations, strict=True):
        told = {"x": part.rows.columns[place], "y": part.rows.y, "predicted": part.predicted}
        told["residual"] = part.residuals()
        if expected is not None:
            with np.errstate(all="ignore"):
                told["scaled"] = told["residual"] / expected[part.places]
        numbers = zip(*map(finites, told.values()), strict=True)
        found += [dict(zip(told, row, strict=True)) | {"held_out": part.is_held_out} for row in numbers]
    return found


def _expected(rows: Rows, expr: Expr, model: NoiseModel | None) -> list[Numbers] | None:
    """Return the standard deviations that a noise model expects of the rows, by part; None if all are the same."""
    differs = model is not None and model.name in ("proportional", "counts", "both")
    if not differs and rows.train.weights is None:
        return None
    parts = rows.parts
    predicted = np.concatenate([_values(expr, rows, data.columns) for data in parts])
    residuals = np.concatenate([data.y for data in parts]) - predicted
    weights = np.concatenate([np.ones(data.n_rows) if data.weights is None else data.weights for data in parts])
    if model is not None and differs:
        smallest = smallest_prediction(rows.train.y)
        weights = row_weights(predicted, residuals, weights, model.code, model.ratio, smallest, 1.0, FREEDOM)
    n_fitted = rows.train.n_rows
    with np.errstate(all="ignore"):
        scale = np.sqrt(np.mean(weights[:n_fitted] * residuals[:n_fitted] ** 2))
        deviations = scale / np.sqrt(weights)
    return np.split(deviations, [n_fitted])[: len(parts)]


def typical_error(data: Data, predicted: Numbers, *, is_relative: bool) -> float:
    """Return the root of the mean squared residual; if `is_relative`, of residuals over predictions."""
    with np.errstate(all="ignore"):
        residuals = data.y - predicted
        if is_relative:
            residuals /= np.maximum(np.abs(predicted), smallest_prediction(data.y))
        return float(np.sqrt(np.average(np.square(residuals), weights=data.weights)))


def _deviation(run: OpenedRun, equation: Equation, at: Numbers) -> float | None:
    """Return the standard deviation of a value, with the doubt between equations where it is known."""
    columns = np.ascontiguousarray(at[:, np.newaxis])
    with np.errstate(all="ignore"):
        if run.discovery is not None and any(each.weight for each in run.equations):
            return finite(run.discovery.standard_deviations(columns, equation)[0])
        return finite(equation.standard_deviations(columns)[0])
