"""Trees that were decoded depth by depth, put in prefix order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.expr.jit import jit

Ints = NDArray[np.int64]


@jit
def prefix_order(symbols: Ints, parents: Ints, nodes: Ints, inner: Ints, pairs: Ints) -> tuple[NDArray[np.int16], Ints]:
    """Tokens and offsets of the trees whose nodes lie depth by depth, the roots first.

    By depth there are so many `nodes`, of which so many are `inner`, of which `pairs` are binary. The next depth
    has the left children of all inner ones, then the right ones of the binary ones, both in the order of
    `parents`, which counts nodes within a depth.
    """
    sizes = np.ones(len(symbols), np.int64)  # of the subtree at each node
    below, first = len(symbols), len(parents)
    for depth in range(len(nodes) - 1, -1, -1):
        here, right = below - nodes[depth], below + inner[depth]
        first -= inner[depth]
        for k in range(inner[depth]):
            sizes[here + parents[first + k]] += sizes[below + k]
        for k in range(pairs[depth]):
            sizes[here + parents[first + k]] += sizes[right + k]
        below = here
    offsets = np.zeros(nodes[0] + 1, np.int64)
    for tree in range(nodes[0]):
        offsets[tree + 1] = offsets[tree] + sizes[tree]
    places = np.empty(len(symbols), np.int64)  # of each node's token
    places[: nodes[0]] = offsets[:-1]
    here, first = 0, 0
    for depth in range(len(nodes)):
        below = here + nodes[depth]
        right = below + inner[depth]
        for k in range(inner[depth]):
            places[below + k] = places[here + parents[first + k]] + 1
        for k in range(pairs[depth]):
            places[right + k] = places[below + k] + sizes[below + k]
        here = below
        first += inner[depth]
    tokens = np.empty(len(symbols), np.int16)
    for node in range(len(symbols)):
        tokens[places[node]] = symbols[node]
    return tokens, offsets
