"""`Mosaic`, the default search: pieces of expressions, screened in closed form and combined.

A **piece** is an expression that may be a term or a factor of the target. A **frame** (`frames/`) is a regression model
of a transformed target: an invertible function of the target, times powers of the variables, or the logarithm of
either, is a linear combination of free columns (basis functions that are always fitted, such as polynomials) and one
piece. The share of the residual variance that a piece explains is a squared correlation, so one matrix product screens
thousands of pieces.

The first round writes expressions without pieces (`Mosaic._open`): polynomials and products of powers in every frame
(`fitting/findings.py`), waves, exponentials, curves, peaks and quotients of polynomials (`writing/`). A user's guesses
get frames for their residuals and ratios (`frames/opening_frames.py`). An exact expression ends the search. Every later
round has these steps; those marked (*) are done only in the rounds that `config.Rounds` lists:

1.  Propose pieces (`proposals.py`): the next shortest expressions (`pieces/enumeration.py`), subtrees of the
    generator's samples and neighbours in its latent space (`pieces/generator_source.py`), and offspring of the best
    pieces (`pieces/variation.py`).
2.  Execute the new ones, and add them to the pool of pieces (`pieces/piece_pool.py`).
3.  Screen them in all frames; each frame keeps its best as elites (`screening/frame_pool.py`, `screening/elites.py`).
4.  (*) Screen products and quotients of the simplest pieces (`pieces/splicing.py`).
5.  (*) Screen functions of one variable on a grid (`pieces/function_grid.py`), times simple pieces, in pairs with them
    (`screening/pairs.py`) and with each other (`screening/function_pairs.py`).
6.  (*) Screen all pairs of pieces (`screening/pairs.py`); if the library has no constants, their sums as well.
7.  (*) Add frames with good pieces as fixed terms, in which others are screened beside them (`FramePool.fix_terms`).
8.  Write the best findings as expressions for the target (`writing/frame_writer.py`), score them, and refit the
    constants of the best to the target itself (`fitting/findings.py`, `fitting/scoring.py`).
9.  Tune: fit constants inside some elites, and screen the results as new pieces.
10. Insert terms into expressions of the Pareto front, at the positions that a score test favours
    (`fitting/growing.py`).
11. (*) Improve the expressions with the shortest descriptions so far (`fitting/scoring.py`): as trees, with similar
    functions and with plain numbers (`fitting/improving.py`).
12. (*) Estimate the noise, and replace the frames by ones weighted by it (`frames/noise_frames.py`).
13. Do a round of the search in reduced variables, if the target has symmetries (`symmetry/`). They are detected once,
    in a process of their own if there is a free core, and used from round `Rounds.SYMMETRIES` on.

The search ends with an exact expression, which is then shortened, or after `Rounds.PATIENCE` rounds without anything
new.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import ClassVar

import numpy as np

from edhie.evaluate.data import few_rows
from edhie.expr import Expr, Forest
from edhie.expr.splicing import distinct_subtrees
from edhie.results.candidates import Candidates
from edhie.search.arrays import Numbers, read, under, written
from edhie.search.base import State, Strategy, Task
from edhie.search.mosaic.config import MosaicConfig, Opening, Rounds
from edhie.search.mosaic.fitting.findings import Findings
from edhie.search.mosaic.fitting.growing import grow_front
from edhie.search.mosaic.fitting.improving import improve, tidy
from edhie.search.mosaic.fitting.scoring import Scorer
from edhie.search.mosaic.frames.frame import Frame
from edhie.search.mosaic.frames.free_columns import polynomial_columns
from edhie.search.mosaic.frames.noise_frames import RowNoise, noise_frames
from edhie.search.mosaic.frames.opening_frames import best_guesses, frames_around, guess_pieces, opening_frames
from edhie.search.mosaic.proposals import Proposals, pieces_to_tune
from edhie.search.mosaic.screening.frame_pool import FramePool
from edhie.search.mosaic.screening.function_pairs import function_pairs
from edhie.search.mosaic.screening.pairs import best_pairs, best_with_products
from edhie.search.mosaic.symmetry.reduced_search import ReducedSearch, begin_reduction
from edhie.search.mosaic.symmetry.symmetries import Reduction
from edhie.search.pieces.enumeration import written_one
from edhie.search.pieces.function_grid import function_grid, own_functions
from edhie.search.pieces.generator_source import GeneratorSource
from edhie.search.pieces.piece_pool import PiecePool
from edhie.search.pieces.products import Products

NUMBERS = ("_round", "_idle", "_n_given", "_fewest_bits", "improved_at")
"""Attributes of a search that are saved as they are."""


class Mosaic(Strategy):
    """The default search."""

    name: ClassVar[str] = "mosaic"

    def __init__(self, config: MosaicConfig = MosaicConfig()) -> None:  # noqa: B008 -- frozen
        self.config = config

    @np.errstate(all="ignore")  # data may be of any size: values that overflow are dropped
    def begin(self, task: Task) -> None:
        """Choose rows and frames."""
        evaluator, config = task.evaluator, self.config
        library = evaluator.library
        data = few_rows(evaluator.data, config.rows)
        source, one = GeneratorSource(task.generator, library), written_one(library, evaluator.data)
        self._task, self._data = task, data
        self._pool = FramePool(library, data.n_rows, config.elites, evaluator.rules)
        self._pool.extend(self._own(opening_frames(data, library, config)))
        self._pieces = PiecePool(
            library, data.columns, config.kept_pieces, source.costs, one, evaluator.rules, evaluator.data.n_rows
        )
        self._proposals = Proposals(source, library, config, one)
        self._scorer = Scorer(task, config)
        self._findings = Findings(self._scorer)
        self._round = self._idle = 0
        self._n_given = evaluator.explored.n_seen
        self._around = {operator: Forest.from_exprs([], library) for operator in ("*", "+")}
        self._noise: RowNoise | None = None
        self._reduction: Callable[[], Reduction | None] | None = None
        self._reduced: ReducedSearch | None = None
        self._fewest_bits, self.improved_at, self.best_now = np.inf, 0, None

    def _own(self, frames: list[Frame]) -> list[Frame]:
        """Return the frames of this island: the first, and those over every n-th set of free columns of n islands."""
        sets = list(dict.fromkeys(frame.free for frame in frames))
        n = min(self._task.n_islands, max(len(sets), 1))
        own = set(sets[self._task.island % n :: n])
        return [frame for frame in frames if frame is frames[0] or frame.free in own]

    @np.errstate(all="ignore")
    def receive(self, forest: Forest) -> None:
        """Screen the subtrees of expressions that other islands found."""
        self._screen(distinct_subtrees(forest, self.config.largest_piece)[: Opening.GUESS_PIECES])

    @np.errstate(all="ignore")
    def step(self, rng: np.random.Generator) -> bool:
        """Do one round, as described at the top of this module."""
        before = self._n_known
        if self._round == 0:
            self._open()
        else:
            if self._round <= Rounds.SYMMETRIES:
                self._begin_reduction()
            self._search_pieces(rng)
            self._search_reduced(rng)
        self._round += 1
        is_due = self._round % Rounds.IMPROVED_EVERY == 0
        if self.config.refits and not self._scorer.is_done:
            self._improve(rng, is_due=is_due)
        if self._scorer.is_done:
            tidy(self._scorer)
            return False
        if self.config.noise and self._round in Rounds.NOISE:
            self._adapt_to_noise()
        if is_due:
            self._note_best()
        self._idle = self._idle + 1 if self._n_known == before else 0
        return self._idle < Rounds.PATIENCE

    def _improve(self, rng: np.random.Generator, *, is_due: bool) -> None:
        """Grow expressions of the Pareto front; if `is_due`, improve those with the shortest descriptions."""
        if self.config.growing:
            grow_front(self._scorer, rng.spawn(1)[0])  # its own generator: other draws are the same without it
        if is_due and not self._scorer.is_done:
            improve(self._scorer, self._pieces.forest, self._proposals.likely, rng)

    @property
    def _n_known(self) -> tuple[int, int]:
        """The number of expressions that were scored, and of pieces that were executed."""
        return self._task.evaluator.explored.n_seen, self._pieces.n_seen

    # -- the first round ------------------------------------------------------------------

    def _open(self) -> None:
        if self._n_given:
            self._add_guess_frames(self._guesses())
        frames = self._pool.roots
        n_columns = max((len(frame.free.exponents) for frame in frames), default=0)
        self._task.evaluator.spend(self._task.within_budget(n_columns))  # free columns count as executed
        self._findings.write_columns(frames)

    def _guesses(self) -> dict[str, Forest]:
        """Return the best guesses, by the operator that joins them with what they lack.

        That may be a factor, or a term beside the guess as it is or refitted together with a polynomial.
        """
        best = best_guesses(self._task.evaluator.explored, self._n_given)
        of_target = [frame for frame in self._pool.roots if frame.link.name == "y"]
        rich = max(of_target, key=lambda frame: len(frame.free.exponents))
        free = polynomial_columns(self._data.columns, rich.free.row_scale, most=Opening.GUESS_COLUMNS)
        frame = replace(rich, free=free)
        values = self._pieces.values_of(best)
        beside = [self._findings.fitted_with_columns(best.take([k]), row, frame) for k, row in enumerate(values)]
        return {"*": best, "+": Forest.concatenate([best, Forest.from_exprs(beside, best.library)])}

    def _add_guess_frames(self, guesses: dict[str, Forest]) -> None:
        """Add frames for the ratios and residuals of guesses."""
        self._around = guesses
        library = self._pieces.library
        for operator, forest in guesses.items():
            values = self._pieces.values_of(forest)
            self._pool.extend(frames_around(operator, forest, values, self._data, library, self.config))

    # -- later rounds ---------------------------------------------------------------------

    def _search_pieces(self, rng: np.random.Generator) -> None:
        """Screen new pieces, in some rounds also products and pairs of pieces; write the best."""
        config, pool, pieces, tally = self.config, self._pool, self._pieces, self._task.tally
        n = int(min(config.most_pieces, config.first_pieces * Rounds.GROWTH ** min(self._round - 1, 100)))
        if self._round == 1:
            self._screen_guesses()
        self._screen(self._proposals.pieces(n, pieces.forest, pool.frames, rng))
        if config.pairs and self._round in Rounds.PRODUCTS:
            few = slice(Rounds.MULTIPLIED)
            tally.screened += pool.screen_products(Products.among(pieces.forest.take(few)), pieces.values[few])
        if config.functions and self._round in Rounds.FUNCTIONS:
            self._screen_functions()
        findings = pool.singles(config.written_a_round)
        if config.pairs and self._round in Rounds.PAIRS:
            found, n_screened = best_pairs(pool, pieces.forest, pieces.values, Rounds.PAIRS_WRITTEN)
            tally.screened += n_screened
            self._findings.write_sums(pieces.forest)
            findings += [each for each in found if each.left <= each.pooled.limit]
        if config.fixed_terms and self._round % Rounds.LAYERS_EVERY == 0:
            pool.fix_terms(pieces.forest, pieces.values, config.frames, rng)
        if self._round in Rounds.SIMPLE and pool.frames:
            findings += pool.simplest(Rounds.SIMPLE_SIZE)
        if config.functions and self._round == Rounds.SYMMETRIES:
            self._findings.write_product_waves()
        if self._round == Rounds.CURVES and self._data.n_variables > 1:
            self._findings.write_named_curves()
        if self._round == Rounds.INTEGERS:
            self._findings.write_integer_columns()
        fitted = self._findings.write(findings)
        if config.refits:
            fitted += self._findings.tune(pieces_to_tune(pool.frames, Rounds.TUNED, rng))
        self._screen_exprs(fitted)

    def _begin_reduction(self) -> None:
        """Start the detection of symmetries, unless it was started before."""
        if self._reduction is None and self.config.symmetries and self._task.evaluator.rules is None:
            self._reduction = begin_reduction(self._scorer.few_data, self._pieces.library, self._task.seed)

    def _search_reduced(self, rng: np.random.Generator) -> None:
        """Do a round of the search in reduced variables; `Rounds.SYMMETRIES` is the first."""
        if self._reduction is not None and self._round == Rounds.SYMMETRIES:
            found = self._reduction()
            self._reduced = None if found is None else ReducedSearch.of(self._task, found, self._fresh())
        if self._reduced is not None and not self._reduced.is_over and not self._scorer.is_done:
            self._scorer.score(self._reduced.step(rng))

    def _fresh(self) -> Mosaic:
        """Return a search for the reduced variables, which need no further reduction."""
        return Mosaic(replace(self.config, symmetries=False))

    def _screen_guesses(self) -> None:
        """Screen subtrees of guesses, and a user's own functions with a fitted constant: both are likely to matter."""
        pieces, pool = self._pieces, self._pool
        if self._n_given:
            given = guess_pieces(self._task.evaluator.explored, self._n_given, self.config.largest_piece)
            self._screen(Forest.concatenate([given, *self._around.values()]))
        own = own_functions(pieces.library)
        if self.config.functions and own:
            relevance = self._proposals.relevance(pool.frames)
            self._screen(function_grid(pieces.library, pieces.columns, relevance, only=own))
            if self.config.refits and pool.frames:
                self._screen_exprs(self._findings.tune(pool.simplest(Rounds.SIMPLE_SIZE)))

    def _screen_functions(self) -> None:
        """Screen functions of one variable: alone, times the simplest pieces, and in pairs."""
        pieces, pool, tally = self._pieces, self._pool, self._task.tally
        relevance = self._proposals.relevance(pool.frames)
        grid = pieces.allowed(function_grid(pieces.library, pieces.columns, relevance))
        forest, grid_values = self._screen(grid) if self._round == Rounds.FUNCTIONS[0] else pieces.finite(grid)
        few, plain = slice(Rounds.CROSSED), slice(Rounds.BESIDE)
        products = Products.between(pieces.forest.take(few), forest)
        values = np.concatenate([pieces.values[few], grid_values])
        lean = [
            each
            for each in pool.frames
            if each.frame.free.is_constant and not each.frame.free.is_product
            if not each.frame.terms and each.frame.unexplained > 0
        ]
        found, n_pairs = best_with_products(
            pool.by_columns(lean), pieces.forest.take(plain), pieces.values[plain], products, values,
            Rounds.PAIRS_WRITTEN,
        )  # fmt: skip
        tally.screened += pool.screen_products(products, values) + n_pairs
        fitted = self._findings.write(found)
        if self.config.refits and self._round in Rounds.FUNCTION_PAIRS:
            relevance = self._proposals.relevance(pool.frames)
            paired, n_paired = function_pairs(forest, grid_values, self._data, relevance)
            tally.screened += n_paired
            self._scorer.score_promising(paired)
        self._screen_exprs(fitted)

    def _screen(self, forest: Forest) -> tuple[Forest, Numbers]:
        """Execute and screen new pieces, within the budget; return those with finite values."""
        found, values, _ = self._pieces.execute_new(forest, self._task)
        self._pool.screen(found, values)
        return found, values

    def _screen_exprs(self, exprs: list[Expr]) -> None:
        if exprs:
            self._screen(Forest.from_exprs(exprs, self._pieces.library))

    # -- noise ----------------------------------------------------------------------------

    def _adapt_to_noise(self) -> None:
        """Replace the frames by ones weighted by the noise, if its estimate has changed."""
        noise = self._scorer.estimate_noise(self._data)
        if noise is None or (self._noise is not None and not noise.differs_from(self._noise)):
            return
        self._findings.write_noisy_columns()
        elites = [each.elites for each in self._pool.frames]
        self._use_noise(noise)
        self._pool.screen(self._pieces.forest, self._pieces.values)
        both = Forest.concatenate([each.forest for each in elites])
        first, _ = both.grouped()  # elites of the former frames may be products, which the pool of pieces lacks
        self._pool.screen(both.take(first), np.concatenate([each.values for each in elites])[first])

    def _use_noise(self, noise: RowNoise) -> None:
        """Replace the frames by those for this noise; frames of guesses stay."""
        around = [frame for frame in self._pool.roots if frame.around is not None]
        self._noise, self._pool.frames = noise, []
        found = noise_frames(self._data, self._pieces.library, self.config, noise)
        self._pool.extend([*self._own(found), *around])

    # -- the best so far ------------------------------------------------------------------

    def _note_best(self) -> None:
        """Record the equation with the shortest description, and the round of the last improvement."""
        leaders = self._scorer.leaders
        leaders.update()
        if len(leaders.bits) and leaders.bits[0] < self._fewest_bits - Rounds.LEAST_GAIN:
            self._fewest_bits, self.improved_at = float(leaders.bits[0]), self._round
        self.best_now = next(iter(leaders.candidates()), None)

    def leaders(self) -> Candidates | None:
        """Return the expressions with the shortest descriptions so far."""
        found = copy(self._scorer.leaders)  # so that asking does not change how the search continues
        found.update()
        return found.candidates()

    # -- checkpoints ----------------------------------------------------------------------

    def state(self) -> State:
        """Return pieces, frames and leaders as arrays; the first round's frames follow from the data."""
        names = (*NUMBERS, "_around", "_noise", "_reduced", "_pieces", "_pool", "_scorer")
        own = {name.strip("_"): getattr(self, name) for name in names}
        return written(own | {"enumeration": self._proposals.enumeration})

    @np.errstate(all="ignore")
    def restore(self, state: State) -> None:
        """Restore the search from a snapshot."""
        for name in NUMBERS:
            setattr(self, name, read(getattr(self, name), name.strip("_"), state))
        self._add_guess_frames(read(self._around, "around", state))
        self._scorer.restore(under("scorer.", state))
        self.best_now = next(iter(self._scorer.leaders.candidates()), None)
        if noise := under("noise.", state):
            self._use_noise(RowNoise(**noise))
        reduced = under("reduced.", state)
        self._reduced = ReducedSearch.restored(self._task, self._fresh(), reduced) if reduced else None
        self._pieces.restore(under("pieces.", state))
        self._proposals.enumeration.restore(under("enumeration.", state))
        self._pool.restore(under("pool.", state), self._pieces.values_of)
