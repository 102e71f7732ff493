"""`Discovery`: the result of a fit. It holds the problem, the settings, the search and the equations to show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from edhie.arrays import Numbers
from edhie.errors import SearchError
from edhie.evaluate import Data
from edhie.expr import Expr
from edhie.fit.equation import Equation
from edhie.fit.problem import Problem
from edhie.fit.select import BY_DESCRIPTION, select_equations
from edhie.fit.settings import Settings
from edhie.results import Candidates, SearchResult
from edhie.safe_text import printable
from edhie.selection.description import Criterion
from edhie.selection.noise import CONSTANT

if TYPE_CHECKING:
    import pandas

CUT_SHORT = ("evaluations", "seconds", "interrupted")  # ends of a search that were not its own
ALIKE = 0.4  # share of the best equation's weight from which another describes the rows about as well
LEAST_COMPARED = 1000
"""Distinct expressions without which a search that was cut short has no weights.

The default search takes about four rounds for as many, in which each of its parts has run once. On 18 tables of laws
with noise, 12,000 expressions led to another function than the one with a weight above 99 % in 11 of 17 cases after 50
expressions, in 3 of 12 after 400, in 1 of 9 after 800 and in none of 8 after 1,200.
"""


@dataclass(frozen=True, eq=False, repr=False)
class Discovery:
    """Equations for one target."""

    problem: Problem
    settings: Settings
    result: SearchResult
    """Everything that the search found."""
    equations: tuple[Equation, ...]
    """The best trade-offs between loss and complexity, likely alternatives and the chosen equation, by complexity.

    Constants are at the optimum of the noise model. Losses are those of the equations as they are shown.
    """
    chosen: int | None
    """The position of the chosen equation; None if no expression has a value in every row."""

    @classmethod
    def of(
        cls,
        result: SearchResult,
        problem: Problem,
        settings: Settings,
        criterion: Criterion | None = None,
        guesses: Sequence[Expr] = (),
    ) -> Discovery:
        """Select and present the equations of a search; the criterion is the default one unless given."""
        criterion = criterion or Criterion(noise=settings.noise_model)
        equations, chosen = select_equations(result, problem, settings, criterion, guesses)
        if problem.whole is not None:  # a result does not hold an open file
            problem = replace(problem, whole=None)
        if is_too_short(result):
            equations = tuple(replace(each, weight=None) for each in equations)
        return cls(problem, settings, result, equations, chosen)

    @property
    def target(self) -> str:
        """The name of the target."""
        return self.problem.target

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the variables in the table, in order; equations use identifiers."""
        return self.problem.columns

    @property
    def train(self) -> Data:
        """The rows that equations are fitted to; of a large table, the sample that was searched."""
        return self.problem.train

    @property
    def n_rows(self) -> int:
        """The number of rows that equations are fitted to, also where `train` is a sample of them."""
        known = next((each.all_rows for each in self.equations if each.all_rows is not None), None)
        return self.train.n_rows if known is None else known.n_rows

    @property
    def validation(self) -> Data | None:
        """The rows held out."""
        return self.problem.validation

    @property
    def explored(self) -> Candidates:
        """Every distinct expression that was executed."""
        return self.result.candidates

    @property
    def is_empty(self) -> bool:
        """True if no expression has a value in every row."""
        return self.chosen is None

    @property
    def index(self) -> int:
        """The position of the chosen equation; raise an error if there is none."""
        if self.chosen is None:
            executed = f"none of {self.result.counts.executed:,} expressions has a value in every row"
            raise SearchError(f"no equation was found: {executed}; search longer, or with other operators")
        return self.chosen

    @property
    def best(self) -> Equation:
        """The chosen equation."""
        return self.equations[self.index]

    @property
    def explains_nothing(self) -> bool:
        """True if no equation describes the target better than a constant does."""
        return not self.is_empty and not self.best.expr.variables

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences to show beside the equations.

        They tell that none explains the target, that several do so about as well, that noise is not constant, and why
        there are no weights.
        """
        if self.is_empty:
            return ()
        nothing = (
            f"the columns do not explain {printable(self.target)}: no equation describes it better than a constant"
        )
        model = self.best.model
        noise = "" if model in (None, CONSTANT) else f"constants are fitted for {model.description}"
        nothing = nothing if self.explains_nothing else self._undecided
        return tuple(filter(None, (nothing, noise, self._why_no_weights)))

    @property
    def _undecided(self) -> str:
        """That several equations are about as likely, if none has half of the weight; empty otherwise."""
        weights = [each.weight or 0.0 for each in self.equations]
        alike = sum(weight >= ALIKE * max(weights) for weight in weights)
        if max(weights) >= 0.5 or sum(weights) == 0 or alike < 2:
            return ""
        return f"{alike} equations describe the rows about as well; see their weights"

    @property
    def _why_no_weights(self) -> str:
        """Why equations that are compared by description length have no weights; empty if they have, or need none."""
        has_weights = any(each.weight is not None for each in self.equations)
        if has_weights or self.settings.selection not in BY_DESCRIPTION or not is_too_short(self.result):
            return ""
        return f"only {self.result.counts}, too few to say how likely each equation is; search longer"

    def standard_deviations(self, columns: Numbers, equation: Equation | None = None) -> Numbers:
        """Return the standard deviation of each prediction, including the uncertainty about the equation.

        It is the root of the weighted mean, over all equations, of the squared difference from the predictions of
        `equation` (the chosen one by default) plus the equation's own variance. An equation does not count in rows
        where it is undefined.
        """
        given = (self.best if equation is None else equation).predict(columns)
        likely = [each for each in self.equations if each.weight]
        if not likely:
            way = "search longer" if self._why_no_weights else "choose with selection mdl"
            raise SearchError(f"equations have no weights to compare them by; {way}")
        squares, total = np.zeros(len(given)), np.zeros(len(given))
        for each in likely:
            with np.errstate(all="ignore"):
                own = np.square(each.predict(columns) - given) + np.square(each.standard_deviations(columns))
            is_known = np.isfinite(own)
            squares += np.where(is_known, (each.weight or 0.0) * own, 0.0)
            total += np.where(is_known, each.weight or 0.0, 0.0)
        return np.sqrt(squares / np.where(total > 0, total, np.nan))

    def table(self) -> pandas.DataFrame:
        """Return one row for each equation; constants and standard errors are tuples, in prefix order."""
        import pandas

        return pandas.DataFrame([each.row() for each in self.equations], columns=list(Equation.COLUMNS))

    def __repr__(self) -> str:
        best = "nothing" if self.is_empty else str(self.best)
        return f"Discovery({best!r}, {len(self.equations)} equations)"

    def as_json(self) -> dict[str, Any]:
        """Return the equations and a summary of the search, as JSON."""
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


def is_too_short(result: SearchResult) -> bool:
    """Return whether a search was stopped before it had tried enough expressions to say how likely an equation is.

    A weight compares an equation with those that the search has found, and not with those it would have found.
    """
    return result.stopped in CUT_SHORT and result.counts.executed < LEAST_COMPARED
