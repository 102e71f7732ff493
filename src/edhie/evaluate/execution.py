"""Execution of a forest on data: constants without a value are fitted, then the loss is computed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.constants.fitting import FitConfig, fit_missing, with_parts
from edhie.evaluate.data import Data
from edhie.evaluate.losses import Loss
from edhie.evaluate.values import squared_errors, values
from edhie.expr import Forest

VALUES_AT_ONCE = 4_000_000  # numbers, 32 MB: held at a time for losses that need values


@dataclass(frozen=True, eq=False)
class Executed:
    """The result of executing a forest."""

    forest: Forest
    """The expressions with their constants fitted."""
    errors: NDArray[np.float64]
    is_exact: NDArray[np.bool_]
    """False for expressions that were only found to be worse than the bound."""


@dataclass(frozen=True, eq=False)
class Execution:
    """The data, the loss and the effort with which expressions are executed."""

    data: Data
    loss: Loss
    constants: FitConfig
    threads: int | None

    def run(self, forest: Forest, bound: float) -> Executed:
        """Fit and score a forest; an error above the bound may be infinite."""
        data, free = self.data, np.isnan(forest.values)
        to_fit = np.unique(np.searchsorted(forest.value_offsets, np.flatnonzero(free), side="right") - 1)
        plain = np.setdiff1d(np.arange(len(forest)), to_fit, assume_unique=True)
        to_squares, from_squares = self.loss.to_sum_of_squares, self.loss.from_sum_of_squares
        limit = np.inf if to_squares is None else float(to_squares(bound, data))
        squares, is_cut = np.empty(len(forest)), np.zeros(len(forest), np.bool_)
        fitted = forest
        if len(to_fit):
            done = fit_missing(forest.take(to_fit), data, config=self.constants, bound=limit, threads=self.threads)
            squares[to_fit], is_cut[to_fit] = done.squared_errors, done.is_cut
            fitted = with_parts(forest, to_fit, done.forest)
        if from_squares is None:
            return Executed(fitted, self._by_values(fitted), ~is_cut)
        squares[plain] = squared_errors(forest.take(plain), data, bounds=limit, threads=self.threads)
        is_cut[plain] = np.isinf(squares[plain]) & np.isfinite(limit)
        return Executed(fitted, from_squares(squares, data), ~is_cut)

    def _by_values(self, forest: Forest) -> NDArray[np.float64]:
        data, errors = self.data, np.empty(len(forest))
        step = max(1, VALUES_AT_ONCE // data.n_rows)
        for start in range(0, len(forest), step):
            part = forest.take(slice(start, start + step))
            ready = ~np.isnan(part.values)
            whole = np.logical_and.reduceat(np.append(ready, True), part.value_offsets[:-1]) if len(part) else ready
            whole = whole | (np.diff(part.value_offsets) == 0)
            found = np.full((len(part), data.n_rows), np.nan)
            found[whole] = values(part.take(whole), data.columns, threads=self.threads)
            errors[start : start + step] = [self.loss.of_values(data.y, row, data.weights) for row in found]
        return errors
