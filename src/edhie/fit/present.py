"""Rewrite expressions for readers: with optimal constants, none of them redundant, in the shortest readable form.

A rewritten expression has the same sum of squares on the data, up to rounding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.complexity import complexity
from edhie.evaluate.constants.cancellation import CANCELLING, cancellation
from edhie.evaluate.constants.jacobian import constants_among_values
from edhie.evaluate.constants.polish import polish
from edhie.evaluate.data import Data
from edhie.evaluate.losses import LOSSES, Loss
from edhie.evaluate.values import squared_errors, values
from edhie.expr import Expr, Forest
from edhie.expr.readable import (
    named_numbers,
    readable_form,
    short_form,
    without_redundant_constants,
    without_roots_of_squares,
)
from edhie.fit.settings import Settings
from edhie.results import Candidates
from edhie.selection.choice import FROM_HERE
from edhie.selection.noise import CONSTANT, STUDENT
from edhie.selection.refitting import refitted

Numbers = NDArray[np.float64]
POLISHED_ROWS = 20_000  # with more rows constants are precise enough, and polishing takes long
POLISHES = 3
WORTH = 1e-10  # relative decrease of the sum of squares for which constants change
SAME = 1e-9  # relative increase of the sum of squares that is allowed for a more readable form
ROUNDING = 1e-24  # share of the target's sum of squares below which differences are rounding errors
SIGNED = frozenset(("sqrt", "abs", "log", "^"))  # operators that have shorter forms over positive variables


@dataclass(frozen=True, eq=False)
class Presenter:
    """Rewrite the candidates of one search."""

    data: Data
    loss: Loss | None
    """The loss of the candidates; None for one that cannot be optimised here, such as a user's function."""
    lower: float
    upper: float
    """Bounds of constants."""
    weights: Mapping[str, float] | None
    """Weights of symbols in the complexity."""
    may_polish: bool
    """True if constants may move to the optimum of the loss or of a noise model."""
    may_rewrite: bool
    """True if the form may change."""
    template: str | None = None
    """The template, of which only the unknown parts may change their form."""

    @classmethod
    def of(cls, settings: Settings, data: Data, candidates: Candidates) -> Presenter:
        """Return the presenter for the candidates of a search with these settings."""
        fitted = candidates.forest.values[constants_among_values(candidates.forest)]
        loss = None if settings.loss_name is None else LOSSES[settings.loss_name]
        if loss is not None and loss.from_sum_of_squares is None and loss.name != STUDENT.name:
            loss = None
        may_polish = data.n_rows <= POLISHED_ROWS and loss is not None and bool(np.isfinite(fitted).any())
        return cls(
            data,
            loss,
            settings.constants.lower,
            settings.constants.upper,
            settings.complexity,
            # constants of a part that occurs twice in a template have to stay equal
            may_polish=may_polish and not settings.is_template,
            may_rewrite=not settings.keeps_form,
            template=settings.template if settings.constraints is None else None,
        )

    def present(self, candidates: Candidates) -> Candidates:
        """Return the candidates as they are shown, in the same order."""
        if len(candidates) == 0:
            return candidates
        forest = self._polished(candidates.forest) if self.may_polish else candidates.forest
        exprs = self.tidy(list(forest))
        changed = [k for k, expr in enumerate(exprs) if expr != candidates.forest[k]]
        errors, complexities = candidates.errors.copy(), candidates.complexities.copy()
        found = Forest.from_exprs(exprs, forest.library)
        if changed:
            complexities[changed] = complexity(found.take(changed), self.weights)
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
        return float(complexity(Forest.from_exprs([expr]), self.weights)[0])

    def tidy(self, exprs: list[Expr]) -> list[Expr]:
        """Return expressions with phases within one turn, no aliases and no redundant constants, if that is allowed."""
        if self.template is not None:
            return [self._rewritten(expr) for expr in exprs]
        if not self.may_rewrite:
            return exprs
        from edhie.evaluate.constants.phases import unaliased  # loads mpmath

        polishes = self.may_polish and not self._is_robust  # by least squares
        found = []
        for expr in exprs:
            low = unaliased(expr, self.data, lower=self.lower, upper=self.upper, may_polish=polishes)
            found.append(self._rewritten(low if self.complexity(low) <= self.complexity(expr) else expr))
        return found

    @property
    def _is_robust(self) -> bool:
        return self.loss is not None and self.loss.name == STUDENT.name

    def refitted(self, forest: Forest, data: Data) -> Forest:
        """Return expressions with constants fitted to other data, starting from their values."""
        model = STUDENT if self._is_robust else CONSTANT
        return refitted(forest, data, model, replace(FROM_HERE, lower=self.lower, upper=self.upper))

    def _polished(self, forest: Forest) -> Forest:
        """Move constants to the optimum of the loss if that lowers it by more than rounding errors."""
        if not len(forest.values):
            return forest
        if self._is_robust:
            return self.refitted(forest, self.data)
        least = ROUNDING * self.data.squares_to_explain
        current, squares = forest, squared_errors(forest, self.data)
        for _ in range(POLISHES):
            found = polish(current, self.data, lower=self.lower, upper=self.upper)
            is_better = found.squared_errors < squares * (1.0 - WORTH) - least
            if not is_better.any():
                break
            by_value = np.repeat(is_better, np.diff(current.value_offsets))
            constants = np.where(by_value, found.forest.values, current.values)
            current = Forest(current.library, current.tokens, current.offsets, constants)
            squares = np.where(is_better, found.squared_errors, squares)
        return current

    def _rewritten(self, expr: Expr) -> Expr:
        """Return the first form with the same sum of squares, no worse cancellation and constants within bounds."""
        forms = [expr, *self._forms(expr)]
        before, *after = squared_errors(Forest.from_exprs(forms), self.data)
        most = before * (1.0 + SAME) + ROUNDING * self.data.squares_to_explain
        fitting = [
            form
            for form, error in zip(forms[1:], after, strict=True)
            if error <= most
            and (self.weights is None or self.complexity(form) <= self.complexity(expr))
            and self._is_within_bounds(expr, form)
        ]
        return _without_cancellation(expr, fitting, self.data)

    def _forms(self, expr: Expr) -> list[Expr]:
        """Return forms of an expression: short ones without redundant constants first, then that of widest domain."""
        if self.template is not None:
            from edhie.fit.template import with_short_parts

            return [with_short_parts(expr, self.template, lower=self.lower, upper=self.upper)]
        expr = self._without_roots_of_squares(expr)
        bare = without_redundant_constants(expr, lower=self.lower, upper=self.upper)
        first = _shortest_first(bare, self.data, more_numbers=False)
        again = [
            without_redundant_constants(each, lower=self.lower, upper=self.upper) for each in first if each != bare
        ]
        return [*again, bare, readable_form(expr)]

    def _without_roots_of_squares(self, expr: Expr) -> Expr:
        """Return the expression with a*sqrt(b) for sqrt(a^2*b), or its opposite, if all rows have the same values."""
        forms = [each for each in without_roots_of_squares(expr) if each.size <= expr.size]
        if not forms:
            return expr
        before, *after = squared_errors(Forest.from_exprs([expr, *forms]), self.data)
        least = ROUNDING * self.data.squares_to_explain
        same = (form for form, error in zip(forms, after, strict=True) if error <= before * (1.0 + SAME) + least)
        return next(same, expr)

    def _is_within_bounds(self, before: Expr, after: Expr) -> bool:
        """Return whether constants with new absolute values are within the bounds."""
        known = {abs(value or 0.0) for value in before.constants} | {0.0, 1.0}
        new = [value for value in after.constants if value is not None and abs(value) not in known]
        return all(self.lower <= value <= self.upper for value in new)


def printed_form(expr: Expr, data: Data) -> Expr:
    """Return an expression as it is printed and exported: in its shortest form, with names such as pi for numbers.

    Numbers of the form are not constants: the library has them beside its own symbols.
    """
    if None in expr.constants:
        return expr
    short = _shortest_first(expr.cast(expr.library.with_numbers()), data, more_numbers=True)
    forms = [named_numbers(each) for each in (*(each for each in short if each != expr), expr)]
    before, *after = (float(squared_errors(Forest.from_exprs([each]), data)[0]) for each in (expr, *forms))
    slack = SAME * before + ROUNDING * data.squares_to_explain
    same = [error == before or abs(error - before) <= slack for error in after]
    return _without_cancellation(expr, [form for form, is_same in zip(forms, same, strict=True) if is_same], data)


def _shortest_first(expr: Expr, data: Data, *, more_numbers: bool) -> list[Expr]:
    """Return short forms; one that holds for positive variables only comes first if the data allow it."""
    wide = short_form(expr, more_numbers=more_numbers)
    positive = [name for name, column in zip(data.names, data.columns, strict=True) if (column > 0).all()]
    if not positive or SIGNED.isdisjoint(expr.tokens):
        return [wide]
    narrow = short_form(expr, positive=positive, more_numbers=more_numbers)
    return [narrow, wide] if narrow.size < wide.size else [wide]


def _without_cancellation(expr: Expr, forms: list[Expr], data: Data) -> Expr:
    """Return the first form in which cancellation is not worse than before; else the expression itself."""
    steady = max(CANCELLING, cancellation(expr, data)) if forms else 0.0
    return next((form for form in forms if cancellation(form, data) <= steady), expr)
