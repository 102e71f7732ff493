"""Scoring of written expressions: shortened, within constraints and bounds, scored, and the best refitted.

`Leaders` are the expressions with the shortest descriptions so far, from which the equation would be chosen now.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np

from edhie.evaluate.constants.fitting import FitConfig, with_parts
from edhie.evaluate.data import Data, few_rows
from edhie.evaluate.evaluator import Evaluator
from edhie.evaluate.losses import LOSSES
from edhie.evaluate.values import squared_errors
from edhie.expr import Expr, Forest
from edhie.results.candidates import Candidates
from edhie.search.arrays import Indices, Kept, Mask, Numbers, one_of_each, read, written
from edhie.search.base import State, Task
from edhie.search.mosaic.config import Improving, MosaicConfig, Scoring
from edhie.search.mosaic.frames.noise_frames import RowNoise, is_near
from edhie.search.pieces.rewriting import FROM_HERE, completed, refitted, shortened, trimmed, within_bounds
from edhie.selection.description import Criterion, describe, description_bits, is_exact
from edhie.selection.noise import CONSTANT, NoiseModel, model_of
from edhie.selection.refitting import quickly_plain
from edhie.selection.rules import is_testable


class Leaders(Kept):
    """Expressions by description length, one of each structure."""

    KEPT = ("forest", "bits", "errors", "executed_at", "_n_seen", "_tried")

    def __init__(self, evaluator: Evaluator, data: Data, criterion: Criterion) -> None:
        """`data` are the rows on which description lengths of the expressions that `evaluator` scored are computed."""
        self._evaluator, self._data, self._criterion = evaluator, data, criterion
        self.forest = Forest.from_exprs([], evaluator.library)
        self.bits: Numbers = np.empty(0)
        self.errors: Numbers = np.empty(0)
        self.executed_at: Indices = np.empty(0, np.int64)
        self._n_seen = 0
        self._tried: set[int] = set()  # digests of expressions for which plain numbers were tried

    def update(self) -> None:
        """Update the leaders with the expressions scored since the last call."""
        explored = self._evaluator.explored
        places = np.arange(np.searchsorted(explored.ages, self._n_seen), len(explored))
        self._n_seen = explored.n_seen
        places = places[np.isfinite(explored.errors[places])]
        errors, sizes, most = explored.errors[places], explored.complexities[places], Improving.DESCRIBED
        if len(places) > 2 * most:
            few = [np.argsort(errors, kind="stable")[:most], np.lexsort((errors, sizes))[:most]]
            chosen = np.unique(np.concatenate(few))
            places, errors = places[chosen], errors[chosen]
        if len(places) == 0:
            return
        new = explored.take(places)
        below = self.bits[-1] if len(self.bits) == Improving.LEADERS else np.inf
        bits = describe(new, self._data, self._criterion, below=below).bits
        near = np.flatnonzero(bits < below)
        both, bits = Forest.concatenate([self.forest, new.take(near)]), np.concatenate([self.bits, bits[near]])
        order = np.argsort(bits, kind="stable")
        order = order[np.isfinite(bits[order])]
        kept = one_of_each(both, order)[: Improving.LEADERS]
        self.forest, self.bits = both.take(kept), bits[kept]
        self.errors = np.concatenate([self.errors, errors[near]])[kept]
        self.executed_at = np.concatenate([self.executed_at, explored.executed_at[places[near]]])[kept]

    def candidates(self) -> Candidates:
        """Return the leaders as candidates, the shortest description first."""
        complexities = np.asarray(self._evaluator.complexities(self.forest), np.float64)
        return Candidates(self.forest, self.errors, complexities, self.executed_at)

    def plainer(self, model: NoiseModel, config: FitConfig, most: int) -> Forest:
        """Return the first `most` leaders with constants rounded to plain numbers, if that shortens the description.

        Each expression is tried once.
        """
        found = [self.forest.take([])]
        for k in range(min(most, len(self.forest))):
            one = self.forest.take([k])
            parts = one.tokens.tobytes() + one.values.tobytes()
            key = int.from_bytes(hashlib.blake2b(parts, digest_size=8).digest(), "little")
            if key in self._tried or len(one.values) == 0:
                continue
            self._tried.add(key)
            for plain, least_gain in quickly_plain(one, self._data, model, config):
                length = float(describe(plain, self._data, self._criterion, (model,)).bits[0])
                if length < self.bits[k] - least_gain:
                    found.append(plain)
        return Forest.concatenate(found)


class Scorer:
    """Scores the expressions of one task, and keeps the leaders."""

    def __init__(self, task: Task, config: MosaicConfig) -> None:
        evaluator = task.evaluator
        self.task, self.config, self.evaluator = task, config, evaluator
        self.library, self._rules = evaluator.library, evaluator.rules
        self.fit_data = few_rows(evaluator.data, Scoring.FIT_ROWS)
        self.few_data = few_rows(evaluator.data, Scoring.IMPROVED_ROWS)
        self.similar_data = few_rows(evaluator.data, Improving.SIMILAR_ROWS)
        self.fitting = replace(FROM_HERE, lower=evaluator.constants.lower, upper=evaluator.constants.upper)
        self.leaders = Leaders(evaluator, self.few_data, task.criterion)
        self.noise: tuple[Forest, NoiseModel] | None = None
        """The best expression when the noise was last estimated, and its noise model."""
        to_error = evaluator.loss.from_sum_of_squares
        squares = Scoring.EXACT * evaluator.data.squares_to_explain
        mean = (squares / evaluator.data.total_weight) ** 0.5
        known = mean if evaluator.loss.name in LOSSES else -np.inf  # the minimum of a user's loss is not known
        exact = known if to_error is None else float(to_error(squares, evaluator.data))
        self._exact = 0.0 if np.isposinf(exact) else exact  # relative to a constant target, any error is infinite

    @property
    def is_done(self) -> bool:
        """True if there is an exact expression, as in `exact_ones`."""
        return len(self.exact_ones()) > 0

    def exact_ones(self) -> Indices:
        """Return the indices of expressions that are exact up to rounding and have fewer constants than rows."""
        explored = self.evaluator.explored
        found = np.flatnonzero(explored.errors <= self._exact)
        if len(found) == 0:
            return found
        found = found[is_testable(explored.take(found), self.evaluator.data)]
        return found[is_exact(explored.forest.take(found), self.evaluator.data)]

    # -- scoring --------------------------------------------------------------------------

    def score(self, written: list[Expr]) -> tuple[Forest, list[tuple[int, Expr]]]:
        """Score expressions, and the best of them again with refitted constants.

        Return all as scored, and (index, refitted expression) of the best.
        """
        forest = self.within_bounds(self.shortened(Forest.from_exprs(written, self.library)))
        errors = self.errors(forest)
        if self._rules is not None and self._rules.constraints.max_size is not None:
            too_large = np.flatnonzero(forest.sizes > self._rules.constraints.max_size)[: Scoring.TRIMMED]
            self.evaluator.score(trimmed(forest.take(too_large), self._rules))
        if not self.config.refits or len(forest.values) == 0 or errors.min(initial=np.inf) <= self._exact:
            return forest, []
        chosen = np.argsort(errors, kind="stable")[: Scoring.REFITS]
        chosen = chosen[np.isfinite(errors[chosen])]
        self.task.tally.refits += len(chosen)
        fitted = self.refitted(forest.take(chosen), self.fit_data)
        self.errors(fitted)
        return forest, list(zip(chosen.tolist(), fitted, strict=True))

    def score_promising(self, variants: Forest) -> None:
        """Fit new expressions on a few rows; score those with a shorter description than the last of the best few."""
        n_best = len(self.shortest_descriptions())
        if n_best == 0:
            return
        bits = self.leaders.bits[n_best - 1]
        variants = self.evaluator.unseen(variants)  # the same leaders give many of the same variants
        variants = variants[: self.task.within_budget(len(variants))]
        self.task.tally.refits += len(variants)
        fitted = self.refitted(variants, self.few_data)
        promising = fitted.take(self.bits(fitted) < bits)
        self.evaluator.spend(len(fitted) - len(promising))  # the promising are counted when they are scored
        self.evaluator.score(promising)

    def errors(self, forest: Forest) -> Numbers:
        """Return errors; with many rows, estimates from a sample for expressions well behind the Pareto front."""
        evaluator, sample = self.evaluator, self.fit_data
        to_error = evaluator.loss.from_sum_of_squares
        if evaluator.data.n_rows <= Scoring.MANY_ROWS or to_error is None:
            return evaluator.score(forest).errors.copy()
        errors = np.full(len(forest), np.inf)
        allowed = np.flatnonzero(self.allowed(forest))
        executed = allowed[: self.task.within_budget(len(allowed))]
        evaluator.spend(len(executed))
        squares = squared_errors(forest.take(executed), sample)
        squares *= evaluator.data.total_weight / sample.total_weight
        errors[executed] = to_error(squares, evaluator.data)
        explored = evaluator.explored
        order = np.argsort(explored.complexities, kind="stable")
        least = np.concatenate([[np.inf], np.minimum.accumulate(explored.errors[order])])
        rivals = least[np.searchsorted(explored.complexities[order], forest.sizes, side="right")]  # no larger
        promising = np.flatnonzero(errors < Scoring.SLACK * rivals)
        errors[promising] = evaluator.score(forest.take(promising)).errors
        return errors

    def bits(self, forest: Forest) -> Numbers:
        """Return lower bounds of the description lengths on a few rows."""
        return description_bits(forest, self.few_data, self.task.criterion, below=-np.inf)

    # -- forms and constants --------------------------------------------------------------

    def allowed(self, forest: Forest) -> Mask:
        """Return, by expression, whether the constraints allow it as an equation."""
        return np.ones(len(forest), np.bool_) if self._rules is None else self._rules.allowed(forest)

    def shortened(self, forest: Forest) -> Forest:
        """Return each expression in its canonical form, if that is shorter and allowed."""
        short = shortened(forest)
        others = np.flatnonzero(~self.allowed(short))
        if self._rules is None or len(others) == 0:
            return short
        return with_parts(short, others, completed(forest.take(others), self._rules))

    def within_bounds(self, forest: Forest) -> Forest:
        """Refit expressions with constants outside the bounds, as linear least squares may give."""
        kept, n_fitted = within_bounds(forest, self.fit_data, self.evaluator.constants)
        self.task.tally.refits += n_fitted
        return kept

    def refitted(self, forest: Forest, data: Data) -> Forest:
        """Return expressions with constants refitted within the bounds, rows weighted by their noise."""
        return refitted(forest, self.weighted(data), self.fitting)

    def weighted(self, data: Data) -> Data:
        """Return data with rows weighted by their noise, if the noise model has one that differs between rows."""
        if self.noise is not None and self.noise[1] is not CONSTANT:
            noise = RowNoise.estimated_by(*self.noise, data)
            if noise is not None:
                return replace(data, weights=(noise.deviations.mean() / noise.deviations) ** 2)
        return data

    # -- the best so far ------------------------------------------------------------------

    def shortest_descriptions(self) -> Forest:
        """Return the few expressions with the shortest descriptions so far."""
        self.leaders.update()
        return self.leaders.forest[: Improving.EXPRESSIONS]

    def estimate_noise(self, data: Data) -> RowNoise | None:
        """Estimate the noise of each row from the best expression so far; later refits use it.

        None if there is no expression yet, or its residuals are not finite or only rounding.
        """
        self.leaders.update()
        if len(self.leaders.forest) == 0:
            return None
        best = self.leaders.forest.take([0])
        model = describe(best, self.few_data, self.task.criterion).models[0]
        if self.task.criterion.noise == "auto" and not is_near(best, self.few_data):
            model = CONSTANT  # the residuals of a poor fit say little about the noise
        self.noise = best, model
        return RowNoise.estimated_by(best, model, data)

    def state(self) -> State:
        """Return the leaders and the last estimate of the noise as arrays."""
        best, model = self.noise or (None, None)
        noise = None if model is None else {"best": best, "name": model.name, "ratio": model.ratio}
        return written({"leaders": self.leaders, "noise": noise})

    def restore(self, state: State) -> None:
        """Restore leaders and noise from a snapshot."""
        self.leaders = read(self.leaders, "leaders", state)
        if "noise.name" in state:
            model = model_of(str(state["noise.name"]), float(state["noise.ratio"]))
            self.noise = read(self.leaders.forest, "noise.best", state), model
