"""`Discovery`: what a search came to on its data, as equations, one of them chosen."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from edhie.discovery.equation import Equation
from edhie.discovery.template import ties_of
from edhie.errors import SearchError
from edhie.evaluate import Data
from edhie.expr.signs import plain_signs
from edhie.results import Candidate, Candidates, SearchResult
from edhie.results.description import shortest_description
from edhie.results.selection import SELECTION, drops


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

    @cached_property
    def equations(self) -> tuple[Equation, ...]:
        """The best trade-offs between loss and complexity, and the chosen one, from the least complex on."""
        front, chosen = self.result.front, self._chosen
        scored = list(zip(front, drops(front).tolist(), strict=True))
        if chosen is not None:
            alike = next((score for each, score in scored if _is_alike(each, chosen)), 0.0)
            scored = [(each, score) for each, score in scored if not _is_alike(each, chosen)] + [(chosen, alike)]
            scored.sort(key=lambda pair: pair[0].complexity)
        return tuple(self._equation(each, score) for each, score in scored)

    def _equation(self, each: Candidate, score: float) -> Equation:
        plain = replace(each, expr=plain_signs(each.expr))
        ties = None if self.template is None else ties_of(each.expr, self.template)
        return Equation(self.target, plain, self.train, self.validation, score, ties)

    @cached_property
    def index(self) -> int:
        """The place of the chosen equation among the equations."""
        if self._chosen is None:
            executed = f"none of {self.result.counts.executed:,} expressions has a value in every row"
            raise SearchError(f"no equation was found: {executed}; search longer, or with other operators")
        chosen = plain_signs(self._chosen.expr)
        return next(k for k, each in enumerate(self.equations) if each.expr == chosen)

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
    def _chosen(self) -> Candidate | None:
        front = self.result.front
        if self.selection == "mdl":
            return shortest_description(self.result.candidates, self.train, validation=self.validation)
        return SELECTION[self.selection](front) if len(front) else None

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
