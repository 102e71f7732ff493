"""`Discovery`: what a search came to on its data, as equations, one of them chosen."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from edhie.discovery.equation import Equation
from edhie.discovery.presentation import AS_IT_IS, Manner, joined, manner_of, of_candidate, presented
from edhie.discovery.template import ties_of
from edhie.errors import SearchError
from edhie.evaluate import Data
from edhie.results import Candidate, Candidates, Front, SearchResult
from edhie.results.description import shortest_description
from edhie.results.selection import SELECTION, drops, sparing


@dataclass(frozen=True, eq=False)
class Discovery:
    """Equations for one target."""

    target: str
    columns: tuple[str, ...]
    """The table's own names of the variables, in order; equations have identifiers in their place."""
    train: Data
    validation: Data | None
    result: SearchResult
    selection: str = "mdl"
    template: str | None = None
    """The form that was asked for."""
    keeps_form: bool = False
    """Whether equations stay as they were written, where constraints say what they may look like."""

    @cached_property
    def equations(self) -> tuple[Equation, ...]:
        """The best trade-offs between loss and complexity, and the chosen one, from the least complex on.

        Constants are at the least loss, but for those of a chosen one that describes the data better as it is;
        none is there that another could take the place of; signs and products are as people write them. Losses are
        those of what is shown, so they may be below those of the search.
        """
        chosen = self._chosen
        shown = self._front.candidates if chosen is None else joined(self._front.candidates, self._alone(chosen))
        front = Front.of(shown, negligible=self.result.front.negligible)
        scored = list(zip(front, drops(front).tolist(), strict=True))
        if chosen is not None:
            alike = next((score for each, score in scored if _is_alike(each, chosen)), 0.0)
            scored = [(each, score) for each, score in scored if not _is_alike(each, chosen)] + [(chosen, alike)]
            scored.sort(key=lambda pair: pair[0].complexity)
        return tuple(self._equation(each, score) for each, score in scored)

    def _equation(self, each: Candidate, score: float) -> Equation:
        ties = None if self.template is None else ties_of(each.expr, self.template)
        return Equation(self.target, each, self.train, self.validation, score, ties)

    @cached_property
    def index(self) -> int:
        """The place of the chosen equation among the equations."""
        if self._chosen is None:
            executed = f"none of {self.result.counts.executed:,} expressions has a value in every row"
            raise SearchError(f"no equation was found: {executed}; search longer, or with other operators")
        return next(k for k, each in enumerate(self.equations) if each.candidate is self._chosen)

    @property
    def best(self) -> Equation:
        """The chosen equation."""
        return self.equations[self.index]

    @property
    def is_empty(self) -> bool:
        """Whether nothing was found that has a value in every row."""
        return self._chosen is None

    @property
    def explored(self) -> Candidates:
        """Every distinct expression that was executed."""
        return self.result.candidates

    @cached_property
    def _manner(self) -> Manner:
        result = self.result
        if len(result.history) == 0:  # of a search that is known by its equations alone, which have been shown
            return AS_IT_IS
        return manner_of(
            result.candidates, result.front.candidates, self.train,
            strategy=result.strategy, keeps_form=self.keeps_form,
        )  # fmt: skip

    @cached_property
    def _front(self) -> Front:
        """The front of the search as it is shown."""
        shown = presented(self.result.front.candidates, self.train, self._manner)
        return Front.of(shown, negligible=self.result.front.negligible)

    @cached_property
    def _chosen(self) -> Candidate | None:
        """The chosen one as it is shown."""
        if len(self.result.front) == 0:
            return None
        if self.selection != "mdl":
            front = self._front
            return SELECTION[self.selection](front if self.selection == "accuracy" else sparing(front, self.train))
        first = shortest_description(self.result.candidates, self.train, validation=self.validation)
        assert first is not None
        # where noise is in proportion, constants of least squares may describe less than those that it has
        manners = (replace(self._manner, may_polish=False), self._manner)
        as_is, polished = (presented(self._alone(first), self.train, manner) for manner in manners)
        among = joined(joined(as_is, polished), self._front.candidates)
        return shortest_description(among, self.train, validation=self.validation)

    def _alone(self, candidate: Candidate) -> Candidates:
        return of_candidate(candidate, self.result.candidates)

    def as_json(self) -> dict[str, Any]:
        """What a program wants to know of it."""
        return {
            "target": self.target,
            "selected": None if self.is_empty else self.best.as_json(),
            "front": [each.as_json() for each in self.equations],
            "strategy": self.result.strategy,
            "seed": self.result.seed,
            "stopped": self.result.stopped,
            "seconds": round(self.result.seconds, 3),
            "counts": vars(self.result.counts),
        }


def _is_alike(one: Candidate, other: Candidate) -> bool:
    """Whether two candidates are as complex and as good: mostly the same in another order."""
    return one.complexity == other.complexity and math.isclose(one.error, other.error, rel_tol=1e-6, abs_tol=1e-300)
