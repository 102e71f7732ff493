"""Pairs of a plain piece and a less plain one: what a formula of two terms is most often made of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest
from edhie.search.mosaic.board import Finding, Place
from edhie.search.mosaic.frames import Laid
from edhie.search.mosaic.pieces import LARGEST_VALUE
from edhie.search.mosaic.shapes import crossings
from edhie.search.splicing import Stock

Numbers = NDArray[np.float64]
Indices = NDArray[np.int64]
OPERATORS = ("*", "/")


@dataclass(frozen=True, eq=False)
class Crossed:
    """Pieces, and products and quotients of some with others, which have not been written out as trees."""

    stock: Stock
    left: Indices
    right: Indices
    """By candidate: the second operand's place in the stock; -1 for a piece that stands by itself."""
    operators: Indices
    values: Numbers

    @classmethod
    def of(cls, few: Forest, few_values: Numbers, shaped: Forest, shaped_values: Numbers) -> Crossed:
        """All of a few pieces and shapes, and the few times and over each shape."""
        stock, i, j = crossings(few, shaped)
        both, values = stock.forest, np.concatenate([few_values, shaped_values])
        alone = np.arange(len(both))
        names = [name for name in OPERATORS if name in both.library]
        with np.errstate(all="ignore"):
            made = [values[i] * values[j] if name == "*" else values[i] / values[j] for name in names]
        found = np.concatenate([values, *made])
        usable = np.flatnonzero(np.isfinite(found).all(axis=1) & (np.abs(found).max(axis=1) < LARGEST_VALUE))
        operators = np.concatenate([np.full(len(both), -1), *(np.full(len(i), both.library.ids[n]) for n in names)])
        left = np.concatenate([alone, *(i for _ in names)])
        right = np.concatenate([np.full(len(both), -1), *(j for _ in names)])
        return cls(stock, left[usable], right[usable], operators[usable], found[usable])

    @property
    def sizes(self) -> Indices:
        """By candidate: its nodes."""
        sizes = self.stock.forest.sizes
        found: Indices = sizes[self.left] + np.where(self.right >= 0, sizes[self.right] + 1, 0)
        return found

    def tree(self, k: int) -> Forest:
        """One candidate, written out."""
        whole = self.stock.trees(self.left[[k]])
        if self.right[k] < 0:
            return self.stock.join([whole])
        return self.stock.join([self.stock.symbols(self.operators[[k]]), whole, self.stock.trees(self.right[[k]])])


def best_crossed(
    places: Sequence[Place], plain: Forest, plain_values: Numbers, crossed: Crossed, top: int
) -> tuple[list[Finding], int]:
    """By place the pairs of a plain piece and a candidate that describe its target best; how many were weighed."""
    found: list[Finding] = []
    for place in places:
        shares = _pair_shares(place, plain_values, crossed.values)
        n_rows = len(place.frame.target)
        price = 2 * math.log(max(len(plain.library), 2)) / n_rows
        rank = np.log(1 - shares + 1e-16) + price * (crossed.sizes[:, np.newaxis] + plain.sizes)
        for flat in np.argsort(rank, axis=None, kind="stable")[:top]:
            j, i = divmod(int(flat), len(plain))
            if shares[j, i] > 0:
                extra = (
                    Laid(plain.take([i]), plain_values[i], is_log=False),
                    Laid(crossed.tree(j), crossed.values[j], is_log=False),
                )
                found.append(Finding(place, extra, place.left_by(float(shares[j, i]))))
    return found, len(places) * len(plain) * len(crossed.values)


def _pair_shares(place: Place, plain: Numbers, candidates: Numbers) -> Numbers:
    """(candidates, plain): the share of a frame's residual that both together explain; 0 where they are alike."""
    block, residual = place.frame.block, place.frame.residual
    base, base_squares = block.residuals(plain * block.row_scale)
    rest, squares = block.residuals(candidates * block.row_scale)
    with np.errstate(all="ignore"):
        unit = base / np.sqrt(base_squares)[:, np.newaxis]
        loads = unit @ residual
        overlap = rest @ unit.T
        own = squares[:, np.newaxis] - np.square(overlap)
        gain = np.square((rest @ residual)[:, np.newaxis] - overlap * loads) / own
        shares = (np.square(loads) + gain) / float(residual @ residual)
    usable = (own > 1e-7 * squares[:, np.newaxis]) & (squares[:, np.newaxis] > 0) & np.isfinite(shares)
    return np.clip(np.where(usable, shares, 0.0), 0.0, 1.0)
