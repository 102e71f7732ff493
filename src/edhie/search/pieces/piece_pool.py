"""The pool of pieces: expressions with distinct values on a few rows, the simplest first."""

from __future__ import annotations

import numpy as np

from edhie.evaluate.constraints import Rules
from edhie.evaluate.counting import Keys, key_pairs
from edhie.evaluate.values import values
from edhie.expr import Forest, SymbolLibrary
from edhie.search.arrays import LARGEST_VALUE, Numbers, read, written
from edhie.search.base import State, Task
from edhie.search.pieces.enumeration import sizes_as_meant
from edhie.selection.between_rows import unresolved

PROBES = 8  # rows on which values of pieces are compared
MANTISSA_BITS = 22  # of 52 that are ignored in the comparison, because of rounding
MOST_REMEMBERED = 2_000_000  # keys of pieces that were executed
FACTORS = np.random.default_rng(0).integers(1 << 63, size=PROBES, dtype=np.uint64) * 2 + 1  # of a hash; odd


class PiecePool:
    """The pieces with the lowest cost, without duplicates by value."""

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
        """`columns` are (variables, rows), and `costs` has the cost of each symbol, by token.

        `one` is the number 1 as `written_one` writes it. Pieces that `rules` allow in no equation are left out.
        `of_rows` is the number of rows of the data, if the columns hold only some of them.
        """
        self.library = library
        self.columns = columns
        self.capacity = capacity
        self._rules, self._one, self._costs, self._of_rows = rules, one, costs, of_rows
        self.forest = Forest.from_exprs([], library)
        self.values: Numbers = np.empty((0, columns.shape[1]))
        self.costs: Numbers = np.empty(0)
        self._seen = _KeySet()  # of expressions: a collision among a million has a probability of 3e-8
        self._behaviours = _KeySet()
        self._probes = np.linspace(0, columns.shape[1] - 1, min(PROBES, columns.shape[1])).astype(np.int64)

    @property
    def n_seen(self) -> int:
        """The number of distinct pieces that were executed, as far as they are remembered."""
        return len(self._seen)

    def __len__(self) -> int:
        return len(self.forest)

    def execute_new(self, forest: Forest, task: Task) -> tuple[Forest, Numbers, Forest]:
        """Execute new pieces, within the budget.

        Return those with finite values, their values, and all that were executed.
        """
        fresh = self.unseen(forest)
        fresh = fresh[: task.within_budget(len(fresh))]
        task.evaluator.spend(len(fresh))
        return *self.execute(fresh), fresh

    def unseen(self, forest: Forest) -> Forest:
        """Return the new and allowed expressions, each once; they count as seen from now on."""
        forest = self.allowed(forest)
        if len(self._seen) > MOST_REMEMBERED:
            self._seen = _KeySet()
        return forest.take(self._seen.add(key_pairs(forest)[:, 0]))

    def allowed(self, forest: Forest) -> Forest:
        """Return the expressions that the constraints allow as part of an equation."""
        return forest if self._rules is None else forest.take(self._rules.allowed_as_part(forest))

    def execute(self, forest: Forest) -> tuple[Forest, Numbers]:
        """Return the pieces with finite values, and the values; add those of low cost to the pool."""
        forest, found = self.finite(forest)
        self._keep(forest, found)
        return forest, found

    def finite(self, forest: Forest) -> tuple[Forest, Numbers]:
        """Return the expressions with finite values and no oscillation that the rows cannot resolve, and the values."""
        found = self.values_of(forest)
        with np.errstate(invalid="ignore"):
            usable = np.flatnonzero((np.abs(found) < LARGEST_VALUE).all(axis=1))
        usable = usable[~unresolved(forest.take(usable), self.columns, of_rows=self._of_rows)]
        return forest.take(usable), np.ascontiguousarray(found[usable])

    def values_of(self, forest: Forest) -> Numbers:
        """Return the values of expressions on the rows."""
        return values(forest, self.columns)

    def _keep(self, forest: Forest, found: Numbers) -> None:
        """Add pieces with new values, and drop those with the highest cost beyond the capacity."""
        costs = self._costs_of(forest)
        is_full = self.capacity - len(self) < len(forest)
        limit = float(self.costs[-1]) if is_full and len(self) else np.inf
        candidates = np.flatnonzero(costs <= limit)
        bits = np.ascontiguousarray(found[np.ix_(candidates, self._probes)] + 0.0).view(np.int64)
        rounded = (bits + (1 << (MANTISSA_BITS - 1))) >> MANTISSA_BITS
        keys = (rounded.view(np.uint64) * FACTORS[: rounded.shape[1]]).sum(axis=1)
        fresh = candidates[self._behaviours.add(keys)]
        if len(fresh) == 0:
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

    # -- checkpoints ----------------------------------------------------------------------

    def state(self) -> State:
        """Return the pieces, and the keys of those seen, as arrays."""
        seen, behaviours = self._seen.array(), self._behaviours.array()
        return written({"forest": self.forest, "seen": seen, "behaviours": behaviours})

    def restore(self, state: State) -> None:
        """Restore the pool from a snapshot."""
        self.forest = read(self.forest, "forest", state)
        self.values, self.costs = self.values_of(self.forest), self._costs_of(self.forest)
        self._seen, self._behaviours = (_KeySet(state[name]) for name in ("seen", "behaviours"))


class _KeySet:
    """A set of 64-bit keys, also kept as arrays in order of insertion, so that snapshots are fast."""

    def __init__(self, keys: Keys | None = None) -> None:
        self._parts: list[Keys] = [np.empty(0, np.uint64) if keys is None else keys]
        self._keys: set[int] = set(self._parts[0].tolist())

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, keys: Keys) -> list[int]:
        """Add keys, and return the indices of the new ones, each once."""
        new = []
        for k, key in enumerate(keys.tolist()):
            if key not in self._keys:
                self._keys.add(key)
                new.append(k)
        self._parts.append(keys[new])
        return new

    def array(self) -> Keys:
        """Return all keys in order of insertion."""
        self._parts = [np.concatenate(self._parts)]
        return self._parts[0]
