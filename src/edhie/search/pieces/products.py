"""Products and quotients of pieces: as many as there are pairs, so none is written as a tree until it is wanted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest
from edhie.search.pieces.piece_pool import LARGEST_VALUE
from edhie.search.pieces.splicing import Part, Stock

Numbers = NDArray[np.float64]
Indices = NDArray[np.int64]
ALONE = -1
CHUNK = 2048  # candidates whose values are computed at once: some megabytes, which stay near the processor


@dataclass(frozen=True, eq=False)
class Products:
    """Candidates: what operators make of pieces in a stock, and pieces that stand by themselves."""

    stock: Stock
    operators: Indices
    """By candidate: a token id, or ALONE."""
    left: Indices
    right: Indices
    """By candidate: the operands' places in the stock; the second means nothing where a piece stands alone."""

    def __len__(self) -> int:
        return len(self.left)

    @classmethod
    def among(cls, forest: Forest) -> Products:
        """The products and quotients of all pairs of pieces."""
        rows, columns = np.triu_indices(len(forest))
        i, j = np.nonzero(~np.eye(len(forest), dtype=np.bool_))
        return cls._of(Stock(forest), {"*": (rows, columns), "/": (i, j)})

    @classmethod
    def between(cls, few: Forest, shaped: Forest) -> Products:
        """A few pieces and shapes, each by itself, and every one of the few times and over every shape."""
        both = Forest.concatenate([few, shaped])
        left, right = np.divmod(np.arange(len(few) * len(shaped)), max(len(shaped), 1))
        pairs = left, right + len(few)
        alone = np.arange(len(both))
        return cls._of(Stock(both), {"": (alone, alone), "*": pairs, "/": pairs})

    @classmethod
    def _of(cls, stock: Stock, pairs: dict[str, tuple[Indices, Indices]]) -> Products:
        ids = {"": ALONE, **stock.forest.library.ids}
        known = [(ids[name], *both) for name, both in pairs.items() if name in ids]
        nothing = np.empty(0, np.int64)
        operators = np.concatenate([nothing, *(np.full(len(left), operator) for operator, left, _ in known)])
        return cls(stock, operators, *(np.concatenate([nothing, *(each[side] for each in known)]) for side in (1, 2)))

    @property
    def sizes(self) -> Indices:
        """By candidate: its nodes."""
        sizes = self.stock.forest.sizes
        found: Indices = sizes[self.left] + np.where(self.operators == ALONE, 0, sizes[self.right] + 1)
        return found

    def chunks(self, values: Numbers) -> Iterator[tuple[Indices, Numbers]]:
        """Candidates, some at a time, and their values, given those of the stock; what is not finite is left out."""
        over = self.stock.forest.library.ids.get("/", ALONE)
        for start in range(0, len(self), CHUNK):
            part = slice(start, start + CHUNK)
            operators, first, second = self.operators[part], values[self.left[part]], values[self.right[part]]
            second[operators == ALONE] = 1.0
            is_over = operators == over
            with np.errstate(all="ignore"):
                first[is_over] /= second[is_over]  # to the bit as its tree is executed when a search goes on
                first[~is_over] *= second[~is_over]
                usable = np.flatnonzero(np.abs(first).max(axis=1) < LARGEST_VALUE)  # NaN and infinity are not less
            yield start + usable, first[usable]

    def trees(self, chosen: Indices) -> Forest:
        """Some candidates, written out."""
        stock, is_alone = self.stock, self.operators[chosen] == ALONE
        head, tail = stock.symbols(np.maximum(self.operators[chosen], 0)), stock.trees(self.right[chosen])
        head, tail = (Part(each.start, np.where(is_alone, 0, each.length)) for each in (head, tail))
        return stock.join([head, stock.trees(self.left[chosen]), tail])
