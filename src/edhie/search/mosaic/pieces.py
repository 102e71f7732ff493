"""The pieces that there are: distinct expressions with their values on a few rows, the plainest first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.constraints import Rules
from edhie.evaluate.hash_table import token_keys
from edhie.evaluate.values import values
from edhie.expr import Forest, SymbolLibrary
from edhie.results.between_rows import unresolved
from edhie.search.mosaic.enumeration import sizes_as_meant

Numbers = NDArray[np.float64]
LARGEST_VALUE = 1e150  # of a piece: its square has to be a number
PROBES = 8  # rows that tell pieces apart
MANTISSA_BITS = 22  # that are left out of the comparison: rounding
MOST_REMEMBERED = 2_000_000


class Pieces:
    """Pieces to build with."""

    def __init__(
        self,
        library: SymbolLibrary,
        columns: Numbers,
        capacity: int,
        costs: Numbers,
        one: Forest | None = None,
        rules: Rules | None = None,
        of_rows: int | None = None,
    ) -> None:
        """`costs` has, by token, what a symbol adds to the cost of a piece: those of the least cost are kept.

        `one` is how 1 is written, as for an `Enumeration`. What `rules` allow in no equation is no piece. `of_rows` is
        how many rows the data have, if the columns hold only some of them.
        """
        self.library = library
        self._rules = rules
        self._one = one
        self._costs = costs
        self.columns = columns
        self._of_rows = of_rows
        self.capacity = capacity
        self.forest = Forest.from_exprs([], library)
        self.values: Numbers = np.empty((0, columns.shape[1]))
        self.costs: Numbers = np.empty(0)
        self._seen: set[bytes] = set()
        self._behaviours: set[bytes] = set()
        self._probes = np.linspace(0, columns.shape[1] - 1, min(PROBES, columns.shape[1])).astype(np.int64)

    @property
    def n_seen(self) -> int:
        """How many were looked at, as far as it is remembered."""
        return len(self._seen)

    def __len__(self) -> int:
        return len(self.forest)

    def unseen(self, forest: Forest) -> Forest:
        """Those of a forest that were not looked at before, each once; they count as seen from now on."""
        forest = self.allowed(forest)
        if len(self._seen) > MOST_REMEMBERED:
            self._seen.clear()
        fresh = []
        for k, key in enumerate(token_keys(forest)):
            if key not in self._seen:
                self._seen.add(key)
                fresh.append(k)
        return forest.take(fresh)

    def allowed(self, forest: Forest) -> Forest:
        """Those of a forest that may be in an equation."""
        return forest if self._rules is None else forest.take(self._rules.allowed_as_part(forest))

    def execute(self, forest: Forest) -> tuple[Forest, Numbers]:
        """The values of pieces, without those that are not finite; the smallest are kept to build with."""
        forest, found = self.finite(forest)
        self._keep(forest, found)
        return forest, found

    def finite(self, forest: Forest) -> tuple[Forest, Numbers]:
        """Those of a forest whose values are finite, and whose oscillations the rows resolve; and their values."""
        found = self.values_of(forest)
        with np.errstate(invalid="ignore"):
            usable = np.flatnonzero((np.abs(found) < LARGEST_VALUE).all(axis=1))
        usable = usable[~unresolved(forest.take(usable), self.columns, of_rows=self._of_rows)]
        return forest.take(usable), np.ascontiguousarray(found[usable])

    def values_of(self, forest: Forest) -> Numbers:
        """The values of any pieces on the rows."""
        return values(forest, self.columns)

    def _keep(self, forest: Forest, found: Numbers) -> None:
        """Take in what behaves like none before, as far as there is room for its cost."""
        costs = self._costs_of(forest)
        is_full = self.capacity - len(self) < len(forest)
        limit = float(self.costs[-1]) if is_full and len(self) else np.inf
        candidates = np.flatnonzero(costs <= limit)
        fresh = []
        for k, behaviour in zip(candidates.tolist(), self._behaviours_of(found[candidates]), strict=True):
            if behaviour not in self._behaviours:
                self._behaviours.add(behaviour)
                fresh.append(k)
        if not fresh:
            return
        costs = np.concatenate([self.costs, costs[fresh]])
        order = np.argsort(costs, kind="stable")[: self.capacity]
        self.forest = Forest.concatenate([self.forest, forest.take(fresh)]).take(order)
        self.values = np.concatenate([self.values, found[fresh]])[order]
        self.costs = costs[order]

    def _costs_of(self, forest: Forest) -> Numbers:
        if len(forest) == 0:
            return np.empty(0)
        costs: Numbers = np.add.reduceat(self._costs[forest.tokens], forest.offsets[:-1])
        costs -= forest.sizes - sizes_as_meant(forest, self._one)
        return costs

    def _behaviours_of(self, found: Numbers) -> list[bytes]:
        bits = np.ascontiguousarray(found[:, self._probes] + 0.0).view(np.int64)
        rounded = np.ascontiguousarray((bits + (1 << (MANTISSA_BITS - 1))) >> MANTISSA_BITS)
        width = rounded.shape[1] * rounded.itemsize
        flat = rounded.tobytes()
        return [flat[k * width : (k + 1) * width] for k in range(len(rounded))]

    # -- what a checkpoint keeps ----------------------------------------------------------

    def state(self) -> dict[str, NDArray[np.generic]]:
        """Enough to go on in the same way."""
        seen = np.frombuffer(b"".join(sorted(self._seen)), np.uint8)
        behaviours = np.frombuffer(b"".join(sorted(self._behaviours)), np.uint8)
        forest = self.forest
        return {
            "tokens": forest.tokens, "offsets": forest.offsets, "constants": forest.values,
            "seen": seen, "behaviours": behaviours,
        }  # fmt: skip

    def restore(self, state: dict[str, NDArray[np.generic]]) -> None:
        """Be where `state` was taken."""
        self.forest = Forest.checked(self.library, state["tokens"], state["offsets"], state["constants"])
        self.values = self.values_of(self.forest)
        self.costs = self._costs_of(self.forest)
        self._seen = set(_chunks(state["seen"], 16))
        self._behaviours = set(_chunks(state["behaviours"], 8 * len(self._probes)))


def _chunks(array: NDArray[np.generic], width: int) -> list[bytes]:
    flat = np.asarray(array, np.uint8).tobytes()
    return [flat[k : k + width] for k in range(0, len(flat), width)]
