"""How the settings of a fit finish its equations: which may be refitted, and which may change their form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import numpy as np

from edhie.arrays import Numbers
from edhie.evaluate.constants.jacobian import constants_among_values
from edhie.evaluate.constraints import complexity
from edhie.evaluate.data import Data
from edhie.evaluate.losses import LOSSES
from edhie.evaluate.values import squared_errors, values
from edhie.expr import Expr, Forest
from edhie.finish import POLISHED_ROWS, Finisher
from edhie.fit.settings import Settings
from edhie.results import Candidates
from edhie.selection.description import Criterion
from edhie.selection.noise import CONSTANT, STUDENT, NoiseModel


class Presenter:
    """Finish the candidates of one search, by its settings; without a criterion, forms are compared by the default."""

    def __init__(
        self, settings: Settings, data: Data, candidates: Candidates, criterion: Criterion | None = None
    ) -> None:
        self.settings, self.data, self.criterion = settings, data, criterion or Criterion()
        fitted = candidates.forest.values[constants_among_values(candidates.forest)]
        loss = None if settings.loss_name is None else LOSSES[settings.loss_name]
        is_optimised = loss is not None and (loss.from_sum_of_squares is not None or loss.name == STUDENT.name)
        self.loss = loss if is_optimised else None
        """The loss of the candidates; None for one that cannot be optimised here, such as a user's function."""
        # constants of a part that occurs twice in a template have to stay equal
        may_move = data.n_rows <= POLISHED_ROWS and not settings.is_template
        self.may_polish = may_move and is_optimised and bool(np.isfinite(fitted).any())
        """True if constants may move to the optimum of the loss or of a noise model."""

    def present(self, candidates: Candidates) -> Candidates:
        """Return the candidates as they are shown, in the same order."""
        if len(candidates) == 0:
            return candidates
        is_robust = self.loss is not None and self.loss.name == STUDENT.name
        finisher = self.finisher(STUDENT if is_robust else CONSTANT, may_round=False)
        exprs = self.tidy([finisher.refitted(each) for each in candidates.forest], finisher)
        changed = [k for k, expr in enumerate(exprs) if expr != candidates.forest[k]]
        errors, complexities = candidates.errors.copy(), candidates.complexities.copy()
        found = Forest.from_exprs(exprs)
        if changed:
            complexities[changed] = complexity(found.take(changed), self.settings.complexity)
            errors[changed] = errors[changed] if self.loss is None else self.errors(found.take(changed))
        return replace(candidates, forest=found, errors=errors, complexities=complexities)

    def errors(self, forest: Forest) -> Numbers:
        """Return the loss of each expression; the loss must be known."""
        assert self.loss is not None
        if self.loss.from_sum_of_squares is not None:
            return self.loss.from_sum_of_squares(squared_errors(forest, self.data), self.data)
        predicted = values(forest, self.data.columns)
        return np.array([self.loss.of_values(self.data.y, row, self.data.weights) for row in predicted])

    def complexity(self, expr: Expr) -> float:
        """Return the complexity of an expression."""
        return float(complexity(Forest.from_exprs([expr]), self.settings.complexity)[0])

    def finisher(self, model: NoiseModel, *, may_round: bool = True) -> Finisher:
        """Return what finishes equations whose constants are at the optimum of a noise model."""
        fits, bounds = model if self.may_polish else None, self.settings.constants
        return Finisher(self.data, fits, self.criterion, may_round, bounds.lower, bounds.upper)

    @cached_property
    def rewrite(self) -> Callable[[Expr], Expr] | None:
        """What writes an equation in normal form, without new constants; None if forms have to stay."""
        return self.finisher(CONSTANT).rewritten if not self.settings.keeps_form else None

    def tidy(self, exprs: list[Expr], finisher: Finisher) -> list[Expr]:
        """Return equations in their final form, as far as that is allowed."""
        settings = self.settings
        if settings.template is not None and settings.constraints is None:
            from edhie.fit.template import with_short_parts

            lower, upper = settings.constants.lower, settings.constants.upper
            short = [with_short_parts(each, settings.template, lower=lower, upper=upper) for each in exprs]
            return [new if finisher.is_same(old, new) else old for old, new in zip(exprs, short, strict=True)]
        if settings.keeps_form:
            return exprs
        final = [finisher(each) for each in exprs]
        if settings.complexity is None:
            return final
        return [
            new if self.complexity(new) <= self.complexity(old) else old for old, new in zip(exprs, final, strict=True)
        ]
