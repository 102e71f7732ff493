"""`Discovery`: what a search came to on its data, as equations, one of them chosen."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edhie.discovery.equation import Equation
from edhie.discovery.presentation import AS_IT_IS, UNBOUNDED, Bounds, Manner, manner_of
from edhie.discovery.shown import Shown, shown_equations
from edhie.discovery.template import ties_of
from edhie.errors import SearchError
from edhie.evaluate import Data
from edhie.evaluate.losses import DEFAULT_LOSS
from edhie.expr import Expr
from edhie.results import Candidates, SearchResult
from edhie.results.description import Criterion
from edhie.results.noise import CONSTANT
from edhie.results.selection import score_drops

Numbers = NDArray[np.float64]


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
    criterion: Criterion = field(default_factory=Criterion)
    """How equations are compared."""
    guesses: tuple[Expr, ...] = ()
    """Formulas of the user's, which are always shown."""
    loss: str | None = DEFAULT_LOSS
    """The name of the loss; None for a function of the user's."""
    bounds: Bounds = UNBOUNDED
    """The least and the greatest that a constant may be."""

    @cached_property
    def equations(self) -> tuple[Equation, ...]:
        """The best trade-offs between loss and complexity, likely alternatives and the chosen one, by complexity.

        Constants are at the optimum of the noise model, plain numbers where that describes the data in fewer bits;
        none is there that another could take the place of; signs and products are as people write them. Losses are
        those of what is shown, so they may differ from those of the search.
        """
        shown, _ = self._shown
        errors = np.array([each.candidate.error for each in shown])
        sizes = np.array([each.candidate.complexity for each in shown])
        scores = score_drops(errors, sizes, self.result.front.negligible)
        return tuple(self._equation(each, score) for each, score in zip(shown, scores.tolist(), strict=True))

    def _equation(self, each: Shown, score: float) -> Equation:
        candidate = each.candidate
        ties = None if self.template is None else ties_of(candidate.expr, self.template)
        keeps_form = self.keeps_form or self.template is not None
        return Equation(
            self.target, candidate, self.train, self.validation, score, ties, each.model, each.weight, keeps_form
        )

    @cached_property
    def _shown(self) -> tuple[list[Shown], int | None]:
        return shown_equations(
            self.result, self.train, self.validation, self._manner,
            selection=self.selection, criterion=self.criterion, guesses=self.guesses,
        )  # fmt: skip

    @property
    def index(self) -> int:
        """The place of the chosen equation among the equations."""
        _, index = self._shown
        if index is None:
            executed = f"none of {self.result.counts.executed:,} expressions has a value in every row"
            raise SearchError(f"no equation was found: {executed}; search longer, or with other operators")
        return index

    @property
    def best(self) -> Equation:
        """The chosen equation."""
        return self.equations[self.index]

    @property
    def is_empty(self) -> bool:
        """Whether nothing was found that has a value in every row."""
        return self._shown[1] is None

    @property
    def explains_nothing(self) -> bool:
        """Whether no equation describes the target better than a constant does."""
        return not self.is_empty and not self.best.expr.variables

    @property
    def notes(self) -> tuple[str, ...]:
        """What has to be known beside the equations, in words: that none explains the target, and an unusual noise."""
        if self.is_empty:
            return ()
        nothing = f"the columns do not explain {self.target}: no equation describes it better than a constant"
        model = self.best.model
        noise = "" if model in (None, CONSTANT) else f"constants are fitted for {model.description}"
        return tuple(filter(None, (nothing if self.explains_nothing else "", noise)))

    def standard_deviations(self, columns: Numbers, equation: Equation | None = None) -> Numbers:
        """How far the values of an equation, the chosen one, may be off, with the doubt between equations.

        It is the root of the mean square, over all equations by their weights, of how far each is from these values,
        and of how far its own values may be off. An equation does not count in rows where it has no value.
        """
        given = (self.best if equation is None else equation).predict(columns)
        likely = [each for each in self.equations if each.weight]
        if not likely:
            raise SearchError("equations have no weights to compare them by; choose with selection mdl")
        squares, total = np.zeros(len(given)), np.zeros(len(given))
        for each in likely:
            with np.errstate(all="ignore"):
                own = np.square(each.predict(columns) - given) + np.square(each.standard_deviations(columns))
            is_known = np.isfinite(own)
            squares += np.where(is_known, (each.weight or 0.0) * own, 0.0)
            total += np.where(is_known, each.weight or 0.0, 0.0)
        return np.sqrt(squares / np.where(total > 0, total, np.nan))

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
            result.candidates,
            self.train,
            strategy=result.strategy,
            keeps_form=self.keeps_form,
            loss=self.loss,
            bounds=self.bounds,
        )

    def as_json(self) -> dict[str, Any]:
        """What a program wants to know of it."""
        return {
            "target": self.target,
            "selected": None if self.is_empty else self.best.as_json(),
            "front": [each.as_json() for each in self.equations],
            "explains_nothing": self.explains_nothing,
            "strategy": self.result.strategy,
            "seed": self.result.seed,
            "stopped": self.result.stopped,
            "seconds": round(self.result.seconds, 3),
            "counts": vars(self.result.counts),
        }
