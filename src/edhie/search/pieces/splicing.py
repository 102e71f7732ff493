"""Batches of new expressions spliced from others: ranges of tokens are concatenated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest
from edhie.search.arrays import LARGEST_VALUE, Indices, Mask, Numbers


@dataclass(frozen=True)
class Part:
    """One range of tokens for each new expression; it may be empty."""

    start: Indices
    length: Indices

    def at(self, chosen: Indices) -> Part:
        """Return the ranges at these indices."""
        return Part(self.start[chosen], self.length[chosen])

    def only(self, mask: Mask) -> Part:
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
        from edhie.search.pieces.splicing_kernels import joined

        starts = np.ascontiguousarray(np.stack([part.start for part in parts], axis=1))
        lengths = np.ascontiguousarray(np.stack([part.length for part in parts], axis=1))
        return Forest(self.forest.library, *joined(self.tokens, self.values, self._slots, starts, lengths))


def distinct_subtrees(forest: Forest, largest: int) -> Forest:
    """Return every distinct subtree of at most `largest` nodes, the smallest first."""
    stock = Stock(forest)
    found = stock.join([stock.subtrees(np.flatnonzero(forest.subtree_sizes <= largest))]).unique()
    return found.take(np.argsort(found.sizes, kind="stable"))


# -- products and quotients: one for each pair, so they become trees only when selected -

ALONE = -1  # in place of an operator: the piece itself
CHUNK = 2048  # candidates whose values are computed at once: some megabytes, which fit into the processor's cache


@dataclass(frozen=True, eq=False)
class Products:
    """Candidates: products and quotients of pieces in a stock, and pieces by themselves."""

    stock: Stock
    operators: Indices
    """By candidate: a token id, or ALONE."""
    left: Indices
    right: Indices
    """By candidate: the operands' indices in the stock; `right` is not used for a piece by itself."""

    def __len__(self) -> int:
        return len(self.left)

    @classmethod
    def among(cls, forest: Forest) -> Products:
        """Return the products and quotients of all pairs of pieces, squares included."""
        rows, columns = np.triu_indices(len(forest))
        i, j = np.nonzero(~np.eye(len(forest), dtype=np.bool_))
        return cls._of(Stock(forest), {"*": (rows, columns), "/": (i, j)})

    @classmethod
    def between(cls, few: Forest, others: Forest) -> Products:
        """Return all pieces by themselves, and each of `few` times and divided by each of `others`."""
        both = Forest.concatenate([few, others])
        left, right = np.divmod(np.arange(len(few) * len(others)), max(len(others), 1))
        pairs = left, right + len(few)
        alone = np.arange(len(both))
        return cls._of(Stock(both), {"": (alone, alone), "*": pairs, "/": pairs})

    @classmethod
    def _of(cls, stock: Stock, pairs: dict[str, tuple[Indices, Indices]]) -> Products:
        """Return the candidates of pairs of indices in a stock, by operator; missing operators are left out."""
        ids = {"": ALONE, **stock.forest.library.ids}
        known = [(ids[name], *both) for name, both in pairs.items() if name in ids]
        nothing = np.empty(0, np.int64)
        operators = np.concatenate([nothing, *(np.full(len(left), operator) for operator, left, _ in known)])
        return cls(stock, operators, *(np.concatenate([nothing, *(each[side] for each in known)]) for side in (1, 2)))

    @property
    def sizes(self) -> Indices:
        """By candidate: its number of nodes."""
        sizes = self.stock.forest.sizes
        return np.asarray(sizes[self.left] + np.where(self.operators == ALONE, 0, sizes[self.right] + 1))

    def chunks(self, values: Numbers) -> Iterator[tuple[Indices, Numbers]]:
        """Yield indices of candidates with finite values, in chunks, and these values; `values` are the stock's."""
        over = self.stock.forest.library.ids.get("/", ALONE)
        for start in range(0, len(self), CHUNK):
            part = slice(start, start + CHUNK)
            operators, first, second = self.operators[part], values[self.left[part]], values[self.right[part]]
            second[operators == ALONE] = 1.0
            is_over = operators == over
            with np.errstate(all="ignore"):
                first[is_over] /= second[is_over]  # bit for bit as the tree is executed when a search is resumed
                first[~is_over] *= second[~is_over]
                usable = np.flatnonzero(np.abs(first).max(axis=1) < LARGEST_VALUE)  # NaN and infinity are not less
            if len(usable):
                yield start + usable, first[usable]

    def trees(self, chosen: Indices) -> Forest:
        """Return the chosen candidates as expressions."""
        stock, is_pair = self.stock, self.operators[chosen] != ALONE
        head, tail = stock.symbols(np.maximum(self.operators[chosen], 0)), stock.trees(self.right[chosen])
        return stock.join([head.only(is_pair), stock.trees(self.left[chosen]), tail.only(is_pair)])
