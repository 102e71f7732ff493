"""Trees laid out by level, so that a cell meets all nodes of one height or depth at once.

The paper batches trees node by node with placeholders for missing nodes; here the nodes of a
batch lie in flat arrays, sorted by level, and nothing is missing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class UpLayout:
    """What the encoder walks: nodes sorted by height, so the leaves come first.

    Row N of a buffer with N nodes is a row of zeros: the code of a missing child.
    """

    symbols: Ints  # (N,)
    children: Ints  # (M, 2) rows of both children, for the M inner nodes, which stand behind the leaves
    starts: Ints  # (levels + 1,) where each height begins
    roots: Ints  # (trees,)

    @property
    def leaves(self) -> int:
        """How many leaves there are: the nodes of the first level."""
        return int(self.starts[1])


@dataclass(frozen=True)
class DownLayout:
    """What the decoder walks: nodes sorted by depth, and within a depth by arity, the binary ones first."""

    symbols: Ints  # (N,)
    children: Ints  # (M, 2) rows of both children, for the M inner nodes in the order of the levels
    starts: Ints  # (levels + 1,) where each depth begins
    inner: Ints  # (levels,) how many nodes of each depth have children
    binary: Ints  # (levels,) how many of them have two
    nodes: Ints  # (N,) the forest's node in each row
    trees: Ints  # (trees,) the tree whose root stands in each of the first rows


def up_layout(forest: Forest) -> UpLayout:
    """The layout of a forest for the encoder."""
    levels = forest.by_height
    order, starts = levels.order, levels.starts
    rows = np.empty(len(order) + 1, dtype=np.int64)
    rows[order] = np.arange(len(order))
    rows[-1] = len(order)  # index -1, no child, is the row of zeros
    inner = order[starts[1] :]
    children = np.stack([rows[forest.left[inner]], rows[forest.right[inner]]], axis=1)
    return UpLayout(forest.tokens[order].astype(np.int64), children, starts, rows[forest.offsets[:-1]])


def down_layout(forest: Forest) -> DownLayout:
    """The layout of a forest for the decoder."""
    arities = forest.library.arities[forest.tokens].astype(np.int64)
    order = np.argsort(4 * forest.depths - arities, kind="stable")
    depths = forest.depths[order]
    levels = int(depths[-1]) if len(depths) else 0
    starts = np.searchsorted(depths, np.arange(1, levels + 2)).astype(np.int64)
    rows = np.empty(len(order) + 1, dtype=np.int64)
    rows[order] = np.arange(len(order))
    rows[-1] = len(order)
    inner = order[arities[order] > 0]
    children = np.stack([rows[forest.left[inner]], rows[forest.right[inner]]], axis=1)
    counts = [
        np.add.reduceat(arities[order] >= least, starts[:-1], dtype=np.int64) if levels else np.zeros(0, np.int64)
        for least in (1, 2)
    ]
    roots = order[: len(forest)]
    return DownLayout(
        forest.tokens[order].astype(np.int64), children, starts, counts[0], counts[1], order, forest.owners[roots]
    )
