"""Equations on all rows of a large table: exact constants, standard errors, loss and R², in passes over its batches."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from edhie.arrays import Numbers
from edhie.evaluate.constants.fitting import FitConfig
from edhie.evaluate.constants.jacobian import Response
from edhie.evaluate.constants.polish import BatchedFit
from edhie.evaluate.constants.slope_svd import Triangle
from edhie.evaluate.constants.uncertainty import TiedConstants, linearise
from edhie.evaluate.data import Data
from edhie.evaluate.large_table import LargeTable
from edhie.evaluate.losses import FREEDOM, LOSSES, loss_named
from edhie.selection.noise import BOTH, CONSTANT, STUDENT, NoiseModel, smallest_prediction
from edhie.selection.plain_numbers import literal_bits

if TYPE_CHECKING:
    from edhie.fit.equation import Equation
    from edhie.fit.problem import Problem
    from edhie.fit.settings import Settings

LOGGER = logging.getLogger("edhie")
MOST_PASSES = 30  # most equations take three; those with constants that the rows hardly determine take more


@dataclass(frozen=True, eq=False)
class AllRows:
    """Statistics of an equation on all rows to which it was fitted."""

    n_rows: int
    r2: float
    triangle: Triangle
    """Slopes by its constants, and by its numbers if they count as constants, and its residuals."""

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON."""
        counts = {"rows": self.n_rows, "r2": self.r2, "counting_rows": self.triangle.n_rows}
        return counts | {"loosened": self.triangle.factor.tolist()}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> AllRows:
        """Return what `as_json` wrote."""
        factor = np.array(row["loosened"], np.float64)
        return cls(int(row["rows"]), float(row["r2"]), Triangle(factor, int(row["counting_rows"])))


def fitted_to_all_rows(equations: Sequence[Equation], problem: Problem, settings: Settings) -> list[Equation]:
    """Return the equations with constants at the optimum on all rows, and their loss and R² there.

    Forms and plain numbers stay as they are. Equations that have no value in some row are left out; if none has one in
    every row, they are returned as they are, fitted to the sample.
    """
    table = problem.whole
    assert table is not None
    began, totals = time.perf_counter(), _Totals.of(table)
    LOGGER.info("fitting %d equations to all %s rows", len(equations), f"{totals.n_rows:,}")
    fits = [_start(each, totals, settings.constants) for each in equations]
    passes = _fit(fits, table)
    pairs = zip(equations, fits, strict=True)
    found = [replace(each, candidate=replace(each.candidate, expr=fit.expr)) for each, fit in pairs]
    scored = _scored(found, table, totals, settings)
    LOGGER.info("fitted in %d passes over the table, %.1f s", passes + 2, time.perf_counter() - began)
    whole = [each for each in scored if np.isfinite(each.loss)]
    if not whole:
        LOGGER.warning("no equation has a value in every row; those shown are fitted to the sample alone")
        return list(equations)
    if len(whole) < len(scored):
        lost = next(each for each in scored if not np.isfinite(each.loss))
        LOGGER.warning("%d equations have no value in some row and are left out: %s", len(scored) - len(whole), lost)
    if whole[0] is not scored[0]:  # the chosen one is left out: choose the likeliest, or the most accurate
        whole.sort(key=lambda each: (-(each.weight or 0.0), each.loss))
    return whole


class _Totals(NamedTuple):
    """Sums over all rows that are fitted to."""

    n_rows: int
    total_weight: float
    squares_about_mean: float
    smallest: float
    """The least size of a prediction for proportional noise."""

    @classmethod
    def of(cls, table: LargeTable) -> _Totals:
        """Sum up the target in one pass."""
        n_rows, total, first, second, smallest, origin = 0, 0.0, 0.0, 0.0, np.inf, None
        for batch in table.batches():
            origin = float(batch.y[0]) if origin is None else origin  # smaller squares have smaller rounding errors
            shifted = batch.y - origin
            weighted = shifted if batch.weights is None else shifted * batch.weights
            n_rows += batch.n_rows
            total += batch.total_weight
            first += float(weighted.sum())
            second += float(weighted @ shifted)
            smallest = min(smallest, smallest_prediction(batch.y) if batch.y.any() else np.inf)
        squares = max(second - first * first / total, 0.0)
        return cls(n_rows, total, squares, smallest if np.isfinite(smallest) else 1.0)


@dataclass(frozen=True)
class _Noise:
    """Weights of rows under a noise model; its global scales are those of the sample."""

    model: NoiseModel | None
    smallest: float
    typical: float
    """The mean square of the predictions."""
    scale: float
    """The scale of Student's distribution."""

    @classmethod
    def of(cls, equation: Equation, totals: _Totals) -> _Noise:
        """Return the noise of an equation."""
        from edhie.evaluate.student_kernels import student_scale

        train, scale = equation.train, 1.0
        predicted = equation.predict(train.columns)
        if equation.model is STUDENT:
            base = np.ones(train.n_rows) if train.weights is None else train.weights
            scale = student_scale(train.y - predicted, base, FREEDOM)
        return cls(equation.model, totals.smallest, float(np.mean(np.square(predicted))), scale)

    def weights(self, predicted: Numbers, batch: Data) -> Numbers | None:
        """Return the weights of some rows, up to a factor; None where all count the same."""
        from edhie.selection.description_kernels import row_weights

        model = self.model
        if model in (None, CONSTANT):
            return batch.weights
        assert model is not None
        ratio = model.ratio
        if model in BOTH:  # relative to the predictions of these rows
            ratio *= float(np.sqrt(np.mean(np.square(predicted)) / max(self.typical, 1e-300)))
        base = np.ones(batch.n_rows) if batch.weights is None else batch.weights
        residuals = batch.y - predicted
        return row_weights(predicted, residuals, base, model.code, ratio, self.smallest, self.scale, FREEDOM)


def _start(equation: Equation, totals: _Totals, config: FitConfig) -> BatchedFit:
    """Return the fit of an equation; with a noise model, constants that are plain numbers stay."""
    noise = _Noise.of(equation, totals)
    constants = np.array(equation.expr.constants, np.float64)
    held = np.isfinite(literal_bits(constants)) if equation.model is not None else np.zeros(len(constants), np.bool_)
    return BatchedFit(
        equation.expr, noise.weights, ties=equation.ties, held=held, reweights=equation.model not in (None, CONSTANT),
        lower=config.lower, upper=config.upper,
    )  # fmt: skip


def _fit(fits: Sequence[BatchedFit], table: LargeTable) -> int:
    """Improve all constants together, pass by pass; return the number of passes."""
    for n_passes in range(MOST_PASSES):
        active = [each for each in fits if not each.is_done]
        if not active:
            return n_passes
        used = {name for each in active for name in each.expr.variables}
        for batch in table.batches(used):
            for each in active:
                each.add(batch)
        for each in active:
            each.advance()
    return MOST_PASSES


def _scored(equations: Sequence[Equation], table: LargeTable, totals: _Totals, settings: Settings) -> list[Equation]:
    """Return the equations with their loss, R² and slopes on all rows, in one pass."""
    scores = [_Score(each, _Noise.of(each, totals)) for each in equations]
    for batch in table.batches({name for each in equations for name in each.expr.variables}):
        for each in scores:
            each.add(batch)
    return [each.equation(totals, settings) for each in scores]


class _Score:
    """Sums over all rows for one equation."""

    def __init__(self, equation: Equation, noise: _Noise) -> None:
        from edhie.fit.equation import loosened

        self._equation = equation
        self._noise = noise
        self._form, self._triangle = loosened(equation)[0], Triangle.empty(0)
        self._ties = equation.ties or TiedConstants.none(len(self._form.constants))
        self._squares = self._absolute = self._largest = 0.0

    def add(self, batch: Data) -> None:
        """Add rows; an equation that is undefined in one has an infinite loss."""
        if not np.isfinite(self._squares):
            return
        response = Response(self._form, batch.columns)
        predicted, self._triangle = linearise(response, batch, self._noise.weights, self._ties, self._triangle)
        with np.errstate(all="ignore"):
            errors = np.abs(batch.y - predicted)
            weights = np.ones(batch.n_rows) if batch.weights is None else batch.weights
            self._squares += float(weights @ np.square(errors))
            self._absolute += float(weights @ errors)
            self._largest = max(self._largest, float(errors[weights > 0].max(initial=0.0)))
        if np.isnan(self._squares):
            self._squares = np.inf

    def equation(self, totals: _Totals, settings: Settings) -> Equation:
        """Return the equation with its loss and statistics on all rows."""
        loss = self._loss(totals, settings) if np.isfinite(self._squares) else np.inf
        unexplained = LOSSES["one_minus_r2"].from_sum_of_squares
        assert unexplained is not None
        known = AllRows(totals.n_rows, 1.0 - float(unexplained(self._squares, totals)), self._triangle)
        return replace(self._equation, candidate=replace(self._equation.candidate, error=loss), all_rows=known)

    def _loss(self, totals: _Totals, settings: Settings) -> float:
        """Return the loss on all rows; on the sample, if it is neither a mean nor a maximum over rows."""
        loss = loss_named(settings.loss)
        if loss.from_sum_of_squares is not None:
            return float(loss.from_sum_of_squares(self._squares, totals))
        if loss is LOSSES["mae"]:
            return self._absolute / totals.total_weight
        if loss is LOSSES["max"]:
            return self._largest
        train = self._equation.train
        return loss.of_values(train.y, self._equation.predict(train.columns), train.weights)
