"""New expressions out of parts of others: whole batches at once, as ranges of tokens put end to end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Part:
    """One range of tokens for each new expression; length 0 where it has none."""

    start: Indices
    length: Indices


class Stock:
    """All that new expressions are made from: a forest's tokens, and each symbol of its library once."""

    def __init__(self, forest: Forest) -> None:
        self.forest = forest
        library = forest.library
        symbols = np.arange(len(library), dtype=np.int16)
        self.tokens = np.concatenate([forest.tokens, symbols])
        self.values = np.concatenate([forest.values, np.full(int(library.has_slot.sum()), np.nan)])
        counts = np.cumsum(library.has_slot[self.tokens], dtype=np.int64)
        self._slots = np.concatenate([np.zeros(1, np.int64), counts])
        self._first_symbol = len(forest.tokens)

    def symbols(self, ids: NDArray[np.integer]) -> Part:
        """One symbol each, by token id."""
        return Part(self._first_symbol + ids.astype(np.int64), np.ones(len(ids), np.int64))

    def trees(self, which: Indices) -> Part:
        """Whole expressions of the forest."""
        return Part(self.forest.offsets[which], self.forest.sizes[which])

    def subtrees(self, nodes: Indices) -> Part:
        """What hangs from these nodes of the forest."""
        return Part(nodes, self.forest.subtree_sizes[nodes].astype(np.int64))

    def join(self, parts: Sequence[Part]) -> Forest:
        """The expressions whose tokens are these parts, one after the other."""
        from edhie.search.pieces.splicing_kernels import joined

        starts = np.ascontiguousarray(np.stack([part.start for part in parts], axis=1))
        lengths = np.ascontiguousarray(np.stack([part.length for part in parts], axis=1))
        return Forest(self.forest.library, *joined(self.tokens, self.values, self._slots, starts, lengths))


def distinct_subtrees(forest: Forest, largest: int) -> Forest:
    """Every distinct subtree of at most so many nodes, the smallest first."""
    sizes = forest.subtree_sizes
    nodes = np.flatnonzero(sizes <= largest)
    stock = Stock(forest)
    found = stock.join([stock.subtrees(nodes)]).unique()
    return found.take(np.argsort(found.sizes, kind="stable"))
