"""The parts of a search: a budget, a task, and a strategy that does one step at a time."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from edhie.errors import SearchError
from edhie.evaluate.counting import Counts
from edhie.evaluate.evaluator import Evaluator, Scores
from edhie.evaluate.numbers import check_whole, shown
from edhie.events import RevisedFormula
from edhie.expr import Forest
from edhie.generators.base import Generator
from edhie.results.candidates import Candidate, Candidates
from edhie.selection.description import Criterion

State = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Budget:
    """Limits of a search; the first of them that is reached ends it."""

    evaluations: int | None = 100_000
    """Maximum number of distinct expressions executed, including those before the search. None: no limit."""
    seconds: float | None = None
    """Time limit in seconds; a step that has begun is finished. None: no limit."""
    target_error: float | None = None
    """Error at which to stop. None: use the whole budget."""
    patience: int | None = None
    """Steps without a better equation after which to stop, if finding the best took no more. None: never stop early."""

    def __post_init__(self) -> None:
        if self.evaluations is not None:
            check_whole("evaluations", self.evaluations, 0, or_none="no limit")
        if self.seconds is not None and not (_is_number(self.seconds) and self.seconds >= 0):
            raise SearchError(f"seconds must be 0 or more, or None for no limit; it is {shown(self.seconds)}")
        if self.target_error is not None and not _is_number(self.target_error):
            raise SearchError(f"target_error must be a number, or None for none; it is {shown(self.target_error)}")
        if self.patience is not None:
            check_whole("patience", self.patience, 1, or_none="no early stop")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not math.isnan(value)


@dataclass(frozen=True, eq=False)
class Task:
    """The task of a strategy: generator, evaluator, budget."""

    generator: Generator
    evaluator: Evaluator
    budget: Budget
    criterion: Criterion = field(default_factory=Criterion)
    """The criterion by which expressions are compared, as in the final choice."""
    seed: int = 0
    """The seed of the search."""
    island: int = 0
    """The number of the island that the strategy is on."""
    n_islands: int = 1
    """Number of searches of this kind that share the task."""
    seconds_left: Callable[[], float] = lambda: math.inf
    """Return the seconds that the budget still has."""

    @property
    def tally(self) -> Counts:
        """The counts of work, to which a strategy adds what the evaluator does not see."""
        return self.evaluator.tally

    def within_budget(self, n: int) -> int:
        """Return how many of `n` expressions may still be executed."""
        return int(min(n, self.evaluator.remaining))

    def complexities(self, forest: Forest) -> NDArray[Any]:
        """Return the complexities of a generator's expressions, as `score` counts them."""
        return self.evaluator.complexities(forest.cast(self.evaluator.library))

    def score(self, forest: Forest, *, bound: float = math.inf) -> Scores:
        """Score a generator's expressions, translated to the evaluator's library."""
        return self.evaluator.score(forest.cast(self.evaluator.library), bound=bound)


class Strategy(ABC):
    """One step of a search; `run` has the loop.

    Settings, if there are any, are in `config`, a frozen dataclass.
    """

    name: ClassVar[str]
    """Its name in the table of strategies."""
    improved_at: int | None = None
    """The step at which the best equation was found; None if the strategy does not report it."""
    best_now: Candidate | None = None
    """The equation that would be chosen now, shown as progress; None if the strategy does not report it."""

    config: Any = None

    def leaders(self) -> Candidates | None:
        """Return the expressions with the shortest descriptions so far; None if the strategy does not keep them."""
        return None

    def revisions(self) -> tuple[RevisedFormula, ...]:
        """Return the best trade-offs between distance and error so far, if the strategy revises a formula."""
        return ()

    @abstractmethod
    def begin(self, task: Task) -> None:
        """Prepare for the first step of a task, and forget any task before."""

    @abstractmethod
    def step(self, rng: np.random.Generator) -> bool:
        """Do one unit of work, well below a second where possible; return False when nothing is left to do.

        All randomness comes from `rng`, which follows from the seed and the step's number.
        """

    def receive(self, forest: Forest) -> None:
        """Make use of expressions that other islands found, which have been scored; by default nothing is done."""
        del forest

    @abstractmethod
    def state(self) -> State:
        """Return arrays, numbers or texts that, with the task, determine all later steps.

        It is called after every step that may be returned to, so it should be cheap; later steps must not write into
        the arrays.
        """

    @abstractmethod
    def restore(self, state: State) -> None:
        """Restore the search from a snapshot; called after `begin`, with everything as an array."""

    @final
    def settings(self) -> dict[str, Any]:
        """Return the settings as plain data."""
        return asdict(self.config) if is_dataclass(self.config) and not isinstance(self.config, type) else {}
