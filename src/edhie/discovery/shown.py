"""The equations that a search came to, as they are shown, and which one of them is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from edhie.discovery.presentation import Manner, presented, tidied
from edhie.evaluate import Data, FitConfig
from edhie.evaluate.losses import Loss
from edhie.evaluate.values import values
from edhie.expr import Expr, Forest
from edhie.results import Candidate, Candidates, Front, SearchResult, front_of
from edhie.results.choice import Alternative, alternatives, shortest_description
from edhie.results.description import Criterion
from edhie.results.noise import NoiseModel
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
        return _ranked(result, train, held_out, manner, manner.loss, criterion, guesses)
    front = Front.of(presented(result.front.candidates, train, manner), negligible=result.front.negligible)
    if selection == "mdl":
        chosen = shortest_description(result.candidates, train, criterion, validation=held_out)
        assert chosen is not None
    else:
        chosen = SELECTION[selection](front if selection == "accuracy" else sparing(front, train))
    shown = [each for each in front if not _is_alike(each, chosen)]
    shown = sorted([*shown, chosen], key=lambda each: each.complexity)
    return [Shown(each) for each in shown], shown.index(chosen)


def _ranked(
    result: SearchResult, train: Data, held_out: Data | None, manner: Manner, loss: Loss, criterion: Criterion,
    guesses: Sequence[Expr],
) -> tuple[list[Shown], int | None]:  # fmt: skip
    """The alternatives that are likely or stand on the front, and the first of them chosen."""
    kept = _with_guesses(result, guesses)
    found = alternatives(
        result.candidates, train, criterion, kept=kept, held_out=held_out, may_rewrite=manner.may_rewrite,
        config=FitConfig(lower=manner.lower, upper=manner.upper),
    )  # fmt: skip
    if not found:
        return [], None
    every = [_shown(each, train, loss) for each in found]
    likely = {0, *(k for k, each in enumerate(found[:MOST_LIKELY]) if each.weight >= LEAST_WEIGHT)}
    order = sorted(_front(every, result.front.negligible) | likely)
    if manner.may_rewrite:
        exprs = tidied([found[k].expr for k in order], train, manner)
        for k, expr in zip(order, exprs, strict=True):
            every[k] = _shown(replace(found[k], expr=expr), train, loss)
    tidy = [every[k] for k in order]  # which need no longer be a front: some are shorter now
    front = _front(tidy, result.front.negligible)
    shown = [each for place, (k, each) in enumerate(zip(order, tidy, strict=True)) if place in front or k in likely]
    chosen = shown[0]
    shown.sort(key=lambda each: (each.candidate.complexity, each.candidate.error))
    return shown, shown.index(chosen)


def _front(shown: Sequence[Shown], negligible: float) -> set[int]:
    """The places of the best trade-offs between loss and complexity."""
    errors = np.array([each.candidate.error for each in shown])
    complexities = np.array([each.candidate.complexity for each in shown])
    return set(front_of(errors, complexities, negligible=negligible).tolist())


def _with_guesses(result: SearchResult, guesses: Sequence[Expr]) -> Candidates:
    """The front of the search and its leaders, and the best of each guess's structure."""
    candidates, places = result.candidates, []
    for guess in guesses:
        alike = _same_structure(candidates.forest, guess)
        finite = alike[np.isfinite(candidates.errors[alike])]
        places += finite[np.argsort(candidates.errors[finite], kind="stable")[:1]].tolist()
    parts = [result.front.candidates, candidates.take(np.array(places, np.int64))]
    parts += [] if result.leaders is None else [result.leaders.take(np.arange(min(len(result.leaders), LEADERS)))]
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
