"""`Mosaic`, the default search: pieces of expressions, weighed in closed form and put together.

A generator's expressions are taken apart into pieces. Frames are ways of looking at the target in which
one piece more is weighed by a squared correlation: through a function of it that can be undone, as a product
of powers, beside polynomials, beside pieces that are laid already. What does well is written out as
an expression for the target, its constants are fitted to the target itself, and it is scored like any other.
The best pieces are changed, as trees and in the latent space, and weighed again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.data import Data
from edhie.evaluate.rows import few_rows
from edhie.expr import Expr, Forest
from edhie.results.description import description_bits
from edhie.search.base import State, Strategy, Task
from edhie.search.mosaic.board import SURE, Board, Finding, Place
from edhie.search.mosaic.config import MosaicConfig
from edhie.search.mosaic.enumeration import Enumeration
from edhie.search.mosaic.opening import opening_frames
from edhie.search.mosaic.pieces import Pieces
from edhie.search.mosaic.sources import Source
from edhie.search.mosaic.sums import plain_sums
from edhie.search.mosaic.tidying import pieces_within, refitted, shortened, shorter
from edhie.search.mosaic.writing import Writer
from edhie.search.variation import children

Numbers = NDArray[np.float64]
EXACT = 1e-24  # of the target's squares
SUM_ROWS = 1024  # that sums without coefficients are tried on
WIDE_ROWS = 5000  # that what comes free is fitted on
FIT_ROWS = 2000  # that constants are fitted again on
REFITS = 10  # a round
MULTIPLIED = 160  # pieces whose products are tried, at most
PAIRS_WRITTEN = 3
TIDY_ROUNDS = 8
IMPROVED_EVERY = 4  # rounds
IMPROVED, IMPROVEMENTS, CHILDREN = 3, 2, 25  # expressions, how often in a row, changed copies of each
IMPROVED_ROWS = 500
DESCRIBED = 200
OPENED = 16  # frames whose columns alone are written
PRODUCT_ROUNDS = (1, 2, 4, 7, 12, 24, 48, 96, 192, 384)
PAIR_ROUNDS = (1, 3, 5, 8, 12, 18, 27, 40, 60, 90, 135, 200, 300, 450)


class Mosaic(Strategy):
    """The default search."""

    name: ClassVar[str] = "mosaic"

    def __init__(self, config: MosaicConfig = MosaicConfig()) -> None:  # noqa: B008 -- frozen
        self.config = config

    # -- beginning ------------------------------------------------------------------------

    def begin(self, task: Task) -> None:
        """Choose rows and frames."""
        evaluator = task.evaluator
        self._task = task
        self._library = evaluator.given_library
        self._data: Data = few_rows(evaluator.data, self.config.rows)
        self._fit_data: Data = few_rows(evaluator.data, FIT_ROWS)
        self._improved_data: Data = few_rows(evaluator.data, IMPROVED_ROWS)
        self._sum_data: Data = few_rows(evaluator.data, SUM_ROWS)
        self._source = Source(task.generator, self._library)
        self._pieces = Pieces(self._library, self._data.columns, self.config.kept, self._source.costs)
        self._enumeration = Enumeration(self._library, 7)
        self._writer = Writer(self._library)
        self._board = Board(self._library, self._data.n_rows, self.config.elites)
        self._round = 0
        to_error = evaluator.loss.from_sum_of_squares
        squares = EXACT * evaluator.data.squares_to_explain
        self._exact = 0.0 if to_error is None else float(to_error(squares, evaluator.data))

    def state(self) -> State:
        """Not yet."""
        return {}

    def restore(self, state: State) -> None:
        """Not yet."""

    # -- steps ----------------------------------------------------------------------------

    def step(self, rng: np.random.Generator) -> bool:
        """One round: pieces are looked at, and what does well in a frame is written."""
        if self._round == 0:
            findings = self._open()
        else:
            findings = self._look(rng)
        self._round += 1
        self._write(findings)
        if self._best_error() <= self._exact:
            self._tidy()
            return False
        if self.config.refits and self._round % IMPROVED_EVERY == 0:
            self._improve(rng)
        return True

    def _open(self) -> list[Finding]:
        for frame in opening_frames(self._data, self._library, self.config):
            self._board.put(frame)
        self._spend(max(len(place.frame.block.exponents) for place in self._board.places))
        self._write_columns()
        return []

    def _write_columns(self) -> None:
        """Write what frames say with their columns alone, fitted on as many rows as is quick."""
        wide = few_rows(self._task.evaluator.data, WIDE_ROWS)
        is_wider = wide.n_rows > self._data.n_rows
        config = replace(self.config, scales=self.config.scales and not is_wider)
        frames = opening_frames(wide, self._library, config)
        if is_wider:
            frames += [place.frame for place in self._board.places if any(place.frame.scale)]
        best = sorted(frames, key=lambda frame: frame.unexplained)[:OPENED]
        written = [expr for frame in best for expr in self._writer.write(frame)]
        self._score(written)
        if self._writer.speller.is_free or self._best_error() <= self._exact:
            return
        whole = [frame for frame in frames if len(frame.target) == wide.n_rows]
        self._score([expr for frame in whole for expr in self._writer.write_whole(frame, wide)])

    def _score(self, written: list[Expr]) -> None:
        """Score expressions, and the best of them with constants fitted again."""
        short = [expr for expr in written if expr.size <= self.config.longest]
        if not short:
            return
        forest = shortened(Forest.from_exprs(short, self._library))
        errors = self._task.evaluator.score(forest).errors
        if self.config.refits and len(forest.values) and errors.min() > self._exact:
            best = np.argsort(errors, kind="stable")[:REFITS]
            self._task.tally.refits += len(best)
            self._task.evaluator.score(refitted(forest.take(best[np.isfinite(errors[best])]), self._fit_data))

    def _look(self, rng: np.random.Generator) -> list[Finding]:
        config, board = self.config, self._board
        n = int(min(config.most, config.first * 1.5 ** (self._round - 1)))
        fresh = self._pieces.unseen(self._gather(n, rng))
        fresh = fresh.take(np.arange(min(len(fresh), self._remaining())))
        self._spend(len(fresh))
        forest, values = self._pieces.execute(fresh)
        board.weigh(forest, values)
        findings: list[Finding] = []
        if config.pairs and self._round in PRODUCT_ROUNDS:
            few = min(len(self._pieces), MULTIPLIED)
            self._task.tally.screened += board.products(self._pieces.forest.take(np.arange(few)), self._pieces.values[:few])
        findings += board.singles(config.written)
        if config.pairs and self._round in PAIR_ROUNDS:
            pairs, weighed = board.pairs(self._pieces.forest, self._pieces.values, PAIRS_WRITTEN)
            self._task.tally.screened += weighed
            findings += [each for each in pairs if each.left <= SURE or each.left < 0.9 * each.place.least]
            if not self._writer.speller.is_free:
                self._try_sums()
        if config.layers and self._round % 3 == 0:
            self._lay(rng)
        return findings

    def _try_sums(self) -> None:
        """Score the sums of two pieces that come nearest to the target, where numbers cannot be written."""
        sums, weighed = plain_sums(self._pieces.forest, self._sum_data)
        self._task.tally.screened += weighed
        self._task.evaluator.score(shortened(sums))

    def _remaining(self) -> int:
        return int(min(self._task.evaluator.remaining, 1 << 40))

    def _spend(self, n: int) -> None:
        self._task.evaluator.spend(n)

    # -- pieces ---------------------------------------------------------------------------

    def _gather(self, n: int, rng: np.random.Generator) -> Forest:
        config, found = self.config, []
        library = self._library
        if config.enumeration and not self._enumeration.is_over:
            found.append(self._enumeration.take(max(n // 3, 8), self._pieces.forest))
        if config.samples:
            found.append(self._source.subtrees(max(n // 6, 4), rng, config.largest, self._likely()))
        places = [place for place in self._board.places if len(place.elites) >= 2]
        if self._round > 1 and places and len(self._pieces):
            found += self._changed(n, places, rng)
        every = Forest.concatenate(found) if found else Forest.from_exprs([], library)
        return every.take(np.flatnonzero(every.sizes <= config.largest)).unique()

    def _changed(self, n: int, places: list[Place], rng: np.random.Generator) -> list[Forest]:
        """The best pieces of all places changed, those of places with small errors more often."""
        config, found = self.config, []
        ranks = np.argsort(np.argsort([place.error for place in places], kind="stable"))
        weights = (ranks + 2.0) ** -1.3
        shares = rng.multinomial(n, weights / weights.sum())
        chosen = []
        for place, share in zip(places, shares.tolist(), strict=True):
            elites = place.elites.forest
            best = np.minimum(rng.geometric(0.04, share) - 1, len(elites) - 1)
            chosen.append(elites.take(best))
        parents = Forest.concatenate(chosen)
        if config.evolution:
            found.append(children(parents, self._pieces.forest, rng, likely=self._likely_symbols()))
        if config.latent and self._source.is_latent:
            found.append(self._source.neighbours(parents.unique(), n // 6, rng))
        return found

    def _likely_symbols(self) -> Numbers:
        """By token: how likely it is to come in, from how often the generator uses it."""
        return self._source.frequencies + 0.2 * self._source.frequencies.mean()

    def _likely(self) -> Numbers:
        """By variable: how likely it is to matter, from how often the best pieces have it."""
        ids = np.array([self._library.ids[name] for name in self._library.variables])
        counts = np.ones(len(self._library))
        for place in self._board.places:
            best = place.elites.forest.take(np.arange(min(len(place.elites), 5)))
            counts += np.bincount(best.tokens, minlength=len(counts))
        return counts[ids]

    # -- layers ---------------------------------------------------------------------------

    def _lay(self, rng: np.random.Generator) -> None:
        """Lay down good pieces: frames that grew before give way to others."""
        board = self._board
        roots = [place for place in board.places if not place.frame.laid]
        grown = {place.frame.key: place for place in board.places if place.frame.laid}
        wanted: dict[Any, tuple[Any, int]] = {}
        by_error = sorted(range(len(roots)), key=lambda k: roots[k].error)
        for k in by_error[: max(1, (self.config.frames - len(roots)) // 2)]:
            elites = roots[k].elites
            if len(elites) == 0:
                continue
            for rank in (0, int(rng.integers(1, 20))):
                if rank < len(elites):
                    frame = roots[k].frame.with_laid(board.laid(elites, rank))
                    wanted[frame.key] = (frame, k)
        # the best of those that have grown grow on
        for place in sorted(grown.values(), key=lambda place: place.error)[:4]:
            if len(place.elites) and len(place.frame.laid) < 3:
                wanted[place.frame.key] = (place.frame, place.root)
                frame = place.frame.with_laid(board.laid(place.elites, 0))
                wanted[frame.key] = (frame, place.root)
        board.places = list(roots)
        fresh = []
        for key, (frame, root) in wanted.items():
            if key in grown:
                board.places.append(grown[key])
            elif np.isfinite(frame.unexplained) and frame.unexplained > 0:
                fresh.append(board.put(frame, root))
        if fresh:
            board.weigh(self._pieces.forest, self._pieces.values, fresh)

    # -- writing --------------------------------------------------------------------------

    def _write(self, findings: list[Finding]) -> None:
        findings = sorted(findings, key=lambda each: each.left)
        written: list[tuple[Finding, Expr]] = []
        for each in findings:
            for expr in self._writer.write(each.place.frame, each.extra):
                if expr.size <= self.config.longest:
                    written.append((each, expr))
        if not written:
            return
        forest = shortened(Forest.from_exprs([expr for _, expr in written], self._library))
        errors = self._task.evaluator.score(forest).errors.copy()
        if self.config.refits and errors.min() > self._exact and len(forest.values):
            self._refit(written, forest, errors)
        for (finding, _), error in zip(written, errors.tolist(), strict=True):
            finding.place.error = min(finding.place.error, error)

    def _refit(self, written: list[tuple[Finding, Expr]], forest: Forest, errors: Numbers) -> None:
        """Fit the constants of the best again, all at once; pieces get theirs back, and are weighed once more."""
        chosen = np.argsort(errors, kind="stable")[:REFITS]
        chosen = chosen[np.isfinite(errors[chosen])]
        if len(chosen) == 0:
            return
        self._task.tally.refits += len(chosen)
        fitted = refitted(forest.take(chosen), self._fit_data)
        errors[chosen] = np.minimum(errors[chosen], self._task.evaluator.score(fitted).errors)
        pieces = []
        for k, expr in zip(chosen.tolist(), fitted, strict=True):
            finding, before = written[k][0], forest[k]
            pieces += [part for laid in finding.extra for part in pieces_within(laid.piece[0], before, expr)]
        if pieces:
            fresh = self._pieces.unseen(Forest.from_exprs(pieces, self._library))
            self._spend(len(fresh))
            self._board.weigh(*self._pieces.execute(fresh))

    def _best_error(self) -> float:
        errors = self._task.evaluator.explored.errors
        return float(errors.min()) if len(errors) else np.inf

    # -- whole expressions ----------------------------------------------------------------

    def _improve(self, rng: np.random.Generator) -> None:
        """Change the expressions that describe the data best: shorter ones, and other trees, with constants fitted."""
        evaluator = self._task.evaluator
        for _ in range(IMPROVEMENTS):
            best = self._shortest_descriptions()
            if len(best) == 0:
                return
            parents = best.take(np.repeat(np.arange(len(best)), CHILDREN))
            changed = children(parents, self._pieces.forest, rng, likely=self._likely_symbols())
            variants = Forest.concatenate([*(shorter(best.take([k])) for k in range(len(best))), changed])
            variants = shortened(variants.take(np.flatnonzero(variants.sizes <= self.config.longest))).unique()
            variants = variants.take(np.arange(min(len(variants), self._remaining())))
            self._task.tally.refits += len(variants)
            before = len(evaluator.explored)
            evaluator.score(refitted(variants, self._improved_data))
            if len(evaluator.explored) == before:
                return

    def _shortest_descriptions(self) -> Forest:
        """The few expressions so far that describe the data in the fewest bits."""
        explored = self._task.evaluator.explored
        errors, sizes = explored.errors, explored.complexities
        finite = np.flatnonzero(np.isfinite(errors))
        by_error = finite[np.argsort(errors[finite], kind="stable")[:DESCRIBED]]
        small = finite[np.lexsort((errors[finite], sizes[finite]))[:DESCRIBED]]
        forest = explored.take(np.unique(np.concatenate([by_error, small])))
        bits = description_bits(forest, self._improved_data)
        return forest.take(np.argsort(bits, kind="stable")[:IMPROVED])

    # -- the end --------------------------------------------------------------------------

    def _tidy(self) -> None:
        """Make what was found shorter, as long as it stays exact."""
        evaluator = self._task.evaluator
        for _ in range(TIDY_ROUNDS):
            explored = evaluator.explored
            exact = np.flatnonzero(explored.errors <= self._exact)
            best = exact[np.argmin(explored.complexities[exact])]
            size = explored.complexities[best]
            found = explored.take(np.array([best]))
            variants = shortened(Forest.concatenate([found, shorter(found)]))
            self._task.tally.refits += len(variants)
            evaluator.score(refitted(variants, self._fit_data))
            exact = np.flatnonzero(explored.errors <= self._exact)
            if evaluator.explored.complexities[exact].min() >= size:
                return
