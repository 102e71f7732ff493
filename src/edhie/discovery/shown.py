"""The equations that a search came to, as they are shown, and which one of them is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from edhie.discovery.presentation import Manner, presented, tidied
from edhie.evaluate import Data, FitConfig
from edhie.evaluate.data import few_rows
from edhie.evaluate.losses import Loss
from edhie.evaluate.values import values
from edhie.expr import Expr, Forest
from edhie.results import Candidate, Candidates, Front, SearchResult, front_of
from edhie.results.choice import FEW_ROWS, FROM_HERE, Alternative, alternatives, shortest_description
from edhie.results.description import Criterion, describe
from edhie.results.noise import NoiseModel
from edhie.results.refits import refitted
from edhie.results.selection import SELECTION, sparing

LEAST_WEIGHT = 0.01  # an alternative with less is shown only if no shorter one is as good
LEADERS = 40  # of the search that are looked at again
MOST_LIKELY = 5  # alternatives that are shown for their weight


@dataclass(frozen=True, eq=False)
class Shown:
    """An equation that is shown."""

    candidate: Candidate
    model: NoiseModel | None = None
    weight: float | None = None


def shown_equations(
    result: SearchResult,
    train: Data,
    held_out: Data | None,
    manner: Manner,
    *,
    selection: str,
    criterion: Criterion,
    guesses: Sequence[Expr] = (),
) -> tuple[list[Shown], int | None]:
    """Return the equations to show, from the least complex on, and the place of the chosen one; None: there is none."""
    if len(result.front) == 0:
        return [], None
    if selection == "mdl" and manner.may_polish and manner.loss is not None:
        ranked, place = _ranked(result, train, held_out, manner, manner.loss, criterion, guesses)
        if ranked:  # not where all have as many constants as there are rows
            return ranked, place
    front = Front.of(presented(result.front.candidates, train, manner), negligible=result.front.negligible)
    if selection == "mdl":
        chosen = shortest_description(result.candidates, train, criterion, validation=held_out)
        assert chosen is not None
    else:
        chosen = SELECTION[selection](front if selection == "accuracy" else sparing(front, train))
    shown = [each for each in front if not _is_alike(each, chosen)]
    for guess in _of_guesses(result, train, criterion, guesses):
        best = presented(guess, train, manner)[int(np.argmin(guess.errors))]
        shown += [] if any(_is_alike(each, best) for each in (*shown, chosen)) else [best]
    shown = sorted([*shown, chosen], key=lambda each: each.complexity)
    return [Shown(each) for each in shown], shown.index(chosen)


def _ranked(
    result: SearchResult, train: Data, held_out: Data | None, manner: Manner, loss: Loss, criterion: Criterion,
    guesses: Sequence[Expr],
) -> tuple[list[Shown], int | None]:  # fmt: skip
    """The alternatives that are likely or stand on the front, those of guesses, and the first of them all chosen."""
    own, config = _of_guesses(result, train, criterion, guesses), FitConfig(lower=manner.lower, upper=manner.upper)
    found = alternatives(
        result.candidates, train, criterion, kept=_kept(result), given=_joined(own) if own else None,
        held_out=held_out, may_rewrite=manner.may_rewrite, config=config,
    )  # fmt: skip
    if not found:
        return [], None
    every = [_shown(each, train, loss) for each in found]
    likely = {0, *(k for k, each in enumerate(found[:MOST_LIKELY]) if each.weight >= LEAST_WEIGHT)}
    for guess in own:
        own_places = [k for k, each in enumerate(found) if each.executed_at in guess.executed_at]
        likely |= set(own_places[:1])
    order = sorted(_front(every, result.front.negligible) | likely)
    if manner.may_rewrite:
        exprs = tidied([found[k].expr for k in order], train, manner)
        for k, expr in zip(order, exprs, strict=True):
            every[k] = _shown(replace(found[k], expr=expr), train, loss)
    tidy = [every[k] for k in order]  # which need no longer be a front: some are shorter now
    front = _front(tidy, result.front.negligible)
    shown = [each for place, (k, each) in enumerate(zip(order, tidy, strict=True)) if place in front or k in likely]
    chosen = shown[0]
    told = {each.candidate.executed_at for each in shown}
    # no likely alternative: another is the same function, or rows speak against it
    missing = [guess for guess in own if told.isdisjoint(guess.executed_at.tolist())]
    shown += [_guess(guess, train, manner, loss, found[0].model, config) for guess in missing]
    shown.sort(key=lambda each: (each.candidate.complexity, each.candidate.error))
    return shown, shown.index(chosen)


def _front(shown: Sequence[Shown], negligible: float) -> set[int]:
    """The places of the best trade-offs between loss and complexity."""
    errors = np.array([each.candidate.error for each in shown])
    complexities = np.array([each.candidate.complexity for each in shown])
    return set(front_of(errors, complexities, negligible=negligible).tolist())


def _guess(starts: Candidates, train: Data, manner: Manner, loss: Loss, model: NoiseModel, config: FitConfig) -> Shown:
    """A guess by itself, fitted under the noise model from the better of its starts."""
    fit = replace(FROM_HERE, lower=config.lower, upper=config.upper)
    exprs = list(refitted(starts.forest, train, model, fit))
    exprs = tidied(exprs, train, manner) if manner.may_rewrite else exprs
    at = int(starts.executed_at[0])
    fitted = [_shown(Alternative(each, np.inf, model, at), train, loss) for each in exprs]
    return replace(min(fitted, key=lambda each: each.candidate.error), weight=None)


def _kept(result: SearchResult) -> Candidates:
    """The front of the search, and its leaders."""
    leaders = [] if result.leaders is None else [result.leaders.take(np.arange(min(len(result.leaders), LEADERS)))]
    return _joined([result.front.candidates, *leaders])


def _of_guesses(result: SearchResult, train: Data, criterion: Criterion, guesses: Sequence[Expr]) -> list[Candidates]:
    """By guess that has a value in every row: its candidates of the least error and of the shortest description."""
    candidates, found = result.candidates, []
    for guess in guesses:
        alike = _same_structure(candidates.forest, guess)
        alike = alike[np.isfinite(candidates.errors[alike])]
        if len(alike):
            bits = describe(candidates.forest.take(alike), few_rows(train, FEW_ROWS), criterion).bits
            best = {int(np.argmin(candidates.errors[alike])), int(np.argmin(bits))}
            found.append(candidates.take(alike[sorted(best)]))
    return found


def _joined(parts: Sequence[Candidates]) -> Candidates:
    names = ("errors", "complexities", "executed_at")
    return Candidates(
        Forest.concatenate([each.forest for each in parts]),
        *(np.concatenate([getattr(each, name) for each in parts]) for name in names),
    )


def _same_structure(forest: Forest, guess: Expr) -> NDArray[np.int64]:
    wanted = Forest.from_exprs([guess], forest.library).tokens
    same_size = np.flatnonzero(forest.sizes == len(wanted))
    return np.array(
        [k for k in same_size if np.array_equal(forest.tokens[forest.offsets[k] : forest.offsets[k + 1]], wanted)],
        np.int64,
    )


def _shown(each: Alternative, train: Data, loss: Loss) -> Shown:
    predicted = np.asarray(values(Forest.from_exprs([each.expr]), train.columns)[0], np.float64)
    error = loss.of_values(train.y, predicted, train.weights)
    return Shown(Candidate(each.expr, float(error), float(each.expr.size), each.executed_at), each.model, each.weight)


def _is_alike(one: Candidate, other: Candidate) -> bool:
    """Whether two candidates are as complex and as good: mostly the same in another order."""
    return one.complexity == other.complexity and bool(np.isclose(one.error, other.error, rtol=1e-6, atol=1e-300))
