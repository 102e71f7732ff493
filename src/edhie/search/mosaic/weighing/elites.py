"""The best pieces that a frame has seen, no two alike in what they explain."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest, SymbolLibrary
from edhie.search.pieces.variation import is_plain

Numbers = NDArray[np.float64]
LEAST = 1e-16
PRICE = 1.0  # of a node, in the bits that it takes to tell it
ALIKE = 9  # digits of the share
CONSIDERED = 3  # times the capacity, of those that are offered


class Elites:
    """Pieces ranked by what they leave of a frame's residual, small ones preferred."""

    def __init__(self, library: SymbolLibrary, n_rows: int, capacity: int) -> None:
        self.capacity = capacity
        # a symbol costs as many bits as what is left would have to save: n/2·log2(rest)
        self._price = PRICE * 2 * math.log(max(len(library), 2)) / n_rows
        self.forest = Forest.from_exprs([], library)
        self.values: Numbers = np.empty((0, n_rows))
        self.is_log: NDArray[np.bool_] = np.empty(0, np.bool_)
        self.shares: Numbers = np.empty(0)

    def __len__(self) -> int:
        return len(self.forest)

    def offer(
        self, forest: Forest, values: Numbers, which: NDArray[np.int64], is_log: NDArray[np.bool_], shares: Numbers
    ) -> None:
        """Look at regressors: piece `which` of the forest each, and the share that it explains."""
        usable = np.flatnonzero(shares > self._least)
        best = usable[np.argsort(-shares[usable], kind="stable")[: CONSIDERED * self.capacity]]
        if len(best) == 0:
            return
        both = Forest.concatenate([self.forest, forest.take(which[best])])
        all_shares = np.concatenate([self.shares, shares[best]])
        order = _chosen(both, all_shares, self.capacity, self._price)
        self.forest = both.take(order)
        self.values = np.concatenate([self.values, values[which[best]]])[order]
        self.is_log = np.concatenate([self.is_log, is_log[best]])[order]
        self.shares = all_shares[order]

    @property
    def _least(self) -> float:
        """The share below which nothing is looked at."""
        return 0.0 if len(self) < self.capacity else 0.5 * float(self.shares.min())


def _chosen(forest: Forest, shares: Numbers, capacity: int, price: float) -> NDArray[np.int64]:
    """The best of every kind, then the second of every kind, and so on, until there are enough; the best first.

    A kind is the operator at the root, or the size, with or without constants that are no plain numbers: so neither
    long pieces nor those of one form take all places, nor those that only bend.
    """
    rank = np.log(1 - shares + LEAST) + price * forest.sizes
    order = np.argsort(rank, kind="stable")
    order = order[_first_of_each(np.round(shares[order], ALIKE))]
    order = order[_first_of_each(_structures(forest)[order])]
    is_fitted = _has_fitted_constants(forest)[order].astype(np.int64)
    roots = forest.tokens[forest.offsets[:-1]][order]
    turn = np.minimum(_places_within(2 * roots + is_fitted), _places_within(2 * forest.sizes[order] + is_fitted))
    kept = np.argsort(turn, kind="stable")[:capacity]
    return order[np.sort(kept)]


def _has_fitted_constants(forest: Forest) -> NDArray[np.bool_]:
    fitted = np.concatenate([np.zeros(1, np.int64), np.cumsum(~is_plain(forest.values))])
    return fitted[forest.value_offsets[1:]] > fitted[forest.value_offsets[:-1]]


def _places_within(kinds: NDArray[np.integer]) -> NDArray[np.int64]:
    """By entry: how many of its kind stand before it."""
    by_kind = np.argsort(kinds, kind="stable")
    places = np.empty(len(kinds), np.int64)
    places[by_kind] = np.arange(len(kinds)) - np.searchsorted(kinds[by_kind], kinds[by_kind])
    return places


def _first_of_each(keys: NDArray[np.generic]) -> NDArray[np.int64]:
    _, first = np.unique(keys, return_index=True)
    return np.sort(first)


def _structures(forest: Forest) -> NDArray[np.int64]:
    """By piece a number that those with the same tokens share, whatever their constants."""
    bare = Forest(forest.library, forest.tokens, forest.offsets, np.full(len(forest.values), np.nan))
    return bare.grouped()[1]
