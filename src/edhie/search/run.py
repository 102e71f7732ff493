"""`run`: the loop that all strategies share, with budget, events and checkpoints."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from edhie.errors import KeepError, SearchError, UnkeptWarning, is_interruption
from edhie.evaluate.evaluator import Evaluator
from edhie.evaluate.numbers import check_whole
from edhie.events import Event
from edhie.generators.base import Generator
from edhie.results import Front, History, SearchResult
from edhie.search.base import Budget, Strategy, Task
from edhie.search.checkpoint import STORED, Checkpoints, Snapshot
from edhie.search.strategies import DEFAULT, strategy_of
from edhie.search.watching import Watch, candidates_at
from edhie.selection.description import Criterion

KEPT_SECONDS, KEPT_SHARE = 0.1, 0.04  # limit on the time for checkpoints: seconds, plus a share of the elapsed time


def run(
    generator: Generator,
    evaluator: Evaluator,
    *,
    strategy: str | Strategy = DEFAULT,
    budget: Budget = Budget(),  # noqa: B008 -- frozen
    rng: int | np.random.Generator = 0,
    on_event: Callable[[Event], None] | None = None,
    folder: str | Path | None = None,
    resume: bool = False,
    asked: Mapping[str, Any] | None = None,
    criterion: Criterion | None = None,
) -> SearchResult:
    """Search for expressions that explain the evaluator's data, until the budget is used up.

    With a `folder`, checkpoints and the result are saved there. `resume` continues from such a folder, with its seed,
    and gives the same result as an uninterrupted search; for that, if the evaluations run out within a step, the
    evaluator is left at the end of the previous step. `asked` holds further settings that determine the result, as
    plain data: they are saved in the folder, and have to be the same on resume. If the folder can no longer be written,
    such as on a full disk, a warning is issued and the result is still returned. Ctrl-C returns the result so far.
    Expressions that the evaluator scored before take part, and those that it executed count against the budget.
    """
    chosen = strategy_of(strategy)
    task = Task(generator, evaluator, budget, criterion=criterion or Criterion())
    if not isinstance(rng, np.random.Generator):
        check_whole("rng", rng, 0)
    seed = int(rng.integers(1 << 63)) if isinstance(rng, np.random.Generator) else int(rng)
    if resume and folder is None:
        raise SearchError("resume needs the folder of the search to continue; pass folder=")
    with nullcontext() if folder is None else STORED.in_use(Path(folder)):
        checkpoints: Checkpoints | None = None
        if folder is not None:
            checkpoints = Checkpoints(Path(folder), chosen, task, seed, resume=resume, asked=asked or {})
            seed = checkpoints.seed
        with evaluator.limited(budget.evaluations):
            loop = _Loop(chosen, task, seed, checkpoints, Watch(task, chosen, on_event))
            result = loop.run()
        if checkpoints is not None:
            try:
                result.save(checkpoints.folder)
            except KeepError as error:
                _warn(error, "it is returned, and saved nowhere else")
    return result


def _warn(error: KeepError, instead: str) -> None:
    warnings.warn(f"{error}; {instead}", UnkeptWarning, stacklevel=3)


@dataclass(eq=False)
class _Loop:
    """One search from its start, or a checkpoint, to its end."""

    strategy: Strategy
    task: Task
    seed: int
    checkpoints: Checkpoints | None
    watch: Watch
    n_steps: int = 0
    is_over: bool = False
    began: float = field(default_factory=time.perf_counter)
    spent_on_checkpoints: float = 0.0
    is_kept: bool = True
    """False if the last checkpoint could not be written: that is reported once."""

    def __post_init__(self) -> None:
        self.task = replace(self.task, seed=self.seed, seconds_left=self._seconds_left)

    def run(self) -> SearchResult:
        """Do steps until there is a reason to stop."""
        snapshot, reason = self._snapshot(with_state=False), None
        try:
            self._begin()
            snapshot = self._snapshot()
            while (reason := self._reason_to_stop()) is None:
                self.is_over = not self.strategy.step(np.random.default_rng([self.seed, self.n_steps]))
                self.n_steps += 1
                self.watch.update(self._seconds)
                is_affordable = self.spent_on_checkpoints <= KEPT_SECONDS + KEPT_SHARE * self._seconds
                if is_affordable and not self.task.evaluator.is_exhausted:  # a step cut short is repeated on resume
                    snapshot = self._snapshot()
                    if self.checkpoints is not None and self.checkpoints.is_due:
                        self._write(snapshot)
            self.watch.finish(reason, self._seconds, self._idle)
        except BaseException as error:
            self._return_to(snapshot)  # an interrupted step is undone
            if not is_interruption(error):
                raise
            reason = "interrupted"
            self.watch.finish(reason, self._seconds)
            return self._result(reason)
        result = self._result(reason)
        if self.checkpoints is not None and self.task.evaluator.is_exhausted:
            self._return_to(snapshot)
        else:
            self._write(self._snapshot())
        return result

    @property
    def _seconds(self) -> float:
        return time.perf_counter() - self.began

    def _seconds_left(self) -> float:
        seconds = self.task.budget.seconds
        return math.inf if seconds is None else max(seconds - self._seconds, 0.0)

    def _begin(self) -> None:
        self.strategy.begin(self.task)
        kept = self.checkpoints.restore(self.strategy, self.task.evaluator) if self.checkpoints else None
        if kept is not None:
            self.n_steps, self.is_over = kept.n_steps, kept.is_over
            self.began = time.perf_counter() - kept.seconds
        self.watch.start(self.seed, self._seconds, History() if kept is None else kept.history)
        self.watch.update(self._seconds)

    def _reason_to_stop(self) -> str | None:
        budget, history = self.task.budget, self.watch.history
        if budget.target_error is not None and len(history) and history.best <= budget.target_error:
            return "target"
        if self.task.evaluator.is_exhausted:
            return "evaluations"
        if budget.seconds is not None and self._seconds >= budget.seconds:
            return "seconds"
        if budget.patience is not None and self._idle >= max(budget.patience, self.strategy.improved_at or 0):
            return "patience"
        return "finished" if self.is_over else None

    @property
    def _idle(self) -> int:
        """The number of steps since the best equation was found; 0 if the strategy does not report it."""
        improved = self.strategy.improved_at
        return 0 if improved is None else self.n_steps - improved

    # -- snapshots ------------------------------------------------------------------------

    def _snapshot(self, *, with_state: bool = True) -> Snapshot:
        """Return a snapshot of the search; the strategy's state is taken only if there is a folder to save it in."""
        state, since = None, time.perf_counter()
        if self.checkpoints is not None and with_state:
            state = self.strategy.state()
            self.spent_on_checkpoints += time.perf_counter() - since
        evaluator = self.task.evaluator.state()
        return Snapshot(self.n_steps, self._seconds, self.is_over, self.watch.history, state, evaluator)

    def _write(self, snapshot: Snapshot) -> None:
        if self.checkpoints is not None and snapshot.state is not None:
            since = time.perf_counter()
            try:
                self.checkpoints.write(snapshot, self.task.evaluator)
                self.is_kept = True
            except KeepError as error:
                if self.is_kept:
                    _warn(error, "results are kept in memory only")
                self.is_kept = False
            self.spent_on_checkpoints += time.perf_counter() - since

    def _return_to(self, snapshot: Snapshot) -> None:
        """Return to an earlier snapshot, and write it as the checkpoint."""
        self.n_steps, self.is_over = snapshot.n_steps, snapshot.is_over
        if snapshot.evaluator_state is not None:
            self.task.evaluator.restore(snapshot.evaluator_state)
        self.watch.history = snapshot.history
        self._write(snapshot)

    def _result(self, reason: str) -> SearchResult:
        evaluator, counts = self.task.evaluator, self.task.evaluator.counts
        places = evaluator.standing  # every distinct expression, in the order of execution
        places = places[np.argsort(evaluator.explored.executed_at[places], kind="stable")]
        candidates = candidates_at(evaluator, places)
        return SearchResult(
            front=Front.of(candidates, negligible=evaluator.negligible),
            candidates=candidates,
            counts=replace(counts, asked=counts.asked + counts.undecodable),
            history=self.watch.history,
            seconds=self._seconds,
            stopped=reason,
            seed=self.seed,
            strategy=self.strategy.name,
            leaders=self.strategy.leaders(),
        )
