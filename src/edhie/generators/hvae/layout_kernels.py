"""Compiled loops that sort the nodes of a forest by level."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.expr.jit import jit

Ints = NDArray[np.int64]
Small = NDArray[np.int32]


@jit
def inner_rows(levels: Small, lowest: int, left: Ints, right: Ints) -> tuple[Ints, Ints, Ints]:
    """By node its row among the inner nodes, -1 for a leaf; where each level starts; how many of it are binary."""
    deepest = lowest - 1
    for node in range(len(left)):
        if left[node] >= 0:
            deepest = max(deepest, levels[node])
    count = deepest + 1 - lowest
    starts, binary = np.zeros(count + 1, np.int64), np.zeros(count, np.int64)
    for node in range(len(left)):
        if left[node] >= 0:
            starts[levels[node] - lowest + 1] += 1
            binary[levels[node] - lowest] += right[node] >= 0
    starts[:] = np.cumsum(starts)
    next_binary = starts[:-1].copy()
    next_unary = starts[:-1] + binary
    rows = np.full(len(left), -1, np.int64)
    for node in range(len(left)):
        if left[node] < 0:
            continue
        following = next_binary if right[node] >= 0 else next_unary
        rows[node] = following[levels[node] - lowest]
        following[levels[node] - lowest] += 1
    return rows, starts, binary


@jit
def by_height(
    tokens: NDArray[np.int16], offsets: Ints, left: Ints, right: Ints, heights: Small, symbols: int
) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """The fields of an `UpLayout`."""
    rows, starts, binary = inner_rows(heights, 2, left, right)
    inner = starts[-1]
    at = np.empty(inner, np.int64)
    children = np.empty((inner, 2), np.int64)
    for node in range(len(tokens)):
        if rows[node] < 0:
            rows[node] = inner + tokens[node]
    for node in range(len(tokens)):
        row = rows[node]
        if row < inner:
            at[row] = tokens[node]
            children[row, 0] = rows[left[node]]
            children[row, 1] = rows[right[node]] if right[node] >= 0 else inner + symbols
    return at, children, starts, binary, rows[offsets[:-1]]


@jit
def by_depth(
    tokens: NDArray[np.int16], offsets: Ints, left: Ints, right: Ints, depths: Small
) -> tuple[Ints, Ints, Ints, Ints, Ints, Ints, Ints]:
    """The fields of a `DownLayout`."""
    rows, starts, binary = inner_rows(depths, 1, left, right)
    inner, total = starts[-1], len(tokens)
    leaf = inner
    for node in range(total):
        if rows[node] < 0:
            rows[node] = leaf
            leaf += 1
    at, nodes, trees = np.empty(total, np.int64), np.empty(total, np.int64), np.empty(total, np.int64)
    children = np.empty((inner, 2), np.int64)
    for tree in range(len(offsets) - 1):
        for node in range(offsets[tree], offsets[tree + 1]):
            row = rows[node]
            at[row], nodes[row], trees[row] = tokens[node], node, tree
            if row < inner:
                children[row, 0] = rows[left[node]]
                children[row, 1] = rows[right[node]] if right[node] >= 0 else total
    return at, children, starts, binary, rows[offsets[:-1]], nodes, trees
