"""What a search is made of: a budget, a task, and a strategy that does one step at a time."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from edhie.errors import SearchError
from edhie.evaluate.evaluator import Evaluator, Scores
from edhie.evaluate.numbers import check_whole, shown
from edhie.expr import Forest
from edhie.generators.base import Generator
from edhie.results.candidates import Candidate, Candidates
from edhie.results.description import Criterion
from edhie.search.translation import translated

State = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Budget:
    """When a search has to stop; the first of these that is reached ends it."""

    evaluations: int | None = 100_000
    """Distinct expressions executed at most, those that the evaluator had executed before included. None: no limit."""
    seconds: float | None = None
    """How long it may take; a step that has begun is ended. None: no limit."""
    target_error: float | None = None
    """An error that is good enough. None: go on as long as the budget lasts."""
    patience: int | None = None
    """Steps without a better equation after which to stop, if it took no more to find the best. None: never."""

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


@dataclass
class Tally:
    """What a strategy counts itself, because the evaluator does not see it."""

    screened: int = 0
    """Combinations of terms whose error was computed in closed form."""
    refits: int = 0
    """Expressions whose constants were fitted again with full effort."""
    undecodable: int = 0
    """Codes that were decoded to no expression."""


@dataclass(frozen=True, eq=False)
class Task:
    """What a strategy works on."""

    generator: Generator
    evaluator: Evaluator
    budget: Budget
    tally: Tally = field(default_factory=Tally)
    criterion: Criterion = field(default_factory=Criterion)
    """How expressions are compared where errors alone do not tell: the same as in the final choice."""

    def within_budget(self, n: int) -> int:
        """How many of `n` expressions may still be executed."""
        return int(min(n, self.evaluator.remaining))

    def complexities(self, forest: Forest) -> NDArray[Any]:
        """The complexity of a generator's expressions, as `score` counts it."""
        return self.evaluator.complexities(translated(forest, self.evaluator.library))

    def score(self, forest: Forest, *, bound: float = math.inf) -> Scores:
        """Score a generator's expressions, over whatever library they are."""
        return self.evaluator.score(translated(forest, self.evaluator.library), bound=bound)


class Strategy(ABC):
    """How a search proceeds: the loop is not its own, only one step of it.

    What makes it is in `config`, a frozen dataclass, where it has settings at all.
    """

    name: ClassVar[str]
    """Its name in the table of strategies."""
    improved_at: int | None = None
    """The step at which the best equation was found; None where the strategy does not tell."""
    best_now: Candidate | None = None
    """The equation that would be chosen now; None where the strategy does not tell. It is shown as progress."""

    config: Any = None

    def leaders(self) -> Candidates | None:
        """Return the expressions with the shortest descriptions so far; None where the strategy does not keep them."""
        return None

    @abstractmethod
    def begin(self, task: Task) -> None:
        """Make ready for the first step; whatever it knew of another task is gone."""

    @abstractmethod
    def step(self, rng: np.random.Generator) -> bool:
        """One unit of work, well below a second where possible; False when nothing is left to do.

        All randomness comes from `rng`, which follows from the seed and the step's number.
        """

    @abstractmethod
    def state(self) -> State:
        """Arrays, numbers or texts that, with the task, determine all later steps.

        It is asked for after every step that may be gone back to, so it should cost little; later
        steps must not write into the arrays.
        """

    @abstractmethod
    def restore(self, state: State) -> None:
        """Be where `state` was taken; called after `begin`, with everything as an array."""

    @final
    def settings(self) -> dict[str, Any]:
        """Its settings, as JSON has them."""
        return asdict(self.config) if is_dataclass(self.config) and not isinstance(self.config, type) else {}
