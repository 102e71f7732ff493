"""Joint fits of all constants of a whole expression; those of a part that is called twice are tied."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np

from edhie.evaluate.constants.fitting import FitConfig, fit_constants
from edhie.evaluate.constants.jacobian import Response, constants_among_values
from edhie.evaluate.constants.polish import gauss_newton
from edhie.evaluate.constants.uncertainty import TiedConstants
from edhie.evaluate.data import Data
from edhie.evaluate.values import squared_errors
from edhie.expr import Forest
from edhie.form import Form
from edhie.search.arrays import Numbers
from edhie.search.pieces.rewriting import FROM_HERE
from edhie.search.pieces.variation import likely_constants

ANEW = FitConfig(points=24, starts=4, iterations=60, tolerance=1e-10)
TIED_STEPS = 15  # of the Gauss-Newton method
TIED_POINTS, TIED_STARTS = 24, 3  # random points that are compared; the best, from which fits start


class Fitting:
    """Fits the constants of a form's instances to data, within bounds."""

    def __init__(self, form: Form, data: Data, bounds: FitConfig) -> None:
        self._form = form
        self._data = data
        self._from_here, self._anew = (
            replace(config, lower=bounds.lower, upper=bounds.upper) for config in (FROM_HERE, ANEW)
        )

    def from_here(self, forest: Forest) -> Forest:
        """Return instances with constants refitted from their current values; NaN where a fit fails."""
        if len(forest) == 0 or len(forest.values) == 0:
            return forest
        values = np.clip(forest.values, self._from_here.lower, self._from_here.upper)
        forest = replace(forest, values=np.where(constants_among_values(forest), values, forest.values))
        if not self._form.is_tied:
            return fit_constants(forest, self._data, config=self._from_here).forest
        found = [self._descended(forest.take([k])) for k in range(len(forest))]
        return replace(forest, values=np.concatenate(found))

    def anew(self, forest: Forest, rng: np.random.Generator) -> Forest:
        """Return instances with constants fitted from several starts; their current values are ignored."""
        if len(forest) == 0 or len(forest.values) == 0:
            return forest
        forest = replace(forest, values=np.where(constants_among_values(forest), np.nan, forest.values))
        if not self._form.is_tied:
            return fit_constants(forest, self._data, config=self._anew).forest
        return Forest.concatenate([self._from_starts(forest.take([k]), rng) for k in range(len(forest))])

    # -- tied constants -------------------------------------------------------------------

    def _descended(self, whole: Forest) -> Numbers:
        """Return the values of one expression after some steps of the Gauss-Newton method."""
        ties, is_constant = TiedConstants(self._form.ties(whole[0])), constants_among_values(whole)
        values, data = whole.values.copy(), self._data
        if ties.of and np.isfinite(values).all():
            response, start = cast(Response, _Tied(whole, data.columns, ties)), ties.different(values[is_constant])
            lower, upper = self._from_here.lower, self._from_here.upper
            found, _ = gauss_newton(response, start, data.y, data.weights, lower=lower, upper=upper, steps=TIED_STEPS)
            values[is_constant] = found[list(ties.of)]
        return values

    def _from_starts(self, whole: Forest, rng: np.random.Generator) -> Forest:
        of = list(self._form.ties(whole[0]))
        if not of:
            return whole
        points = np.stack([likely_constants(max(of) + 1, rng) for _ in range(TIED_POINTS)])
        points[0] = 1.0
        points = np.clip(points, self._from_here.lower, self._from_here.upper)
        all_values = np.tile(whole.values, (TIED_POINTS, 1))
        all_values[:, constants_among_values(whole)] = points[:, of]
        tried = replace(whole.take(np.zeros(TIED_POINTS, np.int64)), values=all_values.ravel())
        best = np.argsort(squared_errors(tried, self._data), kind="stable")[:TIED_STARTS]
        ends = replace(tried.take(best), values=np.concatenate([self._descended(tried.take([k])) for k in best]))
        return ends.take([int(np.argmin(squared_errors(ends, self._data)))])


class _Tied:
    """An expression as a function of its distinct constants; it replaces a `Response`."""

    def __init__(self, whole: Forest, columns: Numbers, ties: TiedConstants) -> None:
        self._response, self._ties = Response(whole, columns), ties

    def values(self, constants: Numbers) -> Numbers:
        return self._response.values(constants[list(self._ties.of)])

    def jacobian(self, constants: Numbers) -> tuple[Numbers, Numbers]:
        found, slopes = self._response.jacobian(constants[list(self._ties.of)])
        return found, self._ties.together(slopes)
