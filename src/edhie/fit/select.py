"""Select the equations to show, and the one to recommend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from edhie.evaluate.data import few_rows
from edhie.evaluate.losses import loss_named
from edhie.expr import Expr, Forest
from edhie.expr.canonical import canonical_expr
from edhie.fit.all_rows import fitted_to_all_rows
from edhie.fit.equation import Equation
from edhie.fit.present import Presenter
from edhie.fit.problem import Problem
from edhie.fit.settings import Settings
from edhie.results import Candidate, Candidates, Front, SearchResult, front_of
from edhie.selection.choice import FEW_ROWS, FROM_HERE, Alternative, alternatives, shortest_description
from edhie.selection.description import Criterion, describe
from edhie.selection.noise import CONSTANT, NoiseModel
from edhie.selection.refitting import refitted
from edhie.selection.rules import SELECTION, most_predictive, scores, without_interpolation

BY_DESCRIPTION = ("mdl", "accuracy")  # selections for which equations are compared by description length
LEAST_WEIGHT = 0.03  # an alternative with less is shown only if it is on the front
LEADERS = 40  # leaders of the search that are compared again
MOST_LIKELY = 8  # alternatives that are shown for their weight
SAME_VALUES = 1e-4  # share of the residuals by which the values of one function differ, written in two ways


def select_equations(
    result: SearchResult, problem: Problem, settings: Settings, criterion: Criterion, guesses: Sequence[Expr] = ()
) -> tuple[tuple[Equation, ...], int | None]:
    """Return the equations to show, in order of complexity, and the position of the chosen one.

    With the selections mdl and accuracy, candidates are compared by description length, with constants at the optimum
    of a noise model; likely ones and those on the Pareto front are shown. mdl chooses the shortest description, and
    accuracy by the errors on unseen rows. Otherwise the front of the search is polished, and a rule chooses one of its
    members. The user's guesses are always shown. On a large table, all are fitted to all rows. The position is None if
    there is no equation.
    """
    if len(result.front) == 0:
        return (), None
    selector = _Selector(result, problem, settings, criterion, guesses)
    found: list[Equation] = []
    if settings.selection in BY_DESCRIPTION and selector.presenter.may_polish:
        found = selector.by_description()
        if found and settings.selection == "accuracy":
            best = position_of_most_predictive(found, problem, settings, negligible=result.front.negligible)
            found = [found[best], *found[:best], *found[best + 1 :]]
    found = found or selector.by_rule()  # also if all have as many constants as there are rows
    if problem.whole is not None:
        found = fitted_to_all_rows(found, problem, settings)
    shown = sorted(found, key=lambda each: (each.complexity, each.loss))
    sizes = np.array([each.complexity for each in shown])
    drops = scores(np.array([each.loss for each in shown]), sizes, result.front.negligible)
    equations = tuple(replace(each, score=score) for each, score in zip(shown, drops.tolist(), strict=True))
    return equations, shown.index(found[0])


def position_of_most_predictive(
    equations: Sequence[Equation], problem: Problem, settings: Settings, *, negligible: float, refits: bool = True
) -> int:
    """Return the position of the equation that predicts unseen rows best; see `most_predictive`.

    If it `refits`, constants are fitted again without each fold, under the noise model that all equations have.
    """
    model = equations[0].model or CONSTANT
    config = replace(FROM_HERE, lower=settings.constants.lower, upper=settings.constants.upper)
    exprs = [each.expr for each in equations]
    return most_predictive(
        Forest.from_exprs(exprs),
        np.array([each.complexity for each in equations]),
        problem.train,
        loss_named(settings.loss),
        held_out=problem.validation,
        refit=(lambda forest, data: refitted(forest, data, model, config)) if refits else None,
        negligible=negligible,
    )


@dataclass(frozen=True, eq=False)
class _Selector:
    """Selection among the candidates of one search; lists of equations have the chosen one first."""

    result: SearchResult
    problem: Problem
    settings: Settings
    criterion: Criterion
    guesses: Sequence[Expr]

    @cached_property
    def presenter(self) -> Presenter:
        return Presenter(self.settings, self.problem.train, self.result.candidates, self.criterion)

    def by_rule(self) -> list[Equation]:
        """Select from the polished front, by a rule or by the description length without refitting."""
        front = self.result.front
        front = Front.of(self.presenter.present(front.candidates), negligible=front.negligible)
        if self.settings.selection == "mdl":
            held_out = self.problem.validation
            chosen = shortest_description(
                self.result.candidates, self.problem.train, self.criterion, validation=held_out
            )
            assert chosen is not None
            chosen = self.presenter.present(Candidates.of(chosen))[0]
        elif self.settings.selection == "accuracy":
            members = without_interpolation(front, self.problem.train)
            equations, negligible = [self._equation(each) for each in members], front.negligible
            at = position_of_most_predictive(
                equations, self.problem, self.settings, negligible=negligible, refits=False
            )
            chosen = members[at]
        else:
            chosen = SELECTION[self.settings.selection](without_interpolation(front, self.problem.train))
        found = [chosen, *(each for each in front if not _is_alike(each, chosen))]
        for guess in self._fitted_guesses:
            best = self.presenter.present(guess)[int(np.argmin(guess.errors))]
            found += [] if any(_is_alike(each, best) for each in found) else [best]
        return [self._equation(each) for each in found]

    def by_description(self) -> list[Equation]:
        """Select alternatives that are likely, guesses, and simpler ones; none if no length is finite.

        A simpler one is shown if all that are simpler still have longer descriptions. What is more complex than the
        chosen one, and not likely, describes the data worse.
        """
        guesses = self._fitted_guesses
        listed = alternatives(
            self.result.candidates, self.problem.train, self.criterion, kept=self._kept(),
            given=Candidates.concatenate(guesses) if guesses else None, held_out=self.problem.validation,
            rewrite=self.presenter.rewrite, config=self.settings.constants,
        )  # fmt: skip
        if not listed:
            return []
        every = [self._alternative(each) for each in listed]
        likely = {0, *(k for k, each in enumerate(listed[:MOST_LIKELY]) if each.weight >= LEAST_WEIGHT)}
        for guess in guesses:
            own = [k for k, each in enumerate(listed) if each.executed_at in guess.executed_at]
            likely |= set(own[:1])
        bits = [each.bits for each in listed]
        order = sorted(_simplest(bits, every) | likely)
        exprs = self.presenter.tidy([listed[k].expr for k in order], self.presenter.finisher(listed[0].model))
        tidy = [self._alternative(replace(listed[k], expr=expr)) for k, expr in zip(order, exprs, strict=True)]
        front = _simplest([bits[k] for k in order], tidy)  # some are simpler now, so others may no longer be on it
        found = _merged(
            [each for place, (k, each) in enumerate(zip(order, tidy, strict=True)) if place in front or k in likely]
        )
        shown = {each.candidate.executed_at for each in found}
        # a guess may be missing: as the same function as another equation, or as one that the rows cannot resolve
        missing = [guess for guess in guesses if shown.isdisjoint(guess.executed_at.tolist())]
        fitted = [self._guess(guess, listed[0].model) for guess in missing]
        return [*found, *(each for each in fitted if not any(_is_same(each, other) for other in found))]

    def _guess(self, starts: Candidates, model: NoiseModel) -> Equation:
        """Return a guess fitted under the noise model from the better of its starts."""
        config = replace(FROM_HERE, lower=self.settings.constants.lower, upper=self.settings.constants.upper)
        fits = list(refitted(starts.forest, self.problem.train, model, config))
        exprs = self.presenter.tidy(fits, self.presenter.finisher(model))
        at = int(starts.executed_at[0])
        fitted = [self._alternative(Alternative(each, np.inf, model, at)) for each in exprs]
        return replace(min(fitted, key=lambda each: each.loss), weight=None)

    def _kept(self) -> Candidates:
        """Return the front of the search and its leaders."""
        leaders = self.result.leaders
        first = [] if leaders is None else [leaders.take(np.arange(min(len(leaders), LEADERS)))]
        return Candidates.concatenate([self.result.front.candidates, *first])

    @cached_property
    def _fitted_guesses(self) -> list[Candidates]:
        """For each guess that has a value in every row, its candidates of least error and of shortest description."""
        candidates, found = self.result.candidates, []
        forest, few = candidates.forest, few_rows(self.problem.train, FEW_ROWS)
        for guess in self.guesses:
            tokens = Forest.from_exprs([guess], forest.library).tokens
            alike = np.flatnonzero(np.isfinite(candidates.errors) & (forest.sizes == len(tokens)))
            rows = forest.tokens[forest.offsets[alike, np.newaxis] + np.arange(len(tokens))]
            alike = alike[(rows == tokens).all(axis=1)]
            if len(alike):
                bits = describe(forest.take(alike), few, self.criterion).bits
                best = {int(np.argmin(candidates.errors[alike])), int(np.argmin(bits))}
                found.append(candidates.take(alike[sorted(best)]))
        return found

    def _alternative(self, each: Alternative) -> Equation:
        error = float(self.presenter.errors(Forest.from_exprs([each.expr]))[0])
        candidate = Candidate(each.expr, error, self.presenter.complexity(each.expr), each.executed_at)
        return replace(self._equation(candidate), model=each.model, weight=each.weight)

    def _equation(self, candidate: Candidate) -> Equation:
        return Equation.of(candidate, self.problem, self.settings)


def _simplest(bits: Sequence[float], equations: Sequence[Equation]) -> set[int]:
    """Return the positions of equations whose descriptions are shorter than those of all simpler ones."""
    return set(front_of(np.asarray(bits) - min(bits) + 1.0, [each.complexity for each in equations]).tolist())


def _merged(equations: Sequence[Equation]) -> list[Equation]:
    """Return equations without those that have the form or the values of an earlier one, now that they are finished.

    A form weighs as much as its shortest description: the weights of others go to all equations alike.
    """
    found: dict[Expr, Equation] = {}
    for each in equations:
        if not any(_is_same(each, other) for other in found.values()):
            found.setdefault(canonical_expr(each.expr.free()), each)
    kept = list(found.values())
    left = 1.0 - sum((each.weight or 0.0) for each in equations) + sum((each.weight or 0.0) for each in kept)
    return [replace(each, weight=(each.weight or 0.0) / left) for each in kept]


def _is_same(one: Equation, other: Equation) -> bool:
    """Return whether values on the rows differ by much less than residuals."""
    y, first, second = one.train.y, one.predict(one.train.columns), other.predict(one.train.columns)
    return bool(np.linalg.norm(first - second) <= SAME_VALUES * np.linalg.norm(y - second))


def _is_alike(one: Candidate, other: Candidate) -> bool:
    """Return whether two candidates have the same complexity and loss: mostly one expression in another order."""
    return one.complexity == other.complexity and bool(np.isclose(one.error, other.error, rtol=1e-6, atol=1e-300))
