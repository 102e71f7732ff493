"""Progress of a search: the history of its best error, and events for listeners."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from edhie.evaluate.data import few_rows
from edhie.evaluate.evaluator import Evaluator
from edhie.events import Event, Finished, Improved, Progressed, Started
from edhie.results import Candidate, Candidates, Front, History
from edhie.search.arrays import Indices
from edhie.search.base import Budget, Strategy, Task
from edhie.selection.description import describe

PROGRESS_SECONDS = 0.2  # between two reports of progress
ROWS = 500  # on which expressions are compared for reports
Listener = Callable[[Event], None]


class Watch:
    """Follows the evaluator of a search, keeps its history, and notifies a listener."""

    def __init__(self, task: Task, strategy: Strategy, listener: Listener | None) -> None:
        self._task, self._strategy, self._listener = task, strategy, listener
        self.history = History()
        self._seen = 0  # number of explored expressions that were taken into account
        self._front = Front(_explored(task.evaluator, task.evaluator.explored.n_seen))
        self._chosen: Candidate | None = None  # the best of the front, unless the strategy reports one
        self._told_at = -np.inf
        self._began = (0, 0.0)  # executed, seconds: at the start, or when resumed

    def start(self, seed: int, seconds: float, history: History) -> None:
        """Start with a history, which is empty or that of a checkpoint."""
        evaluator, budget = self._task.evaluator, self._task.budget
        self.history = history
        self._began = evaluator.counts.executed, seconds
        if len(history):  # it covers all expressions that were explored before
            self._seen = evaluator.explored.n_seen
            self._front = Front.of(_explored(evaluator, 0), negligible=evaluator.negligible)
            self._chosen = self._shortest(self._front)
        limits = budget.evaluations, budget.seconds, budget.target_error
        self._tell(Started(self._strategy.name, seed, *limits, evaluator.counts.executed))

    def update(self, seconds: float) -> None:
        """Add every improvement of the best error to the history; report the last one, and progress."""
        evaluator = self._task.evaluator
        new = _explored(evaluator, self._seen)
        self._seen = evaluator.explored.n_seen
        before = np.minimum.accumulate(np.append(self.history.best, new.errors))[:-1]
        better = np.flatnonzero(new.errors < before)
        if len(better):
            screened = self._task.tally.screened
            executed = np.maximum.accumulate(new.executed_at[better])
            self.history = self.history.extended(executed, new.errors[better], screened=screened, seconds=seconds)
        if self._listener is None:
            return
        both = Candidates.concatenate([self._front.candidates, new])
        front = Front.of(both, negligible=evaluator.negligible)
        if self._strategy.best_now is None and not np.array_equal(front.errors, self._front.errors):
            self._chosen = self._shortest(front)
        self._front = front
        if len(better):
            best = new[int(better[-1])]
            chosen = self._strategy.best_now or self._chosen
            self._tell(Improved(best.expr, best.error, best.complexity, best.executed_at, seconds, chosen))
        if seconds - self._told_at >= PROGRESS_SECONDS:
            self._told_at = seconds
            self._tell(self._progress(seconds))

    def finish(self, reason: str, seconds: float, idle: int = 0) -> None:
        """Report the final progress, and why the search ended."""
        self._tell(self._progress(seconds))
        self._tell(Finished(reason, self._task.evaluator.counts.executed, seconds, idle))

    def _tell(self, event: Event) -> None:
        if self._listener is not None:
            self._listener(event)

    def _progress(self, seconds: float) -> Progressed:
        executed, tally = self._task.evaluator.counts.executed, self._task.tally
        spent = seconds - self._began[1]
        rate = (executed - self._began[0]) / spent if spent > 0 else 0.0
        fraction, left = _used(self._task.budget, executed, seconds, rate)
        return Progressed(
            executed, tally.screened, tally.refits, seconds, self.history.best, self._front, rate, fraction, left,
            self._strategy.best_now or self._chosen, self._strategy.revisions(),
        )  # fmt: skip

    def _shortest(self, front: Front) -> Candidate | None:
        """Return the member of a front with the shortest description; None if none is finite, or without listener."""
        if self._listener is None:
            return None
        few = few_rows(self._task.evaluator.data, ROWS)
        bits = describe(front.candidates.forest, few, self._task.criterion).bits
        return front[int(np.argmin(bits))] if np.isfinite(bits).any() else None


def _used(budget: Budget, executed: int, seconds: float, rate: float) -> tuple[float | None, float | None]:
    """Return the share of the budget that is used, and the seconds left at this rate; None if not limited."""
    shares, left = [], []
    if budget.evaluations is not None:
        shares.append(executed / budget.evaluations if budget.evaluations else 1.0)
        if rate > 0:
            left.append(max(budget.evaluations - executed, 0) / rate)
    if budget.seconds is not None:
        shares.append(seconds / budget.seconds if budget.seconds else 1.0)
        left.append(max(budget.seconds - seconds, 0.0))
    return min(max(shares), 1.0) if shares else None, min(left) if left else None


def candidates_at(evaluator: Evaluator, places: Indices) -> Candidates:
    """Return the explored expressions of an evaluator at these indices."""
    explored = evaluator.explored
    return Candidates(
        explored.take(places), explored.errors[places], explored.complexities[places], explored.executed_at[places]
    )


def _explored(evaluator: Evaluator, seen: int) -> Candidates:
    """Return the expressions explored after the first `seen`, including superseded forms."""
    explored = evaluator.explored
    return candidates_at(evaluator, np.arange(np.searchsorted(explored.ages, seen), len(explored)))
