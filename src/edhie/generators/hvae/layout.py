"""Trees laid out by level, so that a cell meets all nodes of one height or depth at once; needs numba.

The nodes of a batch lie in flat arrays, sorted by level. In both layouts the M inner nodes have the rows 0 … M-1,
level by level, within a level the binary ones first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest
from edhie.expr.jit import jit

Ints = NDArray[np.int64]
Small = NDArray[np.int32]


class UpLayout(NamedTuple):
    """Layout for the encoder: the inner nodes by height.

    A leaf's code depends on its symbol alone, so there is one row a symbol behind those of the
    inner nodes, and a last one of zeros: the code of a missing child.
    """

    symbols: Ints  # (M,)
    children: Ints  # (M, 2) rows
    starts: Ints  # (levels + 1,) where each height begins
    binary: Ints  # (levels,) how many nodes of each height have two children
    roots: Ints  # (trees,) rows


class DownLayout(NamedTuple):
    """Layout for the decoder: the inner nodes by depth, then the leaves; N nodes in all.

    Row N takes what a unary node gives its missing child.
    """

    symbols: Ints  # (N,)
    children: Ints  # (M, 2) rows
    starts: Ints  # (levels + 1,) where each depth begins, among the inner nodes
    binary: Ints  # (levels,) how many nodes of each depth have two children
    roots: Ints  # (trees,) rows
    trees: Ints  # (N,) the tree of each row


def up_layout(forest: Forest) -> UpLayout:
    """Lay a forest out for the encoder."""
    return _by_height(
        forest.tokens, forest.offsets, forest.left, forest.right, forest.subtree_heights, len(forest.library)
    )


def down_layout(forest: Forest) -> DownLayout:
    """Lay a forest out for the decoder."""
    return _by_depth(forest.tokens, forest.offsets, forest.left, forest.right, forest.depths)


@jit
def _inner_rows(levels: Small, lowest: int, left: Ints, right: Ints) -> tuple[Ints, Ints, Ints]:
    """Return each node's row among the inner nodes, -1 for a leaf; where each level starts; its binary nodes."""
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
def _by_height(
    tokens: NDArray[np.int16], offsets: Ints, left: Ints, right: Ints, heights: Small, symbols: int
) -> UpLayout:
    rows, starts, binary = _inner_rows(heights, 2, left, right)
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
    return UpLayout(at, children, starts, binary, rows[offsets[:-1]])


@jit
def _by_depth(tokens: NDArray[np.int16], offsets: Ints, left: Ints, right: Ints, depths: Small) -> DownLayout:
    rows, starts, binary = _inner_rows(depths, 1, left, right)
    inner, total = starts[-1], len(tokens)
    leaf = inner
    for node in range(total):
        if rows[node] < 0:
            rows[node] = leaf
            leaf += 1
    at, trees = np.empty(total, np.int64), np.empty(total, np.int64)
    children = np.empty((inner, 2), np.int64)
    for tree in range(len(offsets) - 1):
        for node in range(offsets[tree], offsets[tree + 1]):
            row = rows[node]
            at[row], trees[row] = tokens[node], tree
            if row < inner:
                children[row, 0] = rows[left[node]]
                children[row, 1] = rows[right[node]] if right[node] >= 0 else total
    return DownLayout(at, children, starts, binary, rows[offsets[:-1]], trees)
