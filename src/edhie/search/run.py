"""`run`: the loop that all strategies share, with its budget, its events and its checkpoints."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from edhie.errors import KeepError, SearchError, UnkeptWarning, is_interruption
from edhie.evaluate.evaluator import Evaluator
from edhie.evaluate.numbers import check_whole
from edhie.evaluate.scores import Counts
from edhie.events import Event
from edhie.generators.base import Generator
from edhie.results import Candidates, Front, History, SearchCounts, SearchResult
from edhie.results.description import Criterion
from edhie.search.base import Budget, State, Strategy, Tally, Task
from edhie.search.checkpoint import STORED, Keeper, Moment
from edhie.search.strategies import strategy_of
from edhie.search.watching import Watch

STATES_SECONDS, STATES_SHARE = 0.1, 0.05  # and the share of the time that states to go back to may cost


def run(
    generator: Generator,
    evaluator: Evaluator,
    *,
    strategy: str | Strategy = "mosaic",
    budget: Budget = Budget(),  # noqa: B008 -- frozen
    rng: int | np.random.Generator = 0,
    on_event: Callable[[Event], None] | None = None,
    folder: str | Path | None = None,
    resume: bool = False,
    asked: Mapping[str, Any] | None = None,
    criterion: Criterion | None = None,
) -> SearchResult:
    """Search for expressions that explain the evaluator's data, until the budget is used up.

    With a `folder`, checkpoints and the result are kept there; `resume` goes on from such a folder, with
    its seed, and ends as if it had never stopped. For that, where the evaluations end within a step, the evaluator
    is left at the end of the step before. `asked` is what else the search follows from, as JSON has it: the folder
    tells it, and what goes on there must be asked the same. A folder that cannot be written to any more, such as on
    a full disk, is a warning: the search goes on, and its result comes back. Ctrl-C gives the result so far. An
    evaluator that has been used before brings what it knows; what it has executed counts.
    """
    chosen = strategy_of(strategy)
    task = Task(generator, evaluator, budget, criterion=criterion or Criterion())
    seed = _seed_of(rng)
    if resume and folder is None:
        raise SearchError("resume needs the folder of the search that is to go on; pass folder=")
    keeper = None if folder is None else Keeper(Path(folder), chosen, task, seed, resume=resume, asked=asked or {})
    held = nullcontext() if keeper is None else STORED.in_use(keeper.folder)
    with held, evaluator.limited(budget.evaluations):
        loop = _Loop(chosen, task, seed if keeper is None else keeper.seed, keeper, Watch(task, chosen, on_event))
        try:
            result = loop.run()
        finally:
            evaluator.unmark()
    if keeper is not None:
        try:
            result.save(keeper.folder)
        except KeepError as error:
            _warn(error, "it comes back, and is kept nowhere else")
    return result


def _warn(error: KeepError, instead: str) -> None:
    warnings.warn(f"{error}; {instead}", UnkeptWarning, stacklevel=3)


def _seed_of(rng: int | np.random.Generator) -> int:
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(1 << 63))
    check_whole("rng", rng, 0)
    return int(rng)


class _Loop:
    """One search from its beginning, or a checkpoint, to its end."""

    def __init__(self, strategy: Strategy, task: Task, seed: int, keeper: Keeper | None, watch: Watch) -> None:
        self._strategy = strategy
        self._task = task
        self._seed = seed
        self._keeper = keeper
        self._watch = watch
        self._n_steps = 0
        self._is_over = False
        self._began = time.perf_counter()
        self._spent_on_states = 0.0

    def run(self) -> SearchResult:
        """Step after step until there is a reason to stop."""
        moment, reason = self._moment(None), None
        try:
            self._begin()
            moment = self._moment(self._state())
            while (reason := self._reason_to_stop()) is None:
                self._step()
                if self._task.evaluator.is_exhausted:
                    continue  # the step may have been cut short: a search that goes on has to do it again
                moment = self._remembered(moment)
            self._watch.finish(reason, self._seconds, self._idle)
        except BaseException as error:
            self._go_back(moment)  # a step that ended half-way is as if it had not begun
            if not is_interruption(error):
                raise
            reason = "interrupted"
            self._watch.finish(reason, self._seconds)
            return self._result(reason)
        result = self._result(reason)
        if self._keeper is not None and self._task.evaluator.is_exhausted:
            self._go_back(moment)
        else:
            self._keep(self._moment(self._state()))
        return result

    @property
    def _seconds(self) -> float:
        return time.perf_counter() - self._began

    def _begin(self) -> None:
        evaluator, history = self._task.evaluator, History()
        self._strategy.begin(self._task)
        kept = self._keeper.restore(self._strategy, evaluator) if self._keeper else None
        if kept is not None:
            self._take_on(kept)
            self._began = time.perf_counter() - kept.seconds
            history = kept.history
        self._watch.start(self._seed, self._seconds, history)
        self._watch.look(self._seconds)

    def _reason_to_stop(self) -> str | None:
        budget, history = self._task.budget, self._watch.history
        if budget.target_error is not None and len(history) and history.best <= budget.target_error:
            return "target"
        if self._task.evaluator.is_exhausted:
            return "evaluations"
        if budget.seconds is not None and self._seconds >= budget.seconds:
            return "seconds"
        if budget.patience is not None and self._idle >= max(budget.patience, self._strategy.improved_at or 0):
            return "patience"
        return "finished" if self._is_over else None

    @property
    def _idle(self) -> int:
        """How many steps ago the best equation was found; 0 where the strategy does not tell."""
        improved = self._strategy.improved_at
        return 0 if improved is None else self._n_steps - improved

    def _step(self) -> None:
        self._is_over = not self._strategy.step(np.random.default_rng([self._seed, self._n_steps]))
        self._n_steps += 1
        self._watch.look(self._seconds)

    # -- moments --------------------------------------------------------------------------

    def _state(self) -> State | None:
        """The strategy's state, where it is to be kept."""
        if self._keeper is None:
            return None
        since = time.perf_counter()
        state = self._strategy.state()
        self._spent_on_states += time.perf_counter() - since
        return state

    def _moment(self, state: State | None) -> Moment:
        tally, mark = replace(self._task.tally), self._task.evaluator.mark()
        return Moment(self._n_steps, self._seconds, self._is_over, tally, self._watch.history, state, mark)

    def _remembered(self, last: Moment) -> Moment:
        """This moment, kept where it is time for it; the last one where states have cost too much time."""
        if self._spent_on_states > STATES_SECONDS + STATES_SHARE * self._seconds:
            return last
        moment = self._moment(self._state())
        if self._keeper is not None and self._keeper.is_due:
            self._keep(moment)
        return moment

    def _keep(self, moment: Moment) -> None:
        if self._keeper is not None and moment.state is not None:
            try:
                self._keeper.write(moment, self._task.evaluator)
            except KeepError as error:  # what was found is worth more than a place to keep it in
                _warn(error, "what is found is in memory alone")

    def _go_back(self, moment: Moment) -> None:
        """Be at a moment again, and leave it as the checkpoint."""
        self._take_on(moment)
        if moment.mark is not None:
            self._task.evaluator.undo(moment.mark)
        self._watch.history = moment.history
        self._keep(moment)

    def _take_on(self, moment: Moment) -> None:
        self._n_steps, self._is_over = moment.n_steps, moment.is_over
        for each in fields(Tally):
            setattr(self._task.tally, each.name, getattr(moment.tally, each.name))

    # -- the end --------------------------------------------------------------------------

    def _result(self, reason: str) -> SearchResult:
        evaluator = self._task.evaluator
        candidates = found(evaluator)
        return SearchResult(
            front=Front.of(candidates, negligible=evaluator.negligible),
            candidates=candidates,
            counts=counts_of(evaluator.counts, self._task.tally),
            history=self._watch.history,
            seconds=self._seconds,
            stopped=reason,
            seed=self._seed,
            strategy=self._strategy.name,
            leaders=self._strategy.leaders(),
        )


def found(evaluator: Evaluator) -> Candidates:
    """Every distinct expression that an evaluator has executed, in that order."""
    explored, places = evaluator.explored, evaluator.standing
    places = places[np.argsort(explored.executed_at[places], kind="stable")]
    return Candidates(
        explored.take(places), explored.errors[places], explored.complexities[places], explored.executed_at[places]
    )


def counts_of(counts: Counts, tally: Tally) -> SearchCounts:
    """What evaluator and strategy have counted, together."""
    return SearchCounts(
        executed=counts.executed,
        screened=tally.screened,
        refits=tally.refits,
        again=counts.again,
        bounded=counts.bounded,
        invalid=counts.invalid,
        asked=counts.asked + tally.undecodable,
        undecodable=tally.undecodable,
        forbidden=counts.forbidden,
    )
