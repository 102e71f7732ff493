"""`Islands`: a strategy whose step is one epoch of all islands, run by an engine.

Islands exchange their best expressions after each epoch, in a fixed order and never by arrival. With a budget of
evaluations, the result therefore depends on the seed and the number of islands, but not on the number of workers, their
speed or their failures.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import numpy as np

from edhie.evaluate.counting import Counts
from edhie.expr import Forest
from edhie.results.candidates import Candidates
from edhie.search.arrays import read, under, written
from edhie.search.base import State, Strategy, Task
from edhie.search.islands.engines import Engine, Here
from edhie.search.islands.epoch import Epoch, Island, Setup, run_epoch
from edhie.search.watching import candidates_at

FIRST_EPOCH, LONGEST_EPOCH = 2_000, 128_000  # evaluations of an island in an epoch: about 1 s, and 10 to 30 s
RECEIVED = 20  # expressions that an island receives from the others


@dataclass(frozen=True)
class IslandsConfig:
    """Settings that determine the result."""

    islands: int
    strategy: str
    settings: dict[str, Any]


class Islands(Strategy):
    """Parallel searches of one kind that exchange their best expressions."""

    name: ClassVar[str] = "islands"

    def __init__(self, strategy: Strategy, islands: int, engine: Engine | None = None) -> None:
        self._strategy, self._engine = strategy, engine or Here()
        self.config = IslandsConfig(islands, strategy.name, strategy.settings())

    def begin(self, task: Task) -> None:
        """Start without islands."""
        n = self.config.islands
        self._task = task
        self._setup = Setup(
            task.generator, task.evaluator.copied(), self._strategy, task.criterion, n, task.budget.target_error
        )
        self._islands: list[Island | None] = [None] * n
        self._epoch = 0
        self.best_now = None

    def step(self, rng: np.random.Generator) -> bool:
        """Do an epoch of every island, and collect the results."""
        del rng  # each step of an island has its own generator
        n, seed = self.config.islands, self._task.seed
        quota = min(FIRST_EPOCH << min(self._epoch, 10), LONGEST_EPOCH)
        limits, left, threads = self._limits(), self._task.seconds_left(), self._engine.threads_each(n)
        sent = self._sent()
        with ExitStack() as stack:
            finds = None if self._engine.is_remote else Path(stack.enter_context(TemporaryDirectory(prefix="edhie-")))
            inboxes = [self._inbox(k, sent) for k in range(n)]
            epochs = [
                Epoch(k, self._epoch, seed, self._islands[k], inboxes[k], quota, limits[k], left, threads, finds)
                for k in range(n)
            ]
            after: Sequence[Island] = self._engine.map(run_epoch, self._setup, epochs)
        exact = [(each.exact_at, k) for k, each in enumerate(after) if each.exact_at is not None]
        # only the exact expression with the fewest evaluations is used, because others may have stopped due to it
        for k in [min(exact)[1]] if exact else range(n):
            self._take_in(self._islands[k], after[k])
            self._islands[k] = replace(after[k], new=after[k].new.take(slice(0)))  # they are taken in
        self._epoch += 1
        self._note_best()
        return not (exact or self._is_finished(after))

    def _limits(self) -> list[int | None]:
        """Return each island's share of the remaining evaluations; None for no limit."""
        n, left = self.config.islands, self._task.evaluator.remaining
        if left == np.inf:
            return [None] * n
        return [int(left) // n + (k < int(left) % n) for k in range(n)]

    def _sent(self) -> list[tuple[float, int, int]]:
        """Return (description length, island, index among its leaders) of all islands' leaders, the shortest first."""
        sent = [
            (bits, k, place)
            for k, each in enumerate(self._islands)
            if each
            for place, bits in enumerate(each.bits.tolist())
            if bits < np.inf
        ]
        return sorted(sent)

    def _inbox(self, island: int, sent: list[tuple[float, int, int]]) -> Forest:
        """Return the best expressions of all other islands."""
        few = islice(((k, place) for _, k, place in sent if k != island), RECEIVED)
        chosen = [self._islands[k].leaders.forest.take([place]) for k, place in few]  # type: ignore[union-attr]
        return Forest.concatenate([Forest.from_exprs([], self._task.evaluator.library), *chosen]).unique()

    def _take_in(self, before: Island | None, after: Island) -> None:
        """Add an island's new expressions and counts to those of the whole search."""
        evaluator = self._task.evaluator
        old = self._setup.evaluator.counts if before is None else before.counts
        if self.config.islands == 1:
            evaluator.restore(under("evaluator.", after.state))
        else:
            new = after.new
            executed_at = new.executed_at - old.executed + evaluator.counts.executed
            evaluator.absorb(new.forest, new.errors, new.complexities, executed_at, after.counts - old)

    def _is_finished(self, islands: Sequence[Island]) -> bool:
        """Return whether all islands are over or out of patience."""
        patience = self._task.budget.patience
        return all(
            each.is_over
            or (
                patience is not None
                and each.improved_at is not None
                and each.n_steps - each.improved_at >= max(patience, each.improved_at)
            )
            for each in islands
        )

    # -- the best so far ------------------------------------------------------------------

    def _note_best(self) -> None:
        for _, k, place in self._sent()[:1]:
            self.best_now = self._islands[k].leaders[place]  # type: ignore[union-attr]

    def leaders(self) -> Candidates | None:
        """Return the best expressions of all islands."""
        found = [each.leaders for each in self._islands if each]
        return Candidates.concatenate(found) if found else None

    # -- checkpoints ----------------------------------------------------------------------

    def state(self) -> State:
        """Return the islands as arrays."""
        return written({"epoch": self._epoch, "islands": {k: each for k, each in enumerate(self._islands) if each}})

    def restore(self, state: State) -> None:
        """Restore the islands from a snapshot."""
        state = {name.replace(".tally.", ".counts."): each for name, each in state.items()}  # as earlier releases wrote
        self._epoch, none = int(state["epoch"]), candidates_at(self._task.evaluator, np.arange(0))
        first = Island({}, 0, False, None, Counts(), none, np.zeros(0), none, None)
        for k in range(self.config.islands):
            if f"islands.{k}.n_steps" in state:  # the others have not finished an epoch
                self._islands[k] = read(first, f"islands.{k}", state)
        self._note_best()
