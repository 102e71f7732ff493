"""`Mosaic`, the default search: pieces of expressions, weighed in closed form and put together.

A generator's expressions are taken apart into pieces. Frames are ways of looking at the target in which
one piece more is weighed by a squared correlation: through a function of it that can be undone, as a product
of powers, beside polynomials, beside pieces that are laid already. What does well is written out as
an expression for the target, its constants are fitted to the target itself, and it is scored like any other.
The best pieces are changed, as trees and in the latent space, and weighed again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.data import few_rows
from edhie.expr import Forest
from edhie.results.candidates import Candidate, Candidates
from edhie.search.base import State, Strategy, Task
from edhie.search.mosaic.config import MosaicConfig
from edhie.search.mosaic.fitting.scribe import Scribe
from edhie.search.mosaic.fitting.tuning import to_be_tuned
from edhie.search.mosaic.frames.free_columns import polynomial_block
from edhie.search.mosaic.frames.guess_frames import frames_around
from edhie.search.mosaic.frames.noise_frames import RowNoise, noisy_frames
from edhie.search.mosaic.frames.opening_frames import opening_frames
from edhie.search.mosaic.given import best_given, given_pieces
from edhie.search.mosaic.proposals import Proposals
from edhie.search.mosaic.snapshot import Snapshot, forest_arrays, forest_of
from edhie.search.mosaic.weighing.frame_pool import BETTER, SURE, Finding, FramePool
from edhie.search.mosaic.weighing.function_pairs import couples
from edhie.search.mosaic.weighing.layers import lay
from edhie.search.mosaic.weighing.term_pairs import best_beside
from edhie.search.pieces.enumeration import written_one
from edhie.search.pieces.function_grid import own_functions, shapes
from edhie.search.pieces.generator_source import GeneratorSource
from edhie.search.pieces.piece_pool import PiecePool
from edhie.search.pieces.products import Products

Numbers = NDArray[np.float64]
GROWTH = 1.5  # of the number of pieces, from round to round
MULTIPLIED = 100  # pieces whose products are tried, at most
PAIRS_WRITTEN = 3  # of each frame
PRODUCT_ROUNDS = (1, 2, 4, 7, 12, 24, 48, 96, 192, 384)
SHAPE_ROUNDS, CROSSED = (5, 9, 17, 33, 65, 129, 257), 30  # when shapes are tried, with how many pieces
COUPLE_ROUNDS = (5, 17)  # when shapes are tried in couples with their constants fitted
PLAIN = 60  # pieces that go with the products of shapes in pairs
PAIR_ROUNDS = (1, 3, 5, 8, 12, 18, 27, 40, 60, 90, 135, 200, 300, 450)
LAID_EVERY, IMPROVED_EVERY = 3, 4  # rounds
TUNED = 32  # pieces a round whose constants are fitted
SIMPLE_ROUNDS, SIMPLE = (4, 10, 20, 40), 7  # when short pieces are written by themselves, and how long they may be
WHOLE_ROUND = 6  # by then what has no noise is found, if it is a matter of columns
NOISE_ROUNDS = (3, 6, 10, 16, 26, 42, 68, 110, 180, 300)  # when frames are made anew for the noise as it looks then
LEAST_GAIN = 0.5  # bits by which an equation has to be shorter to be better
BESIDE = 10  # columns of the polynomial beside which the constants of a guess are fitted
PATIENCE = 50  # rounds in which nothing new is looked at


class Mosaic(Strategy):
    """The default search."""

    name: ClassVar[str] = "mosaic"

    def __init__(self, config: MosaicConfig = MosaicConfig()) -> None:  # noqa: B008 -- frozen
        self.config = config

    @np.errstate(all="ignore")  # data of any size: what overflows is left out
    def begin(self, task: Task) -> None:
        """Choose rows and frames."""
        evaluator, config = task.evaluator, self.config
        library = evaluator.library
        data = few_rows(evaluator.data, config.rows)
        source, one = GeneratorSource(task.generator, library), written_one(library, evaluator.data)
        self._task = task
        self._data = data
        self._frames = opening_frames(data, library, config)
        self._board = FramePool(library, data.n_rows, config.elites, evaluator.rules)
        for frame in self._frames:
            self._board.put(frame)
        self._pieces = PiecePool(
            library, data.columns, config.kept, source.costs, one, evaluator.rules, evaluator.data.n_rows
        )
        self._gathering = Proposals(source, library, config, one)
        self._scribe = Scribe(task, config)
        self._round = self._idle = 0
        self._n_given = evaluator.explored.n_seen
        self._surrounded = Forest.from_exprs([], library)
        self._noise: RowNoise | None = None
        self._fewest_bits, self.improved_at, self.best_now = np.inf, 0, None

    @np.errstate(all="ignore")
    def step(self, rng: np.random.Generator) -> bool:
        """One round: pieces are looked at, and what does well in a frame is written."""
        before = self._n_known
        if self._round == 0:
            self._open()
        else:
            self._look(rng)
        self._round += 1
        if self._scribe.is_done:
            self._scribe.tidy()
            return False
        if self.config.refits and self._round % IMPROVED_EVERY == 0:
            self._scribe.improve(self._pieces.forest, self._gathering.likely, rng)
        if self.config.noise and self._round in NOISE_ROUNDS:
            self._face_noise()
        self._note_best()
        self._idle = self._idle + 1 if self._n_known == before else 0
        return self._idle < PATIENCE

    def _open(self) -> None:
        """Write what comes free; its columns have been executed."""
        if self._n_given:
            self._surround(self._guesses())
        n_columns = max((len(frame.block.exponents) for frame in self._frames), default=0)
        self._task.evaluator.spend(self._task.within_budget(n_columns))
        self._scribe.write_columns(self._frames)

    def _guesses(self) -> Forest:
        """The best of what was known before, as it is, twice, then with constants fitted beside a polynomial."""
        best = best_given(self._task.evaluator.explored, self._n_given)
        of_target = [place for place in self._board.places if place.frame.link.name == "y"]
        rich = max(of_target, key=lambda place: len(place.frame.block.exponents))
        block = polynomial_block(self._data.columns, rich.frame.block.row_scale, most=BESIDE)
        plain = replace(rich.frame, block=block)
        values = self._pieces.values_of(best)
        beside = [self._scribe.fitted_beside(best.take([k]), row, plain) for k, row in enumerate(values)]
        return Forest.concatenate([best, best, Forest.from_exprs(beside, best.library)])

    def _surround(self, guesses: Forest) -> None:
        """Put frames around guesses."""
        self._surrounded = guesses
        values = self._pieces.values_of(guesses)
        frames = frames_around(guesses, values, self._data, self._pieces.library, self.config)
        self._frames = [*self._frames, *frames]
        for frame in frames:
            self._board.put(frame)

    def _note_best(self) -> None:
        """Remember which equation would be chosen now, and since when."""
        if self._round % IMPROVED_EVERY:
            return
        self._scribe.look()
        leaders = self._scribe.leaders
        if len(leaders.bits) and leaders.bits[0] < self._fewest_bits - LEAST_GAIN:
            self._fewest_bits, self.improved_at = float(leaders.bits[0]), self._round
        self.best_now = self._first()

    def _first(self) -> Candidate | None:
        """The leader with the shortest description."""
        leaders = self._scribe.leaders
        if len(leaders.forest) == 0:
            return None
        complexity = float(self._task.evaluator.complexities(leaders.forest.take([0]))[0])
        return Candidate(leaders.forest[0], float(leaders.errors[0]), complexity, int(leaders.executed_at[0]))

    def leaders(self) -> Candidates | None:
        """Return the expressions with the shortest descriptions so far."""
        found = self._scribe.leaders
        before = found.state()  # asking changes nothing: a search that is resumed does not know that it was asked
        found.look(self._task.evaluator)
        complexities = self._task.evaluator.complexities(found.forest)
        listed = Candidates(found.forest, found.errors, np.asarray(complexities, np.float64), found.executed_at)
        found.restore(before)
        return listed

    def _face_noise(self) -> None:
        """Look at the target through frames that know its noise, as far as it is known by now."""
        noise = self._scribe.noise(self._data)
        if noise is None or (self._noise is not None and not noise.differs_from(self._noise)):
            return
        self._scribe.write_noisy()
        elites = [place.elites for place in self._board.places]
        self._put_noisy(noise)
        self._board.weigh(self._pieces.forest, self._pieces.values)
        both = Forest.concatenate([each.forest for each in elites])
        first, _ = both.grouped()  # what was found in the frames before, products among them
        self._board.weigh(both.take(first), np.concatenate([each.values for each in elites])[first])

    def _put_noisy(self, noise: RowNoise) -> None:
        """Replace the frames by those for this noise; frames around guesses stay."""
        around = [frame for frame in self._frames if frame.around is not None]
        fresh = noisy_frames(self._data, self._pieces.library, self.config, noise)
        self._noise, self._frames, self._board.places = noise, [*fresh, *around], []
        for frame in self._frames:
            self._board.put(frame)

    def _look(self, rng: np.random.Generator) -> None:
        """Weigh new pieces by themselves, and at times in products and pairs; write the best."""
        config, board, pieces, tally = self.config, self._board, self._pieces, self._task.tally
        n = int(min(config.most, config.first * GROWTH ** min(self._round - 1, 100)))
        if self._round == 1 and self._n_given:
            given = given_pieces(self._task.evaluator.explored, self._n_given, config.largest)
            self._weigh(Forest.concatenate([given, self._surrounded]))
        if self._round == 1 and config.shapes and own_functions(pieces.library):
            self._look_at_own()
        self._weigh(self._gathering.pieces(n, pieces.forest, board.places, rng))
        if config.pairs and self._round in PRODUCT_ROUNDS:
            few = np.arange(min(len(pieces), MULTIPLIED))
            tally.screened += board.products(Products.among(pieces.forest.take(few)), pieces.values[few])
        if config.shapes and self._round in SHAPE_ROUNDS:
            self._shape()
        findings = board.singles(config.written)
        if config.pairs and self._round in PAIR_ROUNDS:
            findings += self._pairs()
        if config.layers and self._round % LAID_EVERY == 0:
            lay(board, pieces, config.frames, rng)
        if self._round in SIMPLE_ROUNDS and board.places:
            findings += board.simplest(SIMPLE)
        if self._round == WHOLE_ROUND:
            self._scribe.write_whole_columns()
        fitted = self._scribe.write(findings)
        if config.refits:
            fitted += self._scribe.tune(to_be_tuned(board, TUNED, rng))
        if fitted:
            self._weigh(Forest.from_exprs(fitted, pieces.library))

    def _look_at_own(self) -> None:
        """Weigh functions that a user added first, each with a constant that is fitted: they are expected to matter."""
        pieces, board = self._pieces, self._board
        own, relevance = own_functions(pieces.library), self._gathering.relevance(board.places)
        self._weigh(shapes(pieces.library, pieces.columns, relevance, only=own))
        fitted = self._scribe.tune(board.simplest(SIMPLE)) if self.config.refits and board.places else []
        if fitted:
            self._weigh(Forest.from_exprs(fitted, pieces.library))

    def _shape(self) -> None:
        """Weigh functions of one variable, by themselves and times the plainest pieces."""
        pieces, board = self._pieces, self._board
        shaped = pieces.allowed(shapes(pieces.library, pieces.columns, self._gathering.relevance(board.places)))
        forest, shape_values = self._weigh(shaped) if self._round == SHAPE_ROUNDS[0] else pieces.finite(shaped)
        few, plain = (np.arange(min(len(pieces), n)) for n in (CROSSED, PLAIN))
        crossed = Products.between(pieces.forest.take(few), forest)
        values = np.concatenate([pieces.values[few], shape_values])
        lean = [place for place in board.places if place.is_lean and not place.frame.laid]
        lean = [place for place in lean if not place.frame.block.is_product and place.frame.unexplained > 0]
        groups = list(board.by_block(lean))
        found, n_pairs = best_beside(
            groups, pieces.forest.take(plain), pieces.values[plain], crossed, values, PAIRS_WRITTEN
        )
        self._task.tally.screened += board.products(crossed, values) + n_pairs
        fitted = self._scribe.write(found)
        if self.config.refits and self._round in COUPLE_ROUNDS:
            relevance = self._gathering.relevance(board.places)
            coupled, n_coupled = couples(forest, shape_values, self._data, relevance)
            self._task.tally.screened += n_coupled
            self._scribe.try_fitted(coupled)
        if fitted:
            self._weigh(Forest.from_exprs(fitted, pieces.library))

    def _pairs(self) -> list[Finding]:
        pieces = self._pieces
        found, n_weighed = self._board.pairs(pieces.forest, pieces.values, PAIRS_WRITTEN)
        self._task.tally.screened += n_weighed
        self._scribe.try_sums(pieces.forest)
        return [each for each in found if each.left <= SURE or each.left < BETTER * each.place.least]

    def _weigh(self, forest: Forest) -> tuple[Forest, Numbers]:
        """Execute pieces that were not looked at before, as far as the budget goes, and weigh them; the finite ones."""
        fresh = self._pieces.unseen(forest)
        fresh = fresh.take(np.arange(self._task.within_budget(len(fresh))))
        self._task.evaluator.spend(len(fresh))
        found = self._pieces.execute(fresh)
        self._board.weigh(*found)
        return found

    @property
    def _n_known(self) -> tuple[int, int]:
        """Expressions that were scored and pieces that were looked at, each once."""
        return self._task.evaluator.explored.n_seen, self._pieces.n_seen

    # -- what a checkpoint keeps ----------------------------------------------------------

    def state(self) -> State:
        """Pieces, elites, laid pieces; frames follow from the data."""
        memory = Snapshot(self._frames, self._board, self._pieces, self._gathering.enumeration)
        own = {"idle": np.array(self._idle), "given": np.array(self._n_given)}
        own |= self._scribe.state()
        own["best"] = np.array([self._fewest_bits, self.improved_at])
        if self._noise is not None:
            own["noise"] = np.stack([self._noise.centre, self._noise.deviations])
        return {**memory.state(self._round), **own, **forest_arrays("surrounded", self._surrounded)}

    @np.errstate(all="ignore")
    def restore(self, state: State) -> None:
        """Be where `state` was taken."""
        if "given" in state:  # searches of earlier versions began with nothing
            self._n_given = int(state["given"])
            self._surround(forest_of("surrounded", state, self._pieces))
        self._scribe.restore(state)
        self._fewest_bits, self.improved_at = float(state["best"][0]), int(state["best"][1])
        self.best_now = self._first()
        if "noise" in state:
            self._put_noisy(RowNoise(*state["noise"]))
        memory = Snapshot(self._frames, self._board, self._pieces, self._gathering.enumeration)
        self._round, self._idle = memory.restore(state), int(state["idle"])
