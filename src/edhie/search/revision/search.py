"""`Revise`: search for expressions near a formula, by edits of trees and in the latent space.

The formula is fitted thoroughly (`formula.py`). Then every step edits the expressions with the shortest descriptions so
far, edits included (`edits.py`, `revisions.py`), and decodes neighbours in the latent space of the generator. New
expressions are fitted and scored, and the distances of the best from the formula are measured.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from edhie.errors import SearchError
from edhie.evaluate.constants.fitting import fit_constants, with_parts
from edhie.evaluate.counting import key_pairs
from edhie.evaluate.numbers import check_whole
from edhie.evaluate.values import squared_errors
from edhie.events import RevisedFormula
from edhie.expr import Expr, Forest
from edhie.expr.canonical import canonical
from edhie.expr.difference import Matching, shape_of
from edhie.expr.difference.matching import lower_bound
from edhie.search.arrays import Indices, Kept, Numbers, unfitted, with_missing
from edhie.search.base import Strategy, Task
from edhie.search.pieces.generator_source import GeneratorSource
from edhie.search.revision.edits import Edits, with_scales
from edhie.search.revision.formula import formula_over, neighbours_by, refitted, thorough
from edhie.search.revision.revisions import Revisions

MEASURED = 32  # expressions of a step with the lowest errors, whose distances are computed
PROMISING, TO_THE_END = 150, 100  # expressions of a step that are fitted further; iterations of these fits
FURTHEST = 30  # largest distance that is kept
MANY = 10  # constants of a formula above which fits start from its own values only
REMEMBERED = 100_000  # distances of subtrees that are cached
PATIENCE = 30  # steps without a new expression after which the search ends
NEW = (1.0, 0.0)  # starting values of new constants


@dataclass(frozen=True)
class ReviseConfig:
    """The formula to revise, and settings of the search around it."""

    formula: str = ""
    """The formula to revise, over the variables of the data; c for a constant that is not known."""
    radii: tuple[float, ...] = (1.0, 1.5, 2.0, 3.0, 4.0)
    """Radii around a code at which neighbours are decoded, in its standard deviations, used in turn."""
    neighbours: int = 100
    """Codes decoded in a step; 0 for edits of trees alone."""
    edits: int = 300
    """Edited trees scored in a step."""
    revisions: int = 200
    """Best expressions that are kept and revised further."""
    growth: int = 12
    """Maximum number of symbols by which a formula may grow."""

    def __post_init__(self) -> None:
        if not isinstance(self.formula, str):
            raise SearchError(f"formula is a text such as 'c*x0 + c', not {self.formula!r}")
        for name, least in (("neighbours", 0), ("edits", 1), ("revisions", 1), ("growth", 1)):
            check_whole(name, getattr(self, name), least)
        if not self.radii or not all(0 < radius < math.inf for radius in self.radii):
            raise SearchError(f"radii are positive numbers, at least one; they are {self.radii!r}")


class Revise(Kept, Strategy):
    """Best-first search: expressions with the shortest descriptions, edits included, are revised further."""

    name: ClassVar[str] = "revise"
    KEPT = ("_known", "_waiting", "_seen", "_formula", "_step", "_edited", "_around", "_since_new")

    def __init__(self, config: ReviseConfig | None = None) -> None:
        self.config: ReviseConfig = config or ReviseConfig()
        self._step = 0

    def begin(self, task: Task) -> None:
        """Read the formula."""
        library = task.evaluator.library
        if not self.config.formula.strip():
            raise SearchError("the strategy 'revise' needs a formula: Revise(ReviseConfig('c*x0 + c'))")
        self._task, self._library = task, library
        self._formula = formula_over(self.config.formula, library)
        self._shape, self._matching = shape_of(self._formula), Matching()
        self._folded = int(constants_only(Forest.from_exprs([self._formula], library))[0])
        self._edits = Edits(library, GeneratorSource(task.generator, library).frequencies)
        choices = len(library) * self._formula.size  # of an edit: which symbol it is, and where
        self._known = Revisions.empty(library, task.evaluator.data.n_rows, math.log2(max(choices, 2)))
        self._waiting = Forest.from_exprs([], library)
        self._seen = np.zeros(0, np.uint64)
        self._step = self._edited = self._around = self._since_new = 0

    @property
    def fitted(self) -> Expr | None:
        """The formula with its constants fitted; None before the first step."""
        return self._formula if self._step > 0 else None

    def revisions(self) -> tuple[RevisedFormula, ...]:
        """Return the Pareto front of distance and error so far."""
        return self._known.listed() if self._step > 0 else ()

    def step(self, rng: np.random.Generator) -> bool:
        """Score the formula itself in the first step; then some edits, and some neighbours in the latent space."""
        before = self._task.evaluator.counts.executed
        if self._step == 0:
            self._score_formula()
        else:
            self._score(self._some_edits(rng))
            self._score(self._some_neighbours(rng))
        self._step += 1
        self._since_new = 0 if self._task.evaluator.counts.executed > before else self._since_new + 1
        is_exact = self._known.errors.min(initial=math.inf) <= self._task.evaluator.negligible
        return not is_exact and self._since_new < PATIENCE

    # -- new expressions ------------------------------------------------------------------

    def _some_edits(self, rng: np.random.Generator) -> Forest:
        """Return the edits of a step, of the most promising expressions."""
        while len(self._waiting) < self.config.edits:
            k = self._known.next(by_bits=self._edited % 2 == 1)
            if k is None:
                break
            self._edited += 1
            expr = self._known.forest[k]
            edited = self._edits.stages[int(self._known.stages[k])](expr)
            edited = edited.take(self._unseen(edited))
            self._known = self._known.tried(k)
            self._waiting = Forest.concatenate([self._waiting, edited.take(rng.permutation(len(edited)))])
        count = self.config.edits
        chosen, self._waiting = self._waiting[:count], self._waiting[count:]
        return chosen

    def _some_neighbours(self, rng: np.random.Generator) -> Forest:
        """Return neighbours of the formula at growing radii, in later steps of each member of the front."""
        if self.config.neighbours == 0:
            return Forest.from_exprs([], self._library)
        radii, front, count = self.config.radii, self._known.front, self._around
        centre, radius = self._formula, radii[count % len(radii)]
        if count >= len(radii) and len(front):
            turn, k = divmod(count - len(radii), len(front))
            centre, radius = self._known.forest[int(front[k])], radii[turn % len(radii)]
        self._around += 1
        found, invalid = neighbours_by(self._task.generator, centre, self.config.neighbours, radius, rng)
        self._task.tally.undecodable += invalid
        return found

    # -- fitting and scoring --------------------------------------------------------------

    def _score_formula(self) -> None:
        """Fit the formula thoroughly, score it, and score it with constants inserted."""
        evaluator = self._task.evaluator
        fitted, _ = refitted(self._formula, evaluator.data, thorough(evaluator.constants))
        self._task.tally.refits += len(fitted.constants) > 0
        self._formula = fitted
        forest = Forest.from_exprs([fitted], self._library)
        self._seen = _keys(forest)
        errors = evaluator.score(forest).errors
        self._known = self._known.with_more(forest, errors, np.zeros(1, np.int64))
        self._score(Forest.from_exprs(with_scales(fitted), self._library))

    def _score(self, forest: Forest) -> None:
        """Fit and score the new expressions, and keep the good ones."""
        evaluator = self._task.evaluator
        fresh = self._unseen(forest)
        chosen = forest.take(fresh[: self._task.within_budget(len(fresh))])
        if len(chosen) == 0:
            return
        self._seen = np.union1d(self._seen, _keys(chosen))
        fitted = self._fitted(self._started(chosen)) if len(chosen.values) else chosen
        scores = evaluator.score(fitted)
        self._remember(fitted, np.where(scores.is_scored, scores.errors, np.inf))

    def _started(self, forest: Forest) -> Forest:
        """Return expressions with starting values for new constants: 1, neutral as a factor, or 0, as a summand."""
        tried = [with_missing(forest, new) for new in NEW]
        left = [squared_errors(each, self._task.evaluator.data) for each in tried]
        return with_parts(tried[0], (is_better := np.flatnonzero(left[1] < left[0])), tried[1].take(is_better))

    def _fitted(self, forest: Forest) -> Forest:
        """Return expressions with constants fitted, the most promising with more iterations."""
        evaluator = self._task.evaluator
        config = evaluator.constants
        if len(self._formula.constants) > MANY:  # random starts do not find so many constants
            config = replace(config, points=0)
        done = fit_constants(forest, evaluator.data, config=config)
        best = np.argsort(done.squared_errors, kind="stable")[:PROMISING]
        best = best[np.isfinite(done.squared_errors[best])]
        config = replace(evaluator.constants, points=0, starts=1, rounds=1, iterations=TO_THE_END, rows=None)
        again = fit_constants(done.forest.take(best), evaluator.data, config=config)
        self._task.tally.refits += len(best)
        is_better = again.squared_errors < done.squared_errors[best]
        return with_parts(done.forest, best[is_better], again.forest.take(is_better))

    def _remember(self, forest: Forest, errors: Numbers) -> None:
        best = np.argsort(errors, kind="stable")[:MEASURED]
        best = best[np.isfinite(errors[best])]
        if len(self._matching) > REMEMBERED:
            self._matching = Matching()
        shapes = [shape_of(forest[int(k)]) for k in best]
        nearest = np.array([lower_bound(self._shape, each) for each in shapes], np.int64)
        would_stay = self._known.would_stay(errors[best], nearest, self.config.revisions)
        hopeful = np.flatnonzero(would_stay & (nearest <= FURTHEST))
        distances = [self._matching.distance(self._shape, shapes[k]) for k in hopeful]
        chosen = best[hopeful]
        known = self._known.with_more(forest.take(chosen), errors[chosen], np.array(distances, np.int64))
        self._known = known.best(self.config.revisions)

    def _unseen(self, forest: Forest) -> Indices:
        """Return the indices of the shortest form of each structure that was not scored yet, in order."""
        is_wanted = forest.sizes <= self._formula.size + self.config.growth
        wanted = np.flatnonzero(is_wanted & (constants_only(forest) <= self._folded))
        wanted = wanted[np.argsort(forest.sizes[wanted], kind="stable")]
        keys = _keys(forest.take(wanted))
        _, first = np.unique(keys, return_index=True)
        first = first[np.argsort(wanted[first])]
        return wanted[first[~np.isin(keys[first], self._seen)]]


def constants_only(forest: Forest) -> Indices:
    """Return, by expression, the number of operators with only constants as operands, each of which is redundant."""
    is_constant = np.array([symbol.kind in ("constant", "literal", "number") for symbol in forest.library.symbols])
    is_leaf = np.append(is_constant[forest.tokens], True)  # the last entry stands for a missing operand
    is_over = (forest.left >= 0) & is_leaf[forest.left] & is_leaf[forest.right]
    return np.bincount(forest.owners[is_over], minlength=len(forest))


def _keys(forest: Forest) -> NDArray[np.uint64]:
    """Return a 64-bit key of the canonical form of each structure; the values of constants do not matter."""
    free = forest if forest.library.has_numbers else unfitted(forest)  # numbers are not free
    return np.asarray(key_pairs(canonical(free))[:, 0])
