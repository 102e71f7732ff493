"""The pool of frames, each with its elites. Pieces and products of pieces are screened in all frames."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from edhie.evaluate.constraints import Rules
from edhie.evaluate.parallel import parallel_map
from edhie.expr import Forest, SymbolLibrary
from edhie.search.arrays import Indices, Mask, Numbers, read, written
from edhie.search.base import State
from edhie.search.mosaic.config import Screening
from edhie.search.mosaic.frames.frame import Frame, Term, screen
from edhie.search.mosaic.frames.free_columns import FreeColumns
from edhie.search.mosaic.screening.elites import Elites
from edhie.search.pieces.products import Products


@dataclass(eq=False)
class PooledFrame:
    """A frame in the pool, with its elites and its record so far."""

    frame: Frame
    elites: Elites
    root: int
    """The index of the frame without fixed terms that it was made from; its own if it has none."""
    rules: Rules | None = None
    """The constraints on equations."""
    least: float = np.inf
    """The smallest residual with a written piece, as a share of the total."""
    bits: float = np.inf
    """The shortest description length of an expression written from it."""
    written: set[float] = field(default_factory=set)
    """The explained shares of the pieces that were written, by which they are recognised."""

    @property
    def is_lean(self) -> bool:
        """True if it has few free columns: its residuals fall more slowly, but its expressions are shorter."""
        return self.frame.free.is_constant or self.frame.free.is_product

    def left_by(self, share: float) -> float:
        """Return the residual after a piece that explains this share, as a share of the total."""
        return self.frame.unexplained * (1.0 - share)

    @property
    def limit(self) -> float:
        """The largest residual with which terms are written: close to 0, or clearly below that of those before."""
        return max(Screening.SURE, Screening.BETTER * self.least)

    def elite(self, k: int) -> Finding:
        """Return one of the elites as a finding."""
        term = Term(self.elites.forest.take([k]), self.elites.values[k], bool(self.elites.is_log[k]))
        return Finding(self, (term,), self.left_by(float(self.elites.shares[k])))

    @cached_property
    def _banned(self) -> tuple[Mask | None, Mask | None]:
        """By token: whether it is forbidden in all pieces, and in pieces that go into an exponent; None: allowed."""
        if self.rules is None:
            return None, None
        head = ["/" if name == "1/" else name for name in self.frame.link.head]  # the inverse is around every piece
        return self.rules.banned_within(head), self.rules.banned_within(["exp"]) if self.frame.free.is_product else None

    def allowed(self, forest: Forest, which: Indices, is_log: Mask) -> Mask:
        """Return, by regressor, whether the constraints allow it; `which` has the index of its piece."""
        found = np.ones(len(which), np.bool_)
        for banned, may_be in zip(self._banned, (np.zeros_like(is_log), is_log), strict=True):
            if banned is not None:
                has_any = np.bincount(forest.owners[banned[forest.tokens]], minlength=len(forest)) > 0
                found &= ~has_any[which] | may_be
        return found


@dataclass(frozen=True, eq=False)
class Finding:
    """Terms that explain much in a frame, to be written as an expression."""

    pooled: PooledFrame
    extra: tuple[Term, ...]
    left: float
    """The residual with these terms, as a share of the total."""


def ranks(frames: Sequence[PooledFrame]) -> Indices:
    """Return the rank of each frame by description length, among the lean frames and among the others."""
    found = np.empty(len(frames), np.int64)
    for is_lean in (True, False):
        its = [k for k, each in enumerate(frames) if each.is_lean == is_lean]
        bits = np.array([frames[k].bits for k in its])
        found[its] = np.argsort(np.argsort(bits, kind="stable"))
    return found


class FramePool:
    """Frames and their elites; frames over the same free columns are screened together."""

    def __init__(self, library: SymbolLibrary, n_rows: int, n_elites: int, rules: Rules | None = None) -> None:
        """Pieces that `rules` forbid, in all equations or in a frame, do not become its elites."""
        self.library = library
        self._rules, self._n_rows, self._n_elites = rules, n_rows, n_elites
        self.frames: list[PooledFrame] = []

    def add(self, frame: Frame, root: int | None = None) -> PooledFrame:
        """Add a frame."""
        elites = Elites(self.library, self._n_rows, self._n_elites)
        root = len(self.frames) if root is None else root
        self.frames.append(PooledFrame(frame, elites, root, self._rules))
        return self.frames[-1]

    def extend(self, frames: Sequence[Frame]) -> None:
        """Add frames without fixed terms."""
        for frame in frames:
            self.add(frame)

    @property
    def roots(self) -> list[Frame]:
        """The frames without fixed terms."""
        return [each.frame for each in self.frames if not each.frame.terms]

    def by_columns(self, frames: Sequence[PooledFrame] | None = None) -> list[tuple[FreeColumns, list[PooledFrame]]]:
        """Return frames, by default all, grouped by their free columns."""
        groups: dict[FreeColumns, list[PooledFrame]] = {}
        for each in self.frames if frames is None else frames:
            groups.setdefault(each.frame.free, []).append(each)
        return list(groups.items())

    # -- screening -------------------------------------------------------------------------

    def screen(self, forest: Forest, values: Numbers, frames: Sequence[PooledFrame] | None = None) -> None:
        """Screen pieces in all frames, or in some, and offer them to the elites."""
        if len(forest) == 0:
            return
        groups = self.by_columns(frames)
        # matrix products run in threads; the rest holds the interpreter lock
        screened = parallel_map(lambda each: screen(values, each[0], [pooled.frame for pooled in each[1]]), groups)
        for (_, group), (which, is_log, shares) in zip(groups, screened, strict=True):
            for k, each in enumerate(group):
                own = np.where(each.allowed(forest, which, is_log), shares[:, k], 0.0)
                each.elites.offer(forest, values, which, is_log, own)

    def screen_products(self, products: Products, values: Numbers) -> int:
        """Screen products and quotients in all frames that are sums; return how many.

        `values` are those of the pieces that are multiplied.
        """
        groups = [(free, group) for free, group in self.by_columns() if not free.is_product]
        lean = [each for each in groups if each[0].is_constant]
        rich = [each for each in groups if not each[0].is_constant]
        rich.sort(key=lambda each: min(pooled.bits for pooled in each[1]))
        groups, n_screened = [*lean, *rich[: Screening.MULTIPLIED_GROUPS]], 0
        for which, made in products.chunks(values):
            n_screened += len(which)
            screened = parallel_map(partial(_product_shares, made), groups)
            for (_, group), shares in zip(groups, screened, strict=True):
                for k, each in enumerate(group):
                    self._offer_best(each, products, which, made, shares[:, k])
        return n_screened

    def _offer_best(
        self, pooled: PooledFrame, products: Products, which: Indices, made: Numbers, shares: Numbers
    ) -> None:
        elites = pooled.elites
        worst = elites.shares[-1] if len(elites) == elites.capacity else 0.0
        best = np.flatnonzero(shares > worst)
        best = best[np.argsort(-shares[best], kind="stable")[: Screening.OFFERED]]
        if len(best) == 0:
            return
        trees, offered = products.trees(which[best]), shares[best]
        plain, every = np.zeros(len(best), np.bool_), np.arange(len(best))
        if self._rules is not None:
            is_allowed = pooled.allowed(trees, every, plain) & self._rules.allowed_as_part(trees)
            offered = np.where(is_allowed, offered, 0.0)
        elites.offer(trees, made[best], every, plain, offered)

    # -- findings to be written -----------------------------------------------------------

    def singles(self, most: int) -> list[Finding]:
        """Return the best pieces of each frame, up to `most`, that are new and have a residual below its limit."""
        found = []
        for pooled in self.frames:
            for k, share in enumerate(pooled.elites.shares[:most].tolist()):
                each = pooled.elite(k)
                if share in pooled.written or each.left > pooled.limit:
                    continue
                pooled.written.add(share)
                pooled.least = min(pooled.least, each.left)
                found.append(each)
                if each.left <= Screening.SURE:
                    break
        return found

    def simplest(self, largest: int) -> list[Finding]:
        """Return the first frame's best piece of each size up to `largest`, for the short end of the Pareto front."""
        pooled = self.frames[0]
        found: dict[int, Finding] = {}
        for k, size in enumerate(pooled.elites.forest.sizes.tolist()):
            if size <= largest and size not in found:
                found[size] = pooled.elite(k)
        return list(found.values())

    # -- frames with fixed terms ----------------------------------------------------------

    def fix_terms(self, forest: Forest, values: Numbers, n_frames: int, rng: np.random.Generator) -> None:
        """Replace the frames with fixed terms: keep the best, and add new ones with an elite as one more term.

        New ones are made from the frames with the shortest descriptions, and the pieces of `forest` are screened in
        them. `n_frames` is about the number of frames in the end.
        """
        roots = [each for each in self.frames if not each.frame.terms]
        grown = {each.frame.key: each for each in self.frames if each.frame.terms}
        wanted: dict[tuple[object, ...], tuple[Frame, int]] = {}
        by_bits = sorted(range(len(roots)), key=lambda k: roots[k].bits)
        plain = [k for k in range(len(roots)) if k == 0 or roots[k].frame.free.is_product]
        for k in dict.fromkeys([*plain, *by_bits[: max(1, (n_frames - len(roots)) // 2)]]):
            for rank in (0, int(rng.integers(1, Screening.RANKS))):
                if rank < len(roots[k].elites):
                    frame = roots[k].frame.with_term(*roots[k].elite(rank).extra)
                    wanted[frame.key] = (frame, k)
        old = list(grown.values())
        for pooled in [each for each, rank in zip(old, ranks(old), strict=True) if rank < Screening.GROWING]:
            wanted[pooled.frame.key] = (pooled.frame, pooled.root)
            if len(pooled.elites) and len(pooled.frame.terms) < Screening.DEEPEST:
                frame = pooled.frame.with_term(*pooled.elite(0).extra)
                wanted[frame.key] = (frame, pooled.root)
        self.frames = list(roots)
        fresh: list[PooledFrame] = []
        for key, (frame, root) in wanted.items():
            if key in grown:
                self.frames.append(grown[key])
            elif np.isfinite(frame.unexplained) and frame.unexplained > 0:
                fresh.append(self.add(frame, root))
        if fresh:
            self.screen(forest, values, fresh)

    # -- checkpoints ----------------------------------------------------------------------

    def state(self) -> State:
        """Return the frames' fixed terms, elites and records as arrays."""
        frames, none = self.frames, Forest.from_exprs([], self.library)
        terms = [term for each in frames for term in each.frame.terms]
        return {
            "roots": np.array([each.root for each in frames], np.int64),
            "least": np.array([[each.least, each.bits] for each in frames]).reshape(-1, 2),
            "written_counts": np.array([len(each.written) for each in frames], np.int64),
            "written_values": np.concatenate([np.empty(0), *(np.array(sorted(each.written)) for each in frames)]),
            "n_terms": np.array([len(each.frame.terms) for each in frames], np.int64),
            "term_logs": np.array([term.is_log for term in terms], np.bool_),
            **written({"terms": Forest.concatenate([none, *(term.piece for term in terms)])}),
            "n_elites": np.array([len(each.elites) for each in frames], np.int64),
            "elite_logs": np.concatenate([np.empty(0, np.bool_), *(each.elites.is_log for each in frames)]),
            "elite_shares": np.concatenate([np.empty(0), *(each.elites.shares for each in frames)]),
            **written({"elites": Forest.concatenate([none, *(each.elites.forest for each in frames)])}),
        }

    def restore(self, state: State, values_of: Callable[[Forest], Numbers]) -> None:
        """Restore the pool from a snapshot; it has to have the same frames without fixed terms."""
        none = Forest.from_exprs([], self.library)
        fixed, elites = (read(none, name, state) for name in ("terms", "elites"))
        fixed_values, elite_values = values_of(fixed), values_of(elites)
        written = np.split(state["written_values"], np.cumsum(state["written_counts"])[:-1])
        ends, elite_ends = np.cumsum(state["n_terms"]), np.cumsum(state["n_elites"])
        roots, self.frames = self.roots, []
        for k, root in enumerate(state["roots"].tolist()):
            frame = roots[root]
            for at in range(int(ends[k] - state["n_terms"][k]), int(ends[k])):
                frame = frame.with_term(Term(fixed.take([at]), fixed_values[at], bool(state["term_logs"][at])))
            pooled = self.add(frame, root)
            pooled.least, pooled.bits = map(float, state["least"][k])
            pooled.written = set(written[k].tolist())
            its = slice(int(elite_ends[k] - state["n_elites"][k]), int(elite_ends[k]))
            pooled.elites.forest, pooled.elites.values = elites[its], elite_values[its]
            pooled.elites.is_log, pooled.elites.shares = state["elite_logs"][its], state["elite_shares"][its]


def _product_shares(made: Numbers, free_and_group: tuple[FreeColumns, list[PooledFrame]]) -> Numbers:
    """Return (products, frames): the share that each product explains; `made` has the products' values."""
    free, group = free_and_group
    return screen(made, free, [each.frame for each in group])[2]
