"""The board on which a mosaic is laid: frames, and the best pieces of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.constraints import Rules
from edhie.expr import Forest, SymbolLibrary
from edhie.search.mosaic.frames.frame import Frame, Laid, shares_of, weigh
from edhie.search.mosaic.frames.free_columns import FreeColumns
from edhie.search.mosaic.weighing.elites import Elites
from edhie.search.mosaic.weighing.gates import OPEN, PieceFilter, gate_of
from edhie.search.pieces.products import Products

Numbers = NDArray[np.float64]
SURE = 1e-9  # of what is to be explained: less left is worth writing at once
BETTER = 0.9  # times what was left before: what leaves less is written
PAIRED_ELITES = 30  # of each frame
PAIRED_FIRST, PAIRED_BEST = 500, 1000  # pieces that are tried in pairs: the plainest, and the best
MULTIPLIED_BLOCKS = 4  # of several columns, in whose frames products are weighed: those with the shortest descriptions
OFFERED = 20  # products to a frame at once


@dataclass(eq=False)
class PooledFrame:
    """A frame on the board, and what is known of it."""

    frame: Frame
    elites: Elites
    root: int
    """The place of the frame that it grew from, its own for one that the search began with."""
    least: float = np.inf
    """The least that a piece left, as a share, when it was last written."""
    bits: float = np.inf
    """The fewest in which something that was written from it describes the data."""
    written: set[float] = field(default_factory=set)
    """The shares that were written."""
    gate: PieceFilter = OPEN
    """Which pieces may be written in the frame."""

    @property
    def is_lean(self) -> bool:
        """Whether little comes free in it: it takes longer to get somewhere, and what is found is shorter."""
        return len(self.frame.block.exponents) == 1 or self.frame.block.is_product

    def left_by(self, share: float) -> float:
        """What a piece leaves of all that is to be explained."""
        return self.frame.unexplained * (1.0 - share)


@dataclass(frozen=True, eq=False)
class Finding:
    """Pieces that do well in a frame together, and are to be written."""

    place: PooledFrame
    extra: tuple[Laid, ...]
    left: float


def ranks(places: Sequence[PooledFrame]) -> NDArray[np.int64]:
    """By place: how many have shorter descriptions, among the lean ones and among the others."""
    found = np.empty(len(places), np.int64)
    for is_lean in (True, False):
        its = [k for k, place in enumerate(places) if place.is_lean == is_lean]
        bits = np.array([places[k].bits for k in its])
        found[its] = np.argsort(np.argsort(bits, kind="stable"))
    return found


class FramePool:
    """Places for frames, weighed block by block."""

    def __init__(self, library: SymbolLibrary, n_rows: int, n_elites: int, rules: Rules | None = None) -> None:
        """What `rules` allow in no equation, or not in a frame, is weighed there for nothing and left out."""
        self.library = library
        self._rules = rules
        self.n_rows = n_rows
        self.n_elites = n_elites
        self.places: list[PooledFrame] = []

    def put(self, frame: Frame, root: int | None = None) -> PooledFrame:
        """A place for a frame."""
        elites = Elites(self.library, self.n_rows, self.n_elites)
        place = PooledFrame(frame, elites, len(self.places) if root is None else root, gate=gate_of(frame, self._rules))
        self.places.append(place)
        return place

    def by_block(self, places: Sequence[PooledFrame] | None = None) -> Iterator[tuple[FreeColumns, list[PooledFrame]]]:
        """Places over the same block together."""
        groups: dict[int, list[PooledFrame]] = {}
        for place in self.places if places is None else places:
            groups.setdefault(id(place.frame.block), []).append(place)
        return ((group[0].frame.block, group) for group in groups.values())

    # -- weighing -------------------------------------------------------------------------

    def weigh(self, forest: Forest, values: Numbers, places: Sequence[PooledFrame] | None = None) -> None:
        """Offer pieces to all places, or to some."""
        if len(forest) == 0:
            return
        for block, group in self.by_block(places):
            weighed = weigh(values, block, [place.frame for place in group])
            for k, place in enumerate(group):
                shares = place.gate.pass_on(weighed.shares[:, k], forest, weighed.which, weighed.is_log)
                place.elites.offer(forest, values, weighed.which, weighed.is_log, shares)

    def singles(self, most: int) -> list[Finding]:
        """By place the best pieces that were not written yet, where they leave less than those before."""
        found = []
        for place in self.places:
            elites, count = place.elites, 0
            for k in range(min(len(elites), most)):
                share = float(elites.shares[k])
                left = place.left_by(share)
                if share in place.written or (left > BETTER * place.least and left > SURE):
                    continue
                place.written.add(share)
                place.least = min(place.least, left)
                found.append(Finding(place, (self.laid(elites, k),), left))
                count += 1
                if count >= most or left <= SURE:
                    break
        return found

    def simplest(self, largest: int) -> list[Finding]:
        """By size the best piece of the first frame: what the short end of a front is made of."""
        place = self.places[0]
        found: dict[int, Finding] = {}
        for k, size in enumerate(place.elites.forest.sizes.tolist()):
            if size <= largest and size not in found:
                found[size] = Finding(
                    place, (self.laid(place.elites, k),), place.left_by(float(place.elites.shares[k]))
                )
        return list(found.values())

    def laid(self, elites: Elites, k: int) -> Laid:
        """An elite as a piece that is laid."""
        return Laid(elites.forest.take([k]), elites.values[k], bool(elites.is_log[k]))

    def pairs(self, forest: Forest, values: Numbers, top: int) -> tuple[list[Finding], int]:
        """The best pairs of pieces in every frame without laid pieces, and how many were weighed.

        Of the pieces given, the first few are tried, and those that explain most by themselves.
        """
        from edhie.search.mosaic.weighing.pair_kernels import best_pairs

        found: list[Finding] = []
        n_weighed = 0
        for block, group in self.by_block([place for place in self.places if not place.frame.laid]):
            pool, pool_values = self._with_elites(forest, values, group)
            regressors, which, is_log = block.regressors(pool_values)
            rest, squares = block.residuals(regressors)
            usable = self._paired(rest, squares, which, len(forest), group)
            unit = rest[usable] / np.sqrt(squares[usable])[:, np.newaxis]
            gram = unit @ unit.T
            n_weighed += len(group) * len(usable) * (len(usable) - 1) // 2
            for place in group:
                if place.frame.unexplained <= 0:
                    continue
                residual = place.frame.residual
                dots = unit @ (residual / np.linalg.norm(residual))
                inside = place.gate.inside(pool, which[usable], is_log[usable])
                own = gram if len(inside) == len(gram) else np.ascontiguousarray(gram[np.ix_(inside, inside)])
                shares, *both = best_pairs(own, dots[inside], top)
                for share, i, j in zip(shares.tolist(), *(places.tolist() for places in both), strict=True):
                    if i < 0:
                        break
                    pair = usable[inside[[i, j]]]
                    extra = tuple(Laid(pool.take([which[m]]), pool_values[which[m]], bool(is_log[m])) for m in pair)
                    found.append(Finding(place, extra, place.left_by(min(share, 1.0))))
        return found, n_weighed

    def _paired(
        self, rest: Numbers, squares: Numbers, which: NDArray[np.int64], n_pieces: int, group: Sequence[PooledFrame]
    ) -> NDArray[np.int64]:
        """The regressors that are tried in pairs."""
        chosen = (squares > 0) & ((which < PAIRED_FIRST) | (which >= n_pieces))
        shares = shares_of(rest, squares, [place.frame for place in group])
        most = PAIRED_BEST // len(group)
        for k in range(len(group)):
            chosen[np.argsort(-shares[:, k], kind="stable")[:most]] = True
        return np.flatnonzero(chosen & (squares > 0))

    def _with_elites(self, forest: Forest, values: Numbers, group: Sequence[PooledFrame]) -> tuple[Forest, Numbers]:
        few = [place.elites for place in group]
        forests = [each.forest.take(np.arange(min(len(each), PAIRED_ELITES))) for each in few]
        both = Forest.concatenate([forest, *forests])
        all_values = np.concatenate([values, *(each.values[:PAIRED_ELITES] for each in few)])
        first, _ = both.grouped()
        return both.take(first), all_values[first]

    def products(self, crossed: Products, values: Numbers) -> int:
        """Offer products and quotients to frames that are sums, given their stock's values; how many were weighed."""
        groups = [(block, group) for block, group in self.by_block() if not block.is_product]
        lean = [each for each in groups if len(each[0].exponents) == 1]
        rich = sorted((each for each in groups if len(each[0].exponents) > 1), key=lambda each: _fewest_bits(each[1]))
        groups = [*lean, *rich[:MULTIPLIED_BLOCKS]]
        n_weighed = 0
        for which, made in crossed.chunks(values):
            n_weighed += len(which)
            for block, group in groups:
                rest, squares = block.residuals(made * block.row_scale)
                shares = shares_of(rest, squares, [place.frame for place in group])
                for k, place in enumerate(group):
                    self._offer_best(place, crossed, which, made, shares[:, k])
        return n_weighed

    def _offer_best(
        self, place: PooledFrame, crossed: Products, which: NDArray[np.int64], made: Numbers, shares: Numbers
    ) -> None:
        """Offer the best of some candidates: each that is offered has to be written out."""
        worst = place.elites.shares[-1] if len(place.elites) == place.elites.capacity else 0.0
        best = np.flatnonzero(shares > worst)
        best = best[np.argsort(-shares[best], kind="stable")[:OFFERED]]
        if len(best):
            plain, trees = np.zeros(len(best), np.bool_), crossed.trees(which[best])
            offered = place.gate.pass_on(shares[best], trees, np.arange(len(best)), plain)
            if self._rules is not None:
                offered = np.where(self._rules.allowed_as_part(trees), offered, 0.0)
            place.elites.offer(trees, made[best], np.arange(len(best)), plain, offered)


def _fewest_bits(places: Sequence[PooledFrame]) -> float:
    return min(place.bits for place in places)
