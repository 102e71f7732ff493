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
    from edhie.generators.hvae.layout_kernels import by_height

    nodes = forest.tokens, forest.offsets, forest.left, forest.right
    return UpLayout(*by_height(*nodes, forest.subtree_heights, len(forest.library)))


def down_layout(forest: Forest) -> DownLayout:
    """Lay a forest out for the decoder."""
    from edhie.generators.hvae.layout_kernels import by_depth

    return DownLayout(*by_depth(forest.tokens, forest.offsets, forest.left, forest.right, forest.depths))
