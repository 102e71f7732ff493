"""One epoch of one island, as a pure function from the state before to the state after."""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.counting import Counts
from edhie.evaluate.data import few_rows
from edhie.evaluate.evaluator import Evaluator
from edhie.evaluate.parallel import using_threads
from edhie.expr import Forest
from edhie.generators.base import Generator
from edhie.results.candidates import Candidates
from edhie.search.arrays import under, written
from edhie.search.base import Budget, State, Strategy, Task
from edhie.search.watching import ROWS, candidates_at
from edhie.selection.description import Criterion, describe

MOST_LEADERS = 20  # of a strategy that does not report them


@dataclass(frozen=True, eq=False)
class Setup:
    """The inputs that all islands of a search share."""

    generator: Generator
    evaluator: Evaluator
    """Data, settings, and the expressions scored before the search."""
    strategy: Strategy
    criterion: Criterion
    n_islands: int
    target_error: float | None
    live: dict[tuple[int, int], tuple[Strategy, Evaluator]] = field(default_factory=dict)
    """Islands of this process, by number and number of their next epoch; they continue without being restored."""

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for other processes, without live islands."""
        return self.__dict__ | {"live": {}}


@dataclass(frozen=True, eq=False)
class Island:
    """An island at the end of an epoch."""

    state: State
    """Of its strategy and its evaluator."""
    n_steps: int
    is_over: bool
    """True if its strategy has nothing left to do."""
    improved_at: int | None
    """The step at which its best equation was found; None if the strategy does not report it."""
    counts: Counts
    leaders: Candidates
    """Its best expressions."""
    bits: NDArray[np.float64]
    """By leader: the description length on some rows."""
    new: Candidates
    """The expressions that were scored in the epoch."""
    exact_at: int | None
    """The number of evaluations in the epoch until an exact expression was found; None without one."""


@dataclass(frozen=True, eq=False)
class Epoch:
    """The inputs of one epoch of one island."""

    island: int
    number: int
    seed: int
    before: Island | None
    """The island as it was; None for a new one."""
    inbox: Forest
    """Expressions from other islands."""
    quota: int
    """Evaluations after which it ends, at the end of a step."""
    limit: int | None
    """Hard limit on evaluations; None for none."""
    seconds: float
    """Time limit."""
    threads: int = 1
    finds: Path | None = None
    """A folder in which islands on one machine report exact expressions, so that the others can stop."""


def run_epoch(setup: Setup, epoch: Epoch) -> Island:
    """Return an island after one more epoch; deterministic, unless time runs out."""
    began, before = time.perf_counter(), epoch.before
    live = setup.live.pop((epoch.island, epoch.number), None)
    for key in [key for key in setup.live if key[1] < epoch.number]:  # they were continued in another process
        del setup.live[key]
    strategy, evaluator = live or _restored(setup, epoch)
    n_steps, is_over = (0, False) if before is None else (before.n_steps, before.is_over)
    seen, start, exact_at = evaluator.explored.n_seen, evaluator.counts.executed, None
    with using_threads(epoch.threads), evaluator.limited(None if epoch.limit is None else start + epoch.limit):
        if len(epoch.inbox) and not is_over:
            evaluator.score(epoch.inbox)
            strategy.receive(epoch.inbox)
        while not (
            is_over
            or evaluator.is_exhausted
            or evaluator.counts.executed - start >= epoch.quota
            or time.perf_counter() - began >= epoch.seconds
            or _is_beaten(epoch.finds, evaluator.counts.executed - start)
            or (setup.target_error is not None and evaluator.explored.errors.min(initial=np.inf) <= setup.target_error)
        ):
            own = [epoch.island] if setup.n_islands > 1 else []  # one island is the search without islands
            is_over = not strategy.step(np.random.default_rng([epoch.seed, *own, n_steps]))
            n_steps += 1
            if is_over and evaluator.explored.errors.min(initial=np.inf) <= evaluator.negligible:
                exact_at = evaluator.counts.executed - start
                if epoch.finds is not None:
                    (epoch.finds / f"{exact_at}-{epoch.island}").touch()
    explored, leaders = evaluator.explored, _leaders(strategy, evaluator)
    bits = describe(leaders.forest, few_rows(evaluator.data, ROWS), setup.criterion).bits
    setup.live[epoch.island, epoch.number + 1] = strategy, evaluator
    return Island(
        written({"strategy": strategy, "evaluator": evaluator}),
        n_steps, is_over, strategy.improved_at, evaluator.counts, leaders, bits,
        candidates_at(evaluator, np.arange(np.searchsorted(explored.ages, seen), len(explored))), exact_at,
    )  # fmt: skip


def _restored(setup: Setup, epoch: Epoch) -> tuple[Strategy, Evaluator]:
    """Return an island, restored from the end of the previous epoch."""
    before = epoch.before
    strategy, evaluator = copy.deepcopy(setup.strategy), setup.evaluator.copied()
    if before is not None:
        evaluator.restore(under("evaluator.", before.state))
    task = Task(
        setup.generator, evaluator, Budget(None), setup.criterion,
        seed=epoch.seed, island=epoch.island, n_islands=setup.n_islands,
    )  # fmt: skip
    strategy.begin(task)
    if before is not None:
        strategy.restore(under("strategy.", before.state))
    return strategy, evaluator


def _is_beaten(finds: Path | None, executed: int) -> bool:
    """Return whether another island found an exact expression with fewer evaluations: that one is used."""
    return finds is not None and any(int(each.name.partition("-")[0]) < executed for each in finds.iterdir())


def _leaders(strategy: Strategy, evaluator: Evaluator) -> Candidates:
    """Return the strategy's leaders, or the expressions with the lowest errors if it does not report any."""
    leaders = strategy.leaders()
    if leaders is None:
        places = evaluator.standing
        best = places[np.argsort(evaluator.explored.errors[places], kind="stable")[:MOST_LEADERS]]
        leaders = candidates_at(evaluator, best)
    return leaders
