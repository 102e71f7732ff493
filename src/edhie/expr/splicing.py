"""Batches of new expressions spliced from others: ranges of tokens are concatenated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edhie.arrays import Flags, Indices
from edhie.expr.forest import Forest


@dataclass(frozen=True)
class Part:
    """One range of tokens for each new expression; it may be empty."""

    start: Indices
    length: Indices

    def at(self, chosen: Indices) -> Part:
        """Return the ranges at these indices."""
        return Part(self.start[chosen], self.length[chosen])

    def only(self, mask: Flags) -> Part:
        """Return the ranges, empty where `mask` is False."""
        return Part(self.start, np.where(mask, self.length, 0))


class Stock:
    """The source of new expressions: a forest's tokens, and each symbol of its library once."""

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
        """Return single symbols, by token id."""
        return Part(self._first_symbol + ids.astype(np.int64), np.ones(len(ids), np.int64))

    def trees(self, which: Indices) -> Part:
        """Return whole expressions of the forest."""
        return Part(self.forest.offsets[which], self.forest.sizes[which])

    def subtrees(self, nodes: Indices) -> Part:
        """Return the subtrees at these nodes of the forest."""
        return Part(nodes, self.forest.subtree_sizes[nodes].astype(np.int64))

    def around(self, nodes: Indices) -> tuple[Part, Part, Part]:
        """Return, by node, the tokens of its tree before it, its subtree, and the tokens after that."""
        here, owners, offsets = self.subtrees(nodes), self.forest.owners[nodes], self.forest.offsets
        first, end = offsets[owners], nodes + here.length
        return Part(first, nodes - first), here, Part(end, offsets[owners + 1] - end)

    def write(self, *pattern: str | Part) -> Forest:
        """Return expressions by a pattern in prefix order; a string is the same symbol in all of them."""
        n = next(len(each.start) for each in pattern if isinstance(each, Part))
        ids = self.forest.library.ids
        return self.join([self.symbols(np.full(n, ids[e])) if isinstance(e, str) else e for e in pattern])

    def join(self, parts: Sequence[Part]) -> Forest:
        """Return the expressions whose tokens are the concatenated ranges of these parts."""
        from edhie.expr.splicing_kernels import joined

        starts = np.ascontiguousarray(np.stack([part.start for part in parts], axis=1))
        lengths = np.ascontiguousarray(np.stack([part.length for part in parts], axis=1))
        return Forest(self.forest.library, *joined(self.tokens, self.values, self._slots, starts, lengths))


def subtrees(forest: Forest, nodes: Indices) -> Forest:
    """Return the subtrees at these nodes."""
    stock = Stock(forest)
    return stock.join([stock.subtrees(nodes)])


def distinct_subtrees(forest: Forest, largest: int) -> Forest:
    """Return every distinct subtree of at most `largest` nodes, the smallest first."""
    found = subtrees(forest, np.flatnonzero(forest.subtree_sizes <= largest)).unique()
    return found.take(np.argsort(found.sizes, kind="stable"))
