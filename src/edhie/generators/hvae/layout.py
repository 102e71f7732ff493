"""Trees laid out by level, so that a cell meets all nodes of one height or depth at once.

The nodes of a batch lie in flat arrays, sorted by level. In both layouts the M inner nodes have the rows 0 … M-1,
level by level, within a level the binary ones first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest
from edhie.expr.jit import jit, jit_inner

Ints = NDArray[np.int64]


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
    nodes = forest.tokens, forest.offsets, forest.left, forest.right
    return UpLayout(*by_height(*nodes, forest.subtree_heights, len(forest.library)))


def down_layout(forest: Forest) -> DownLayout:
    """Lay a forest out for the decoder."""
    return DownLayout(*by_depth(forest.tokens, forest.offsets, forest.left, forest.right, forest.depths))


# -- compiled: a step of training lays out one small batch, so calls count -------------

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
