"""Compiled loops of decoding: the symbol of each node, and trees of many depths put in prefix order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.expr.jit import jit

Ints = NDArray[np.int64]


@jit
def choose(
    scores: NDArray[np.float32], mask: NDArray[np.bool_], trees: Ints, arities: Ints, room: Ints
) -> tuple[Ints, Ints, int]:
    """Choose the best symbol that each node of one depth may have, and its tree has room for.

    Returns the symbols, the nodes with children, the binary ones first, and how many are binary. `mask` has a row a
    node, or one for all; `room`, the nodes that each tree may still get, changes in place.
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


@jit
def prefix_order(symbols: Ints, parents: Ints, nodes: Ints, inner: Ints, pairs: Ints) -> tuple[NDArray[np.int16], Ints]:
    """Return tokens and offsets of trees whose nodes lie depth by depth, the roots first.

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
