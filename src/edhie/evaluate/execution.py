"""One forest on the data: constants fitted where there are some, then the loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.constants.config import FitConfig
from edhie.evaluate.constants.fitting import fit_missing, with_parts
from edhie.evaluate.data import Data
from edhie.evaluate.losses import Loss
from edhie.evaluate.rows import few_rows
from edhie.evaluate.screening import Screening
from edhie.evaluate.values import squared_errors, values
from edhie.expr import Forest

VALUES_AT_ONCE = 4_000_000  # numbers, 32 MB: what losses that need values hold at a time


@dataclass(frozen=True, eq=False)
class Executed:
    """What became of a forest."""

    forest: Forest
    errors: NDArray[np.float64]
    is_exact: NDArray[np.bool_]
    """False where an expression was only found to be too bad."""
    n_screened: int


class Execution:
    """How expressions are executed: on which data, by which loss, with how much effort."""

    def __init__(
        self, data: Data, loss: Loss, constants: FitConfig, screening: Screening | None, threads: int | None
    ) -> None:
        self.data = data
        self.loss = loss
        self.constants = constants
        self.threads = threads
        self.screening = screening if screening is not None and screening.rows < data.n_rows else None
        self._few = few_rows(data, self.screening.rows) if self.screening else data

    def run(self, forest: Forest, bound: float) -> Executed:
        """Fit and score; where there is a screening, only the best by a first look on all rows."""
        if self.screening is None:
            fitted, errors, is_exact = self._score(forest, self.data, bound)
            return Executed(fitted, errors, is_exact, 0)
        looked, first, _ = self._score(forest, self._few, np.inf)
        count = max(1, int(np.ceil(self.screening.keep * len(forest))))
        best = np.sort(np.argsort(first, kind="stable")[:count])
        fitted, errors, is_exact = self._score(forest.take(best), self.data, bound)
        places = np.arange(len(forest))
        places[best] = len(forest) + np.arange(count)
        all_errors, all_exact = np.full(len(forest), np.inf), np.zeros(len(forest), np.bool_)
        all_errors[best], all_exact[best] = errors, is_exact
        return Executed(Forest.concatenate([looked, fitted]).take(places), all_errors, all_exact, len(forest) - count)

    def _score(self, forest: Forest, data: Data, bound: float) -> tuple[Forest, NDArray[np.float64], NDArray[np.bool_]]:
        """The forest with its constants fitted, the errors, and whether each is exact."""
        free = np.isnan(forest.values)
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
            return fitted, self._by_values(fitted, data), ~is_cut
        squares[plain] = squared_errors(forest.take(plain), data, bounds=limit, threads=self.threads)
        is_cut[plain] = np.isinf(squares[plain]) & np.isfinite(limit)
        return fitted, from_squares(squares, data), ~is_cut

    def _by_values(self, forest: Forest, data: Data) -> NDArray[np.float64]:
        errors = np.empty(len(forest))
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
