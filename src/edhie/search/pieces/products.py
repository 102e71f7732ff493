"""Products and quotients of pieces, one for each pair; they become trees only when selected."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from edhie.expr import Forest
from edhie.expr.splicing import Stock
from edhie.search.arrays import LARGEST_VALUE, Indices, Numbers

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
