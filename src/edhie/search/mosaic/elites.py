"""The best pieces that a frame has seen, no two alike in what they explain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest, SymbolLibrary

Numbers = NDArray[np.float64]
PRICE = 0.004  # of a node, in logarithms of what is left
LEAST = 1e-16
ALIKE = 9  # digits of the share


class Elites:
    """Pieces ranked by what they leave of a frame's residual, small ones preferred."""

    def __init__(self, library: SymbolLibrary, n_rows: int, capacity: int) -> None:
        self.capacity = capacity
        self.forest = Forest.from_exprs([], library)
        self.values: Numbers = np.empty((0, n_rows))
        self.is_log: NDArray[np.bool_] = np.empty(0, np.bool_)
        self.shares: Numbers = np.empty(0)

    def __len__(self) -> int:
        return len(self.forest)

    def offer(
        self, forest: Forest, values: Numbers, which: NDArray[np.int64], is_log: NDArray[np.bool_], shares: Numbers
    ) -> None:
        """Look at regressors: piece `which` of the forest each, and the share that it explains."""
        usable = np.flatnonzero(shares > 0)
        best = usable[np.argsort(-shares[usable], kind="stable")[: self.capacity]]
        if len(best) == 0:
            return
        both = Forest.concatenate([self.forest, forest.take(which[best])])
        all_shares = np.concatenate([self.shares, shares[best]])
        order = np.argsort(np.log(1 - all_shares + LEAST) + PRICE * both.sizes, kind="stable")
        _, first = np.unique(np.round(all_shares[order], ALIKE), return_index=True)
        order = order[np.sort(first)][: self.capacity]
        self.forest = both.take(order)
        self.values = np.concatenate([self.values, values[which[best]]])[order]
        self.is_log = np.concatenate([self.is_log, is_log[best]])[order]
        self.shares = all_shares[order]
