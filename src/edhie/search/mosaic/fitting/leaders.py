"""Leaders: the expressions with the shortest descriptions so far, from which the equation would be chosen now."""

from __future__ import annotations

import hashlib

import numpy as np

from edhie.evaluate.constants.fitting import FitConfig
from edhie.evaluate.data import Data
from edhie.evaluate.evaluator import Evaluator
from edhie.expr import Forest
from edhie.results.candidates import Candidates
from edhie.search.arrays import Indices, Numbers, one_of_each
from edhie.search.mosaic.config import Improving
from edhie.search.state import Kept
from edhie.selection.description import Criterion, describe
from edhie.selection.noise import NoiseModel
from edhie.selection.refitting import quickly_plain


class Leaders(Kept):
    """Expressions by description length, one of each structure."""

    KEPT = ("forest", "bits", "errors", "executed_at", "_n_seen", "_tried")

    def __init__(self, evaluator: Evaluator, data: Data, criterion: Criterion) -> None:
        """`data` are the rows on which description lengths of the expressions that `evaluator` scored are computed."""
        self._evaluator, self._data, self._criterion = evaluator, data, criterion
        self.forest = Forest.from_exprs([], evaluator.library)
        self.bits: Numbers = np.empty(0)
        self.errors: Numbers = np.empty(0)
        self.executed_at: Indices = np.empty(0, np.int64)
        self._n_seen = 0
        self._tried: set[int] = set()  # digests of expressions for which plain numbers were tried

    def update(self) -> None:
        """Update the leaders with the expressions scored since the last call."""
        explored = self._evaluator.explored
        places = np.arange(np.searchsorted(explored.ages, self._n_seen), len(explored))
        self._n_seen = explored.n_seen
        places = places[np.isfinite(explored.errors[places])]
        errors, sizes, most = explored.errors[places], explored.complexities[places], Improving.DESCRIBED
        if len(places) > 2 * most:
            few = [np.argsort(errors, kind="stable")[:most], np.lexsort((errors, sizes))[:most]]
            chosen = np.unique(np.concatenate(few))
            places, errors = places[chosen], errors[chosen]
        if len(places) == 0:
            return
        new = explored.take(places)
        below = self.bits[-1] if len(self.bits) == Improving.LEADERS else np.inf
        bits = describe(new, self._data, self._criterion, below=below).bits
        near = np.flatnonzero(bits < below)
        both, bits = Forest.concatenate([self.forest, new.take(near)]), np.concatenate([self.bits, bits[near]])
        order = np.argsort(bits, kind="stable")
        order = order[np.isfinite(bits[order])]
        kept = one_of_each(both, order)[: Improving.LEADERS]
        self.forest, self.bits = both.take(kept), bits[kept]
        self.errors = np.concatenate([self.errors, errors[near]])[kept]
        self.executed_at = np.concatenate([self.executed_at, explored.executed_at[places[near]]])[kept]

    def candidates(self) -> Candidates:
        """Return the leaders as candidates, the shortest description first."""
        complexities = np.asarray(self._evaluator.complexities(self.forest), np.float64)
        return Candidates(self.forest, self.errors, complexities, self.executed_at)

    def plainer(self, model: NoiseModel, config: FitConfig, most: int) -> Forest:
        """Return the first `most` leaders with constants rounded to plain numbers, if that shortens the description.

        Each expression is tried once.
        """
        found = [self.forest.take([])]
        for k in range(min(most, len(self.forest))):
            one = self.forest.take([k])
            parts = one.tokens.tobytes() + one.values.tobytes()
            key = int.from_bytes(hashlib.blake2b(parts, digest_size=8).digest(), "little")
            if key in self._tried or len(one.values) == 0:
                continue
            self._tried.add(key)
            for plain, least_gain in quickly_plain(one, self._data, model, config):
                length = float(describe(plain, self._data, self._criterion, (model,)).bits[0])
                if length < self.bits[k] - least_gain:
                    found.append(plain)
        return Forest.concatenate(found)
