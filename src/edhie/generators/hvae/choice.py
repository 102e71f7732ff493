"""Which symbol stands at each node while trees are decoded: the best that its place and the tree's size allow."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.expr.jit import jit

Ints = NDArray[np.int64]


@jit
def choose(
    scores: NDArray[np.float32], mask: NDArray[np.bool_], trees: Ints, arities: Ints, room: Ints
) -> tuple[Ints, Ints, int]:
    """By node of one depth its symbol; the nodes with children, the binary ones first, and how many those are.

    `mask` has a row a node, or one for all; `room`, by tree the nodes that it may still get, changes in place.
    """
    symbols = np.empty(len(scores), np.int64)
    n_binary, n_unary = 0, 0
    for node in range(len(scores)):
        tree = trees[node]
        allowed = mask[node if len(mask) > 1 else 0]
        best, top = 0, scores[node, 0]
        for symbol in range(1, len(arities)):
            if scores[node, symbol] > top:
                best, top = symbol, scores[node, symbol]
        if not allowed[best] or arities[best] > room[tree]:  # seldom, so that most nodes need one quick look
            best = -1
            for symbol in range(len(arities)):
                fits = allowed[symbol] and arities[symbol] <= room[tree]
                if fits and (best < 0 or scores[node, symbol] > scores[node, best]):
                    best = symbol
        symbols[node] = best
        room[tree] -= arities[best]
        n_binary += arities[best] == 2
        n_unary += arities[best] == 1
    parents = np.empty(n_binary + n_unary, np.int64)
    binary, unary = 0, n_binary
    for node in range(len(scores)):
        if arities[symbols[node]] == 2:
            parents[binary] = node
            binary += 1
        elif arities[symbols[node]] == 1:
            parents[unary] = node
            unary += 1
    return symbols, parents, n_binary
