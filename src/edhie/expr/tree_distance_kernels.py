"""The tree edit distance by the algorithm of Zhang and Shasha, compiled.

Zhang, Shasha: Simple fast algorithms for the editing distance between trees and related problems, SIAM J. Comput. 18
(1989). Written by hand, since the published Python packages (zss, apted) are pure Python and no longer maintained.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from edhie.arrays import Flags, Indices
from edhie.expr.jit import jit, jit_inner

Small = NDArray[np.int32]


class Trees(NamedTuple):
    """Trees with nodes in postorder, end to end: each node's label and the size of its subtree."""

    labels: Small
    sizes: Small
    offsets: Indices


@jit
def zhang_shasha(a: Trees, b: Trees) -> Indices:
    """Return the tree edit distance of each tree of `a` to the one at the same place in `b`, at unit costs."""
    out = np.zeros(len(a.offsets) - 1, np.int64)
    if len(out) == 0:
        return out
    # the two tables of the algorithm, for the largest trees; each pair writes what it reads
    shape = (np.diff(a.offsets).max() + 1, np.diff(b.offsets).max() + 1)
    trees = np.empty(shape, np.int32)
    forests = np.empty(shape, np.int32)
    keyroots_a = keyroots(a.sizes)
    keyroots_b = keyroots(b.sizes)
    for k in range(len(out)):
        for i in range(a.offsets[k], a.offsets[k + 1]):
            if keyroots_a[i]:
                for j in range(b.offsets[k], b.offsets[k + 1]):
                    if keyroots_b[j]:
                        fill(a, b, k, i, j, trees, forests)
        out[k] = trees[a.offsets[k + 1] - a.offsets[k] - 1, b.offsets[k + 1] - b.offsets[k] - 1]
    return out


@jit_inner
def keyroots(sizes: Small) -> Flags:
    """Mark the highest of the nodes that share a leftmost leaf, by node in postorder."""
    highest = np.empty(len(sizes), np.int64)
    for i in range(len(sizes)):  # a parent comes after its children and overwrites them
        highest[i - sizes[i] + 1] = i
    found = np.empty(len(sizes), np.bool_)
    for i in range(len(sizes)):
        found[i] = highest[i - sizes[i] + 1] == i
    return found


@jit_inner
def fill(a: Trees, b: Trees, k: int, root_a: int, root_b: int, trees: Small, forests: Small) -> None:
    """Fill in `trees`, for pair k, the distances of subtrees that start at the leftmost leaves of two keyroots.

    `forests[r, c]` is the distance of the first r nodes below one to the first c below the other.
    """
    rows = a.sizes[root_a]
    columns = b.sizes[root_b]
    start_a = root_a - rows + 1
    start_b = root_b - columns + 1
    sizes_b = b.sizes[start_b : root_b + 1]
    labels_b = b.labels[start_b : root_b + 1]
    corner_a = start_a - a.offsets[k]
    corner_b = start_b - b.offsets[k]
    for c in range(columns + 1):
        forests[0, c] = c
    for r in range(rows):
        forests[r + 1, 0] = r + 1
        before_a = r + 1 - a.sizes[start_a + r]  # how many nodes stand left of this one's subtree
        label = a.labels[start_a + r]
        above, here, beside = forests[r], forests[r + 1], forests[before_a]
        found = trees[corner_a + r, corner_b : corner_b + columns]
        last = r + 1
        for c in range(columns):
            before_b = c + 1 - sizes_b[c]
            best = min(above[c + 1], last) + 1
            if before_a == 0 and before_b == 0:  # two whole trees: their roots can be matched
                best = min(best, above[c] + (label != labels_b[c]))
                found[c] = best
            else:
                best = min(best, beside[before_b] + found[c])
            here[c + 1] = best
            last = best
