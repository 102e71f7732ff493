"""The expressions with the shortest descriptions so far: what a search would choose from if it ended now."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.constants.fitting import FitConfig
from edhie.evaluate.data import Data
from edhie.evaluate.evaluator import Evaluator
from edhie.expr import Forest, SymbolLibrary
from edhie.results.between_rows import neighbours, unreliable_bits
from edhie.results.description import Criterion, describe
from edhie.results.noise import NoiseModel
from edhie.results.refits import quickly_plain

Numbers = NDArray[np.float64]
CAPACITY = 100
AT_ONCE = 400  # new expressions that are described, of the least error, and of the least size


class Leaders:
    """Expressions by description length, one of each structure."""

    def __init__(self, library: SymbolLibrary, data: Data, criterion: Criterion) -> None:
        self._data, self._criterion, self._points = data, criterion, neighbours(data)
        self.forest = Forest.from_exprs([], library)
        self.bits: Numbers = np.empty(0)
        self.errors: Numbers = np.empty(0)
        self.executed_at: NDArray[np.int64] = np.empty(0, np.int64)
        self._n_seen = 0
        self._tried: set[int] = set()  # expressions for which plain numbers were looked for

    def look(self, evaluator: Evaluator) -> None:
        """Take in what was scored since the last look."""
        explored = evaluator.explored
        places = np.arange(np.searchsorted(explored.ages, self._n_seen), len(explored))
        self._n_seen = explored.n_seen
        errors, sizes = explored.errors[places], explored.complexities[places]
        finite = np.isfinite(errors)
        places, errors, sizes = places[finite], errors[finite], sizes[finite]
        if len(places) > 2 * AT_ONCE:
            few = [np.argsort(errors, kind="stable")[:AT_ONCE], np.lexsort((errors, sizes))[:AT_ONCE]]
            chosen = np.unique(np.concatenate(few))
            places, errors = places[chosen], errors[chosen]
        if len(places) == 0:
            return
        new = explored.take(places)
        bits = describe(new, self._data, self._criterion).bits
        # only what would be a leader is looked at between the rows, too
        near = np.flatnonzero(bits < (self.bits[-1] if len(self.bits) == CAPACITY else np.inf))
        bits = bits[near] + unreliable_bits(new.take(near), self._data, self._points)
        self._merge(new.take(near), bits, errors[near], explored.executed_at[places[near]])

    def _merge(self, forest: Forest, bits: Numbers, errors: Numbers, executed_at: NDArray[np.int64]) -> None:
        both, bits = Forest.concatenate([self.forest, forest]), np.concatenate([self.bits, bits])
        order = np.argsort(bits, kind="stable")
        order = order[np.isfinite(bits[order])]
        bare = Forest(both.library, both.tokens, both.offsets, np.full(len(both.values), np.nan))
        _, first = np.unique(bare.grouped()[1][order], return_index=True)
        kept = order[np.sort(first)[:CAPACITY]]
        self.forest, self.bits = both.take(kept), bits[kept]
        self.errors = np.concatenate([self.errors, errors])[kept]
        self.executed_at = np.concatenate([self.executed_at, executed_at])[kept]

    def plainer(self, model: NoiseModel, config: FitConfig, most: int) -> Forest:
        """Return leaders with plain numbers for constants that are near one, where that describes the data shorter."""
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

    # -- what a checkpoint keeps ----------------------------------------------------------

    def state(self) -> dict[str, NDArray[Any]]:
        """All of it."""
        return {
            "leaders_tokens": self.forest.tokens, "leaders_offsets": self.forest.offsets,
            "leaders_values": self.forest.values, "leaders_bits": self.bits, "leaders_errors": self.errors,
            "leaders_at": self.executed_at, "leaders_seen": np.array(self._n_seen),
            "leaders_tried": np.array(sorted(self._tried), np.uint64),
        }  # fmt: skip

    def restore(self, state: Any) -> None:
        """Restore the leaders from a snapshot."""
        parts = (state[f"leaders_{name}"] for name in ("tokens", "offsets", "values"))
        self.forest = Forest.checked(self.forest.library, *parts)
        self.bits, self.errors = state["leaders_bits"], state["leaders_errors"]
        self.executed_at, self._n_seen = state["leaders_at"], int(state["leaders_seen"])
        self._tried = set(map(int, state["leaders_tried"]))
