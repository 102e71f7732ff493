"""Trees laid out by level, so that a cell meets all nodes of one height or depth at once.

The nodes of a batch lie in flat arrays, sorted by level. In both layouts the M inner nodes have the rows 0 … M-1,
level by level, within a level the binary ones first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest

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
    inner, starts, binary = _inner_nodes(forest, forest.subtree_heights, 2)
    rows = len(inner) + forest.tokens.astype(np.int64)  # of each node; a leaf's is that of its symbol
    rows[inner] = np.arange(len(inner))
    children = _children(forest, inner, rows, len(inner) + len(forest.library))
    return UpLayout(forest.tokens[inner].astype(np.int64), children, starts, binary, rows[forest.offsets[:-1]])


def down_layout(forest: Forest) -> DownLayout:
    """Lay a forest out for the decoder."""
    inner, starts, binary = _inner_nodes(forest, forest.depths, 1)
    nodes = np.concatenate([inner, np.flatnonzero(forest.left < 0)])
    rows = np.empty(len(nodes), np.int64)  # of each node
    rows[nodes] = np.arange(len(nodes))
    children = _children(forest, inner, rows, len(nodes))
    symbols, trees = forest.tokens[nodes].astype(np.int64), forest.owners[nodes].astype(np.int64)
    return DownLayout(symbols, children, starts, binary, rows[forest.offsets[:-1]], trees)


def _inner_nodes(forest: Forest, levels: NDArray[np.int32], lowest: int) -> tuple[Ints, Ints, Ints]:
    """Return the inner nodes by level, the binary ones first; where each level starts; its number of binary nodes."""
    inner = np.flatnonzero(forest.left >= 0)
    keys = 2 * (levels[inner] - lowest) + (forest.right[inner] < 0)
    counts = np.bincount(keys, minlength=keys.max(initial=-1) // 2 * 2 + 2).reshape(-1, 2)  # binary and unary, by level
    starts = np.concatenate([[0], np.cumsum(counts.sum(1))])
    return inner[np.argsort(keys, kind="stable")], starts, counts[:, 0].copy()


def _children(forest: Forest, inner: Ints, rows: Ints, missing: int) -> Ints:
    """Return the rows of the children of inner nodes; (M, 2)."""
    right = forest.right[inner]
    return np.stack([rows[forest.left[inner]], np.where(right >= 0, rows[right], missing)], axis=1)
