"""Compiled: the nodes of a forest sorted by level. A step of training lays out one small batch, so calls count."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.expr.jit import jit, jit_inner

Ints = NDArray[np.int64]
Levels = NDArray[np.int32]
Tokens = NDArray[np.int16]


@jit_inner
def inner_rows(levels: Levels, lowest: int, left: Ints, right: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the row of each inner node, -1 for a leaf; where each level starts; its number of binary nodes."""
    highest = lowest - 1
    for node in range(len(left)):
        if left[node] >= 0:
            highest = max(highest, levels[node])
    starts, binary = np.zeros(highest + 2 - lowest, np.int64), np.zeros(highest + 1 - lowest, np.int64)
    for node in range(len(left)):
        if left[node] >= 0:
            starts[levels[node] - lowest + 1] += 1
            binary[levels[node] - lowest] += right[node] >= 0
    for level in range(1, len(starts)):
        starts[level] += starts[level - 1]
    next_binary, next_unary = starts[:-1].copy(), binary.copy()
    for level in range(len(binary)):
        next_unary[level] += starts[level]
    rows = np.empty(len(left), np.int64)
    for node in range(len(left)):
        rows[node] = -1
        if left[node] >= 0:
            following = next_binary if right[node] >= 0 else next_unary
            rows[node] = following[levels[node] - lowest]
            following[levels[node] - lowest] += 1
    return rows, starts, binary


@jit_inner
def children_of(rows: Ints, inner: int, left: Ints, right: Ints, missing: int) -> Ints:
    """Return the rows of the children of inner nodes, (inner, 2)."""
    children = np.empty((inner, 2), np.int64)
    for node in range(len(left)):
        if left[node] >= 0:
            children[rows[node], 0] = rows[left[node]]
            children[rows[node], 1] = rows[right[node]] if right[node] >= 0 else missing
    return children


@jit
def by_height(
    tokens: Tokens, offsets: Ints, left: Ints, right: Ints, heights: Levels, n_symbols: int
) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Return the fields of an `UpLayout`."""
    rows, starts, binary = inner_rows(heights, 2, left, right)
    inner = starts[-1]
    symbols = np.empty(inner, np.int64)
    for node in range(len(tokens)):
        if left[node] >= 0:
            symbols[rows[node]] = tokens[node]
        else:
            rows[node] = inner + tokens[node]  # a leaf's row is that of its symbol
    children = children_of(rows, inner, left, right, inner + n_symbols)
    return symbols, children, starts, binary, rows[offsets[:-1]]


@jit
def by_depth(
    tokens: Tokens, offsets: Ints, left: Ints, right: Ints, depths: Levels
) -> tuple[Ints, Ints, Ints, Ints, Ints, Ints]:
    """Return the fields of a `DownLayout`."""
    rows, starts, binary = inner_rows(depths, 1, left, right)
    symbols, trees = np.empty(len(tokens), np.int64), np.empty(len(tokens), np.int64)
    leaf = starts[-1]
    for tree in range(len(offsets) - 1):
        for node in range(offsets[tree], offsets[tree + 1]):
            if rows[node] < 0:
                rows[node] = leaf
                leaf += 1
            symbols[rows[node]], trees[rows[node]] = tokens[node], tree
    children = children_of(rows, starts[-1], left, right, len(tokens))
    return symbols, children, starts, binary, rows[offsets[:-1]], trees
