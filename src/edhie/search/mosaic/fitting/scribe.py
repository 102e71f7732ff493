"""The scribe: writes what was found as expressions for the target, fits their constants, and scores them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.data import Data, few_rows
from edhie.evaluate.losses import LOSSES
from edhie.evaluate.values import squared_errors, values
from edhie.expr import Expr, Forest
from edhie.results.description import describe, description_bits
from edhie.results.freedom import is_testable
from edhie.results.noise import CONSTANT, NoiseModel, model_of, relative_weights
from edhie.search.base import State, Task
from edhie.search.mosaic.config import MosaicConfig
from edhie.search.mosaic.fitting.constraint_repairs import allowed_or, completed, trimmed
from edhie.search.mosaic.fitting.leaders import Leaders
from edhie.search.mosaic.fitting.similar_functions import other_profiles
from edhie.search.mosaic.frames.frame import Frame
from edhie.search.mosaic.frames.links import usable_links
from edhie.search.mosaic.frames.noise_frames import RowNoise, noisy_frames, noisy_views
from edhie.search.mosaic.frames.opening_frames import opening_frames
from edhie.search.mosaic.weighing.frame_pool import Finding
from edhie.search.mosaic.weighing.plain_sums import plain_sums
from edhie.search.mosaic.writing.curves import curve_expressions
from edhie.search.mosaic.writing.exponentials import decay_expressions
from edhie.search.mosaic.writing.frame_writer import FrameWriter
from edhie.search.mosaic.writing.noisy_quotients import noisy_quotients
from edhie.search.mosaic.writing.peaks import peak_expressions
from edhie.search.mosaic.writing.quotients import rational_expressions
from edhie.search.mosaic.writing.waves import wave_expressions
from edhie.search.pieces.rewriting import (
    FROM_HERE,
    pieces_within,
    refitted,
    shortened,
    shorter,
    within_bounds,
)
from edhie.search.pieces.variation import children

Numbers = NDArray[np.float64]
EXACT = 1e-24  # of the target's squares: less is rounding
WIDE_ROWS = 5000  # that columns alone are fitted on
MANY_ROWS, SLACK = 20_000, 1.05  # of more rows a few are looked at first; what is so much worse there goes no further
NOISY_COLUMNS = (10, 28, 66)  # of polynomials: of high degree they follow the noise
NOISY_ROWS = 1000  # that columns alone are fitted on where there is noise
FIT_ROWS = 2000  # that constants are fitted again on
RATIONAL_ROWS = 400  # that quotients of polynomials are fitted on
SUM_ROWS = 1024  # that sums without coefficients are tried on
IMPROVED_ROWS = 1000  # that changed expressions are fitted on
PROFILE_ROWS = 200  # that functions are compared on
TUNED_SIZE = 40  # nodes of an expression whose pieces are tuned, at most
OPENED = 16  # frames whose columns alone are written
REFITS = 10  # a round
TRIMMED = 4  # expressions a call that are too large, of which parts are taken out
IMPROVED, IMPROVEMENTS, CHILDREN = 3, 2, 25  # expressions, how often in a row, changed copies of each
TIDY_ROUNDS = 8
NEAR = 0.1  # of the variance: an expression that leaves less is near the target without noise
PLAINER = 30  # leaders whose constants may be plain numbers
LEAST_TRUST = 1e-6  # in a row, over that in the mean row


class Scribe:
    """Writes for one task."""

    def __init__(self, task: Task, config: MosaicConfig) -> None:
        self._evaluator = evaluator = task.evaluator
        self._task = task
        self._tally = task.tally
        self._config = config
        self._library = evaluator.library
        self._rules = evaluator.rules
        self._writer = FrameWriter(self._library, evaluator.data)
        self._fit_data = few_rows(evaluator.data, FIT_ROWS)
        self._improved_data = few_rows(evaluator.data, IMPROVED_ROWS)
        self._profile_data = few_rows(evaluator.data, PROFILE_ROWS)
        self._sum_data = few_rows(evaluator.data, SUM_ROWS)
        bounds = evaluator.constants
        self._fitting = replace(FROM_HERE, lower=bounds.lower, upper=bounds.upper)
        to_error = evaluator.loss.from_sum_of_squares
        squares = EXACT * evaluator.data.squares_to_explain
        mean = (squares / evaluator.data.total_weight) ** 0.5
        known = mean if evaluator.loss.name in LOSSES else -np.inf  # of a user's loss nobody knows what is least
        exact = known if to_error is None else float(to_error(squares, evaluator.data))
        self.leaders = Leaders(self._library, self._improved_data, task.criterion)
        self._noise: tuple[Forest, NoiseModel] | None = None
        self._exact = 0.0 if np.isposinf(exact) else exact  # in the unit of a constant target any error is infinite

    @property
    def is_done(self) -> bool:
        """Whether an expression with fewer constants than there are rows leaves nothing but rounding."""
        return len(self._exact_ones()) > 0

    def _exact_ones(self) -> NDArray[np.int64]:
        """The places of expressions that leave nothing but rounding, and could have left more."""
        explored = self._evaluator.explored
        exact = np.flatnonzero(explored.errors <= self._exact)
        return exact[is_testable(explored.take(exact), self._evaluator.data)] if len(exact) else exact

    # -- what was found -------------------------------------------------------------------

    def write_columns(self, frames: Sequence[Frame]) -> None:
        """Write what frames say with their columns alone, fitted on as many rows as is quick."""
        wide = few_rows(self._evaluator.data, WIDE_ROWS)
        wide_frames = opening_frames(wide, self._library, self._config, for_columns=True)
        every = [*wide_frames, *(frame for frame in frames if any(frame.scale))]
        best = sorted(every, key=lambda frame: frame.unexplained)[:OPENED]
        best += sorted((each for each in frames if each.around), key=lambda frame: frame.unexplained)[:OPENED]
        self._score(self._short(expr for frame in best for expr in self._writer.write(frame)))
        if self._config.shapes and not self.is_done:
            speller = self._writer.speller
            self._score(self._short(wave_expressions(self._improved_data, speller)))
            self._score(self._short(decay_expressions(self._improved_data, speller)))
            self._score(self._short(curve_expressions(self._improved_data, self._library)))
            self._score(self._short(peak_expressions(self._improved_data, self._library)))
        if self._config.quotients and not self.is_done:
            links = usable_links(self._fit_data.y, self._library)
            few = few_rows(self._evaluator.data, RATIONAL_ROWS)
            self._score(self._short(rational_expressions(few, self._writer.speller, links)))

    def write_noisy(self) -> None:
        """Write what frames that know the noise say with their columns alone, and quotients of polynomials."""
        wide = few_rows(self._evaluator.data, NOISY_ROWS)
        noise = None if self._noise is None else _row_noise(*self._noise, wide)
        if noise is None or not self._writer.speller.is_free:
            return
        for most in NOISY_COLUMNS:
            frames = noisy_frames(wide, self._library, self._config, noise, most=most)
            best = sorted(frames, key=lambda frame: frame.unexplained)[:OPENED]
            self._score(self._short(expr for frame in best for expr in self._writer.write(frame)))
        if self._config.quotients:
            views = noisy_views(wide, self._library, self._config, noise)
            self._score(self._short(noisy_quotients(wide, views, self._writer.speller)))

    def write_whole_columns(self) -> None:
        """The same with whole coefficients, where no others can be written: under noise they have to be looked for."""
        if self._writer.speller.is_free:
            return
        wide = few_rows(self._evaluator.data, WIDE_ROWS)
        frames = opening_frames(wide, self._library, self._config, for_columns=True)
        self._score(self._short(expr for frame in frames for expr in self._writer.write_whole(frame, wide)))

    def _short(self, written: Iterable[Expr]) -> list[Expr]:
        return [expr for expr in written if expr.size <= self._config.longest]

    def write(self, findings: list[Finding]) -> list[Expr]:
        """Write findings, the best first; their pieces with the constants that they got in fitting."""
        written: list[tuple[Finding, Expr]] = []
        for each in sorted(findings, key=lambda each: each.left):
            written += [(each, expr) for expr in self._short(self._writer.write(each.place.frame, each.extra))]
        forest, fitted = self._score([expr for _, expr in written])
        bits = self._bits(forest)
        again = self._bits(Forest.from_exprs([expr for _, expr in fitted], self._library))
        np.minimum.at(bits, [k for k, _ in fitted], again)
        bits[~self._allowed(forest)] = np.inf
        for (finding, _), count in zip(written, bits.tolist(), strict=True):
            finding.place.bits = min(finding.place.bits, count)
        pieces = []
        for k, expr in fitted:
            for laid in written[k][0].extra:
                pieces += pieces_within(laid.piece[0], forest[k], expr)
        return pieces

    def tune(self, findings: list[Finding], largest: int = TUNED_SIZE) -> list[Expr]:
        """The pieces of findings with their constants fitted, together with what the frame has besides.

        Those that are larger, so written, than `largest` are left out: fits of long expressions take long.
        """
        written = [
            (each, expr) for each in findings for expr in self._short(self._writer.write(each.place.frame, each.extra))
        ]
        written = [each for each in written if each[1].size <= largest]
        written = written[: self._task.within_budget(len(written))]
        if not written:
            return []
        self._evaluator.spend(len(written))
        self._tally.refits += len(written)
        fitted = self._refitted(Forest.from_exprs([expr for _, expr in written], self._library), self._improved_data)
        pieces = []
        for (finding, before), after in zip(written, fitted, strict=True):
            for laid in finding.extra:
                pieces += pieces_within(laid.piece[0], before, after)
        return pieces

    def fitted_beside(self, guess: Forest, row: Numbers, frame: Frame) -> Expr:
        """Return a guess, with these values, with its constants fitted together with the columns of a frame."""
        around = replace(frame, target=frame.target - row, around=("+", guess)) if np.isfinite(row).all() else None
        written = [] if around is None or "+" not in self._library else self._short(self._writer.write(around))
        if not written or len(guess.values) == 0:
            return guess[0]
        self._tally.refits += 1
        fitted = self._refitted(Forest.from_exprs(written[:1], self._library), self._improved_data)
        return guess[0].with_constants(fitted.values[: len(guess.values)].tolist())

    def _score(self, written: list[Expr]) -> tuple[Forest, list[tuple[int, Expr]]]:
        """Score expressions, and the best of them with constants fitted again, which come back with their places."""
        forest = self._within_bounds(self._shortened(Forest.from_exprs(written, self._library)))
        errors = self._errors(forest)
        self._score_trimmed(forest)
        if not self._config.refits or len(forest.values) == 0 or errors.min(initial=np.inf) <= self._exact:
            return forest, []
        chosen = np.argsort(errors, kind="stable")[:REFITS]
        chosen = chosen[np.isfinite(errors[chosen])]
        self._tally.refits += len(chosen)
        fitted = self._refitted(forest.take(chosen), self._fit_data)
        self._errors(fitted)
        return forest, list(zip(chosen.tolist(), fitted, strict=True))

    def _allowed(self, forest: Forest) -> NDArray[np.bool_]:
        """By expression: whether it may be an equation."""
        return np.ones(len(forest), np.bool_) if self._rules is None else self._rules.allowed(forest)

    def _shortened(self, forest: Forest) -> Forest:
        """Each expression in its canonical form, where that is shorter; with constraints, where it is allowed."""
        if self._rules is None:
            return shortened(forest)
        return allowed_or(shortened(forest), completed(forest, self._rules), self._rules)

    def _score_trimmed(self, forest: Forest) -> None:
        """Score what is left of expressions that are too large, when parts are taken out."""
        if self._rules is None or self._rules.constraints.max_size is None:
            return
        too_large = np.flatnonzero(forest.sizes > self._rules.constraints.max_size)[:TRIMMED]
        self._evaluator.score(trimmed(forest.take(too_large), self._rules))

    def _refitted(self, forest: Forest, data: Data) -> Forest:
        """With constants fitted again from where they are, within the evaluator's bounds."""
        return refitted(forest, self._weighted(data), self._fitting)

    def _within_bounds(self, forest: Forest) -> Forest:
        """What was written by linear least squares, which knows no bounds, with constants within the evaluator's."""
        kept, n_fitted = within_bounds(forest, self._fit_data, self._evaluator.constants)
        self._tally.refits += n_fitted
        return kept

    def _errors(self, forest: Forest) -> Numbers:
        """Errors by the evaluator; of very many rows, by a few of them for what does not look among the best."""
        evaluator, sample = self._evaluator, self._fit_data
        to_error = evaluator.loss.from_sum_of_squares
        if evaluator.data.n_rows <= MANY_ROWS or to_error is None:
            return evaluator.score(forest).errors.copy()
        errors = np.full(len(forest), np.inf)
        allowed = np.flatnonzero(self._allowed(forest))
        executed = allowed[: self._task.within_budget(len(allowed))]
        evaluator.spend(len(executed))
        squares = squared_errors(forest.take(executed), sample)
        squares *= evaluator.data.total_weight / sample.total_weight
        errors[executed] = to_error(squares, evaluator.data)
        promising = np.flatnonzero(errors < SLACK * self._least_errors(forest.sizes))
        errors[promising] = evaluator.score(forest.take(promising)).errors
        return errors

    def _least_errors(self, sizes: NDArray[np.int64]) -> Numbers:
        """By size: the least error so far of an expression that is no larger."""
        explored = self._evaluator.explored
        order = np.argsort(explored.complexities, kind="stable")
        least = np.concatenate([[np.inf], np.minimum.accumulate(explored.errors[order])])
        found: Numbers = least[np.searchsorted(explored.complexities[order], sizes, side="right")]
        return found

    def try_sums(self, pieces: Forest) -> None:
        """Score pieces, and sums of two, that describe the data best, where coefficients cannot be written."""
        if self._writer.speller.is_free and "+" in self._library and "*" in self._library:
            return
        sums, weighed = plain_sums(pieces, self._sum_data, self._rules, self._task.criterion)
        self._tally.screened += weighed
        self._evaluator.score(self._within_bounds(self._shortened(sums)))

    # -- whole expressions ----------------------------------------------------------------

    def improve(self, donors: Forest, likely: Numbers, rng: np.random.Generator) -> None:
        """Change the expressions that describe the data best: shorter ones, other trees, other functions, fitted."""
        for _ in range(IMPROVEMENTS):
            best, bits = self._shortest_descriptions()
            if len(best) == 0:
                return
            parents = best.take(np.repeat(np.arange(len(best)), CHILDREN))
            changed = children(parents, donors, rng, likely=likely)
            others = (other for expr in best for other in other_profiles(expr, self._profile_data))
            made = [*(shorter(best.take([k])) for k in range(len(best))), Forest.from_exprs(others, self._library)]
            variants = Forest.concatenate([*made, changed])
            variants = variants.take(np.flatnonzero(variants.sizes <= self._config.longest))
            variants = self._shortened(variants).unique()
            self._score_promising(variants, float(bits[-1]))
        best = self._shortest_descriptions()[0]  # with all that is known
        self._evaluator.score(self._refitted(best, self._evaluator.data))
        model = CONSTANT if self._noise is None else self._noise[1]
        self._evaluator.score(self.leaders.plainer(model, self._fitting, PLAINER))

    def try_fitted(self, forest: Forest) -> None:
        """Fit expressions, and score those that describe the data in as few bits as the best few so far."""
        best, bits = self._shortest_descriptions()
        if len(best):
            self._score_promising(forest, float(bits[-1]))

    def _score_promising(self, variants: Forest, bits: float) -> None:
        """Fit expressions that are new on a few rows, and score those that describe them in so few bits."""
        variants = self._evaluator.unseen(variants)  # as long as the best stay the best, they give the same ones
        variants = variants.take(np.arange(self._task.within_budget(len(variants))))
        self._tally.refits += len(variants)
        fitted = self._refitted(variants, self._improved_data)
        promising = fitted.take(np.flatnonzero(self._bits(fitted) < bits))
        self._evaluator.spend(len(fitted) - len(promising))  # the others count when they are scored
        self._evaluator.score(promising)

    def _bits(self, forest: Forest) -> Numbers:
        return description_bits(forest, self._improved_data, self._task.criterion)

    def look(self) -> None:
        """Take in what was scored since the last look."""
        self.leaders.look(self._evaluator)

    def noise(self, data: Data) -> RowNoise | None:
        """Return the noise by row, as the best expression so far leaves it; None: no noise."""
        self.look()
        if len(self.leaders.forest) == 0:
            return None
        best = self.leaders.forest.take([0])
        model = describe(best, self._improved_data, self._task.criterion).models[0]
        if self._task.criterion.noise == "auto" and not _is_near(best, self._improved_data):
            model = CONSTANT  # what a poor fit leaves says little of the noise
        self._noise = best, model
        return _row_noise(best, model, data)

    def _weighted(self, data: Data) -> Data:
        """Data whose rows count by the noise that they have."""
        if self._noise is None or self._noise[1] is CONSTANT:
            return data
        noise = _row_noise(*self._noise, data)
        return data if noise is None else replace(data, weights=(noise.deviations.mean() / noise.deviations) ** 2)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what determines later refits, as arrays: leaders, and the noise as it was last looked at."""
        kept = self.leaders.state()
        if self._noise is not None:
            best, model = self._noise
            kept |= {"noise_tokens": best.tokens, "noise_offsets": best.offsets, "noise_values": best.values}
            kept |= {"noise_name": np.array(model.name), "noise_ratio": np.array(model.ratio)}
        return kept

    def restore(self, state: State) -> None:
        """Restore leaders and noise from a snapshot."""
        self.leaders.restore(state)
        if "noise_name" in state:
            parts = (state[f"noise_{name}"] for name in ("tokens", "offsets", "values"))
            best = Forest.checked(self._library, *parts)
            self._noise = best, model_of(str(state["noise_name"]), float(state["noise_ratio"]))

    def _shortest_descriptions(self) -> tuple[Forest, Numbers]:
        """The few expressions so far that describe the data in the fewest bits, and how many."""
        self.look()
        few = np.arange(min(IMPROVED, len(self.leaders.forest)))
        return self.leaders.forest.take(few), self.leaders.bits[few]

    def tidy(self) -> None:
        """Make an exact expression shorter, as long as it stays exact."""
        for _ in range(TIDY_ROUNDS):
            explored = self._evaluator.explored
            exact = self._exact_ones()
            best = exact[np.argmin(explored.complexities[exact])]
            size = explored.complexities[best]
            found = explored.take(np.array([best]))
            variants = self._shortened(Forest.concatenate([found, shorter(found)]))
            variants = variants.take(self._allowed(variants))
            self._tally.refits += len(variants)
            self._evaluator.score(self._refitted(variants, self._fit_data))
            exact = self._exact_ones()
            if explored.complexities[exact].min() >= size:
                return


def _is_near(best: Forest, data: Data) -> bool:
    """Whether an expression leaves little of the variance, so that it is near the target without noise."""
    return bool(squared_errors(best, data)[0] < NEAR * data.squares_about_mean)


def _row_noise(best: Forest, model: NoiseModel, data: Data) -> RowNoise | None:
    """The noise by row, from what an expression leaves; None where it leaves rounding.

    An expression that explains little is not near the target without noise: then the target itself is nearer.
    """
    predicted = np.asarray(values(best, data.columns)[0], np.float64)
    if not np.isfinite(predicted).all():
        return None
    weights = relative_weights(model, predicted, data)
    weights = np.ones(data.n_rows) if weights is None else np.maximum(weights, LEAST_TRUST)
    variance = float(np.average(np.square(data.y - predicted), weights=weights))
    if not variance > EXACT * float(np.mean(np.square(data.y))):
        return None
    return RowNoise(predicted if _is_near(best, data) else data.y, np.sqrt(variance / weights))
