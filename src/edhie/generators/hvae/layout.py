"""Trees laid out by level, so that a cell meets all nodes of one height or depth at once.

The paper batches trees node by node with placeholders for missing nodes; here the nodes of a
batch lie in flat arrays, sorted by level, and nothing is missing. In both layouts the M inner
nodes have the rows 0 … M-1, level by level, within a level the binary ones first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class UpLayout:
    """What the encoder walks: the inner nodes by height.

    A leaf's code depends on its symbol alone, so there is one row a symbol behind those of the
    inner nodes, and a last one of zeros: the code of a missing child.
    """

    symbols: Ints  # (M,)
    children: Ints  # (M, 2) rows
    starts: Ints  # (levels + 1,) where each height begins
    binary: Ints  # (levels,) how many nodes of each height have two children
    roots: Ints  # (trees,) rows


@dataclass(frozen=True)
class DownLayout:
    """What the decoder walks: the inner nodes by depth, then the leaves; N nodes in all.

    Row N is nobody's: what a unary node gives its missing child goes there.
    """

    symbols: Ints  # (N,)
    children: Ints  # (M, 2) rows
    starts: Ints  # (levels + 1,) where each depth begins, among the inner nodes
    binary: Ints  # (levels,) how many nodes of each depth have two children
    roots: Ints  # (trees,) rows
    nodes: Ints  # (N,) the forest's node in each row
    trees: Ints  # (N,) the tree of each row


def up_layout(forest: Forest) -> UpLayout:
    """The layout of a forest for the encoder."""
    from edhie.generators.hvae import layout_kernels as kernels

    symbols = len(forest.library)
    return UpLayout(
        *kernels.by_height(forest.tokens, forest.offsets, forest.left, forest.right, forest.subtree_heights, symbols)
    )


def down_layout(forest: Forest) -> DownLayout:
    """The layout of a forest for the decoder."""
    from edhie.generators.hvae import layout_kernels as kernels

    return DownLayout(*kernels.by_depth(forest.tokens, forest.offsets, forest.left, forest.right, forest.depths))
