"""Elites: the best pieces of a frame, without duplicates."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest, SymbolLibrary
from edhie.search.arrays import Indices, Mask, Numbers, one_of_each
from edhie.search.mosaic.config import Screening
from edhie.search.pieces.variation import is_plain


class Elites:
    """Pieces ranked by the residual of the frame with them, with a penalty on size."""

    def __init__(self, library: SymbolLibrary, n_rows: int, capacity: int) -> None:
        self.capacity = capacity
        # the penalty of a symbol, log(symbols), in units of the log-likelihood n/2·log(residual sum of squares)
        self._price = Screening.PRICE * 2 * math.log(max(len(library), 2)) / n_rows
        self.forest = Forest.from_exprs([], library)
        self.values: Numbers = np.empty((0, n_rows))
        self.is_log: Mask = np.empty(0, np.bool_)
        self.shares: Numbers = np.empty(0)

    def __len__(self) -> int:
        return len(self.forest)

    def offer(self, forest: Forest, values: Numbers, which: Indices, is_log: Mask, shares: Numbers) -> None:
        """Update the elites with regressors.

        `which` has the index of each regressor's piece in `forest`, `is_log` whether it is the piece's logarithm, and
        `shares` the share of the residual that it explains.
        """
        least = 0.0 if len(self) < self.capacity else 0.5 * float(self.shares.min())
        usable = np.flatnonzero(shares > least)
        best = usable[np.argsort(-shares[usable], kind="stable")[: Screening.CONSIDERED * self.capacity]]
        if len(best) == 0:
            return
        both = Forest.concatenate([self.forest, forest.take(which[best])])
        all_shares = np.concatenate([self.shares, shares[best]])
        order = _chosen(both, all_shares, self.capacity, self._price)
        self.forest = both.take(order)
        self.values = np.concatenate([self.values, values[which[best]]])[order]
        self.is_log = np.concatenate([self.is_log, is_log[best]])[order]
        self.shares = all_shares[order]


def _chosen(forest: Forest, shares: Numbers, capacity: int, price: float) -> Indices:
    """Return the indices of the best pieces of every kind, then the second best, up to `capacity`; the best first.

    A kind is the operator at the root, or the size, each with or without fitted constants (those that are not plain
    numbers). This keeps the elites diverse.
    """
    rank = np.log(1 - shares + 1e-16) + price * forest.sizes
    order = np.argsort(rank, kind="stable")
    order = order[np.sort(np.unique(np.round(shares[order], Screening.ALIKE), return_index=True)[1])]
    order = one_of_each(forest, order)
    counts = np.concatenate([np.zeros(1, np.int64), np.cumsum(~is_plain(forest.values))])
    is_fitted = (counts[forest.value_offsets[1:]] > counts[forest.value_offsets[:-1]])[order].astype(np.int64)
    roots = forest.tokens[forest.offsets[:-1]][order]
    turn = np.minimum(_ranks_within(2 * roots + is_fitted), _ranks_within(2 * forest.sizes[order] + is_fitted))
    kept = np.argsort(turn, kind="stable")[:capacity]
    return order[np.sort(kept)]


def _ranks_within(kinds: NDArray[np.integer]) -> Indices:
    """Return, by entry, the number of entries of its kind before it."""
    by_kind = np.argsort(kinds, kind="stable")
    places = np.empty(len(kinds), np.int64)
    places[by_kind] = np.arange(len(kinds)) - np.searchsorted(kinds[by_kind], kinds[by_kind])
    return places
