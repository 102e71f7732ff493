"""The limit on a tree's size while it is decoded."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.expr.jit import jit

Ints = NDArray[np.int64]


@jit
def keep_within(
    symbols: Ints, trees: Ints, mask: NDArray[np.bool_], scores: NDArray[np.float32], arities: Ints, room: Ints
) -> None:
    """Take room for each node's children; where it is short, take the best symbol that the mask and the room allow.

    `mask` has a row a node, or one for all; `symbols` and `room` (by tree) change in place.
    """
    for node in range(len(symbols)):
        tree = trees[node]
        if arities[symbols[node]] > room[tree]:
            allowed = mask[node if len(mask) > 1 else 0]
            best = -1
            for symbol in range(len(arities)):
                fits = allowed[symbol] and arities[symbol] <= room[tree]
                if fits and (best < 0 or scores[node, symbol] > scores[node, best]):
                    best = symbol
            symbols[node] = best
        room[tree] -= arities[symbols[node]]
