"""Constants of whole expressions, fitted together; those of a part that is called twice are the same in both places."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.constants.fitting import FitConfig, fit_constants
from edhie.evaluate.constants.jacobian import Response
from edhie.evaluate.constants.polish import gauss_newton
from edhie.evaluate.data import Data
from edhie.evaluate.values import squared_errors
from edhie.expr import Forest
from edhie.search.template.template import Template
from edhie.search.variation import likely_constants

Numbers = NDArray[np.float64]
Indices = NDArray[np.int64]
FROM_HERE = FitConfig(points=0, starts=1, iterations=30, tolerance=1e-14)
ANEW = FitConfig(points=24, starts=4, iterations=60, tolerance=1e-10)
TIED_STEPS = 15
TIED_POINTS, TIED_STARTS = 24, 3


class Fitting:
    """Fits the constants of a template's instances to data, within bounds."""

    def __init__(self, template: Template, data: Data, bounds: FitConfig) -> None:
        self._template = template
        self._data = data
        self._from_here, self._anew = (
            replace(config, lower=bounds.lower, upper=bounds.upper) for config in (FROM_HERE, ANEW)
        )

    def from_here(self, forest: Forest) -> Forest:
        """With constants improved from the values that they have; those that cannot be have NaN."""
        if len(forest) == 0 or len(forest.values) == 0:
            return forest
        values = np.clip(forest.values, self._from_here.lower, self._from_here.upper)
        is_constant = self._are_constants(forest)
        forest = _with(forest, np.where(is_constant, values, forest.values))
        if not self._template.is_tied:
            return fit_constants(forest, self._data, config=self._from_here).forest
        found = [self._descended(forest.take([k])) for k in range(len(forest))]
        return _with(forest, np.concatenate(found))

    def anew(self, forest: Forest, rng: np.random.Generator) -> Forest:
        """With constants fitted from several starts, whatever they are."""
        if len(forest) == 0 or len(forest.values) == 0:
            return forest
        is_constant = self._are_constants(forest)
        forest = _with(forest, np.where(is_constant, np.nan, forest.values))
        if not self._template.is_tied:
            return fit_constants(forest, self._data, config=self._anew).forest
        return Forest.concatenate([self._from_starts(forest.take([k]), rng) for k in range(len(forest))])

    def _are_constants(self, forest: Forest) -> NDArray[np.bool_]:
        library = forest.library
        slots = forest.tokens[library.has_slot[forest.tokens]]
        return np.asarray(slots == (-1 if library.constant is None else library.ids[library.constant]))

    # -- constants that are the same in several places ------------------------------------

    def _ties(self, whole: Forest) -> Indices:
        """By constant of one expression, in prefix order: which of its different constants it is."""
        return np.array(self._template.ties(whole[0]), np.int64)

    def _descended(self, whole: Forest) -> Numbers:
        """The values of one expression after some steps."""
        ties, is_constant = self._ties(whole), self._are_constants(whole)
        values = whole.values.copy()
        if len(ties) == 0 or not np.isfinite(values).all():
            return values
        start = np.empty(int(ties.max()) + 1)
        start[ties] = values[is_constant]
        response, data = cast(Response, _Tied(whole, self._data.columns, ties)), self._data
        lower, upper = self._from_here.lower, self._from_here.upper
        found, _ = gauss_newton(response, start, data.y, data.weights, lower=lower, upper=upper, steps=TIED_STEPS)
        values[is_constant] = found[ties]
        return values

    def _from_starts(self, whole: Forest, rng: np.random.Generator) -> Forest:
        ties, is_constant = self._ties(whole), self._are_constants(whole)
        if len(ties) == 0:
            return whole
        n_different = int(ties.max()) + 1
        points = np.stack([likely_constants(n_different, rng) for _ in range(TIED_POINTS)])
        points[0] = 1.0
        points = np.clip(points, self._from_here.lower, self._from_here.upper)
        all_values = np.tile(whole.values, (TIED_POINTS, 1))
        all_values[:, is_constant] = points[:, ties]
        tried = _with(whole.take(np.zeros(TIED_POINTS, np.int64)), all_values.ravel())
        best = np.argsort(squared_errors(tried, self._data), kind="stable")[:TIED_STARTS]
        ends = _with(tried.take(best), np.concatenate([self._descended(tried.take([k])) for k in best]))
        return ends.take([int(np.argmin(squared_errors(ends, self._data)))])


class _Tied:
    """An expression as a function of its different constants; stands where a `Response` is asked for."""

    def __init__(self, whole: Forest, columns: Numbers, ties: Indices) -> None:
        self._response = Response(whole, columns)
        self._ties = ties

    def values(self, constants: Numbers) -> Numbers:
        """The values for these constants."""
        return self._response.values(constants[self._ties])

    def jacobian(self, constants: Numbers) -> tuple[Numbers, Numbers]:
        """Values and slopes: what moves in several places moves the whole by the sum."""
        found, slopes = self._response.jacobian(constants[self._ties])
        together = np.zeros((len(constants), slopes.shape[1]))
        np.add.at(together, self._ties, slopes)
        return found, together


def _with(forest: Forest, values: Numbers) -> Forest:
    return Forest(forest.library, forest.tokens, forest.offsets, np.ascontiguousarray(values))
