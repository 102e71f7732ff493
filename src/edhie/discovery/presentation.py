"""Candidates as they are shown: constants at the bottom of their valley, none too many, in plain form.

It depends on the candidates and the data alone, so a discovery that is read from a folder has the same equations to
the last digit.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.constants.cancellation import CANCELLING, cancellation
from edhie.evaluate.constants.jacobian import constants_among_values
from edhie.evaluate.constants.polish import polish
from edhie.evaluate.data import Data
from edhie.evaluate.losses import LOSSES, Loss
from edhie.evaluate.values import squared_errors, values
from edhie.expr import Expr, Forest
from edhie.expr.readable import readable_form, short_form, without_redundant_constants
from edhie.results import Candidates
from edhie.results.choice import FROM_HERE
from edhie.results.noise import STUDENT
from edhie.results.refits import refitted

Numbers = NDArray[np.float64]
POLISHED_ROWS = 20_000  # of more rows constants are known well enough, and polishing takes long
POLISHES = 3
WORTH = 1e-10  # the share by which a sum of squares has to fall for constants to change
SAME = 1e-9  # the share by which it may rise for a form that reads better
ROUNDING = 1e-24  # of the target's squares: less is as good as nothing

Bounds = tuple[float, float]
UNBOUNDED: Bounds = (-math.inf, math.inf)


@dataclass(frozen=True)
class Manner:
    """What candidates of one search may become."""

    loss: Loss | None
    """What their errors are; None for one whose optimum cannot be found anew, such as a user's function."""
    lower: float
    """The least that a constant may be."""
    upper: float
    is_weighed: bool
    """Whether symbols weigh differently, so that other symbols would make for another complexity."""
    may_polish: bool
    """Whether constants may go to the optimum of the loss, or of a noise model."""
    may_rewrite: bool


SIGNED = frozenset(("sqrt", "abs", "log", "^"))  # operators that have shorter writings over positive variables
AS_IT_IS = Manner(None, -math.inf, math.inf, is_weighed=False, may_polish=False, may_rewrite=False)


def manner_of(
    candidates: Candidates, data: Data, *, strategy: str, keeps_form: bool, loss: str | None, bounds: Bounds = UNBOUNDED
) -> Manner:
    """Return what candidates may become; `loss` is the name of their loss, None for a function of the user's."""
    forest, is_template = candidates.forest, strategy == "template"
    has_constants = bool(np.isfinite(forest.values[constants_among_values(forest)]).any())
    known = None if loss is None else LOSSES[loss]
    can_fit = known is not None and (known.from_sum_of_squares is not None or _is_robust(known))
    return Manner(
        loss=known if can_fit else None,
        lower=bounds[0],
        upper=bounds[1],
        is_weighed=bool((candidates.complexities != forest.sizes).any()),
        # a part that a template has twice has the same constants in both places
        may_polish=data.n_rows <= POLISHED_ROWS and not is_template and can_fit and has_constants,
        may_rewrite=not (is_template or keeps_form),
    )


def _is_robust(loss: Loss | None) -> bool:
    return loss is not None and loss.name == STUDENT.name


def presented(candidates: Candidates, data: Data, manner: Manner) -> Candidates:
    """The candidates as they are shown, in the same order."""
    if len(candidates) == 0:
        return candidates
    forest = _polished(candidates.forest, data, manner) if manner.may_polish else candidates.forest
    exprs = tidied(list(forest), data, manner) if manner.may_rewrite else list(forest)
    changed = [k for k, expr in enumerate(exprs) if expr != candidates.forest[k]]
    errors, complexities = candidates.errors.copy(), candidates.complexities.copy()
    found = Forest.from_exprs(exprs, forest.library)
    if changed and manner.loss is not None:
        errors[changed] = _errors(found.take(changed), data, manner.loss)
    if changed and not manner.is_weighed:
        complexities[changed] = found.take(changed).sizes
    return replace(candidates, forest=found, errors=errors, complexities=complexities)


def _errors(forest: Forest, data: Data, loss: Loss) -> Numbers:
    if loss.from_sum_of_squares is not None:
        return loss.from_sum_of_squares(squared_errors(forest, data), data)
    return np.array([loss.of_values(data.y, row, data.weights) for row in values(forest, data.columns)])


def tidied(exprs: list[Expr], data: Data, manner: Manner) -> list[Expr]:
    """Expressions in the form that people write, of the same values but for rounding: low phases, no redundancy."""
    return _rewritten(_low_phases(exprs, data, manner), data, manner)


def _polished(forest: Forest, data: Data, manner: Manner) -> Forest:
    """Constants at the optimum of the loss, where that lowers it by more than rounding."""
    if not len(forest.values):
        return forest
    if _is_robust(manner.loss):
        return refitted(forest, data, STUDENT, replace(FROM_HERE, lower=manner.lower, upper=manner.upper))
    least = ROUNDING * data.squares_to_explain
    current, squares = forest, squared_errors(forest, data)
    for _ in range(POLISHES):
        found = polish(current, data, lower=manner.lower, upper=manner.upper)
        is_better = found.squared_errors < squares * (1.0 - WORTH) - least
        if not is_better.any():
            break
        by_value = np.repeat(is_better, np.diff(current.value_offsets))
        values = np.where(by_value, found.forest.values, current.values)
        current = Forest(current.library, current.tokens, current.offsets, values)
        squares = np.where(is_better, found.squared_errors, squares)
    return current


def _low_phases(exprs: list[Expr], data: Data, manner: Manner) -> list[Expr]:
    """Each with the phases of its waves within one turn, and without aliases."""
    from edhie.evaluate.constants.phases import unaliased  # which loads mpmath

    may_polish = manner.may_polish and not _is_robust(manner.loss)  # by least squares
    found = [unaliased(each, data, lower=manner.lower, upper=manner.upper, may_polish=may_polish) for each in exprs]
    return [new if _is_sayable(manner, old, new) else old for old, new in zip(exprs, found, strict=True)]


def _rewritten(exprs: list[Expr], data: Data, manner: Manner) -> list[Expr]:
    """Each in the best form that leaves its sum of squares as it is."""
    positive = [name for name, column in zip(data.names, data.columns, strict=True) if (column > 0).all()]
    least = ROUNDING * data.squares_to_explain
    found = []
    for expr in exprs:
        forms = [expr, *_forms(expr, manner, positive)]
        before, *after = squared_errors(Forest.from_exprs(forms), data)
        fitting = [
            form
            for form, error in zip(forms[1:], after, strict=True)
            if error <= before * (1.0 + SAME) + least
            and _is_sayable(manner, expr, form)
            and _is_within_bounds(manner, expr, form)
        ]
        steady = max(CANCELLING, cancellation(expr, data)) if fitting else math.inf
        found.append(next((form for form in fitting if cancellation(form, data) <= steady), expr))
    return found


def _forms(expr: Expr, manner: Manner, positive: list[str]) -> list[Expr]:
    """Forms of an expression, the best first: of least size, without redundant constants, of widest domain."""
    bare = without_redundant_constants(expr, lower=manner.lower, upper=manner.upper)
    wide = narrow = short_form(bare, more_numbers=False)
    if positive and not SIGNED.isdisjoint(bare.tokens):
        narrow = short_form(bare, positive=positive, more_numbers=False)
    # a form that holds for positive values only has to be shorter
    first = [narrow, wide] if narrow.size < wide.size else [wide]
    again = [
        without_redundant_constants(each, lower=manner.lower, upper=manner.upper) for each in first if each != bare
    ]
    return [*again, bare, readable_form(expr)]


def _is_within_bounds(manner: Manner, before: Expr, after: Expr) -> bool:
    """Whether constants that are new, but for their signs, are within bounds."""
    known = {abs(value or 0.0) for value in before.constants} | {0.0, 1.0}
    new = [value for value in after.constants if value is not None and abs(value) not in known]
    return all(manner.lower <= value <= manner.upper for value in new)


def _is_sayable(manner: Manner, before: Expr, after: Expr) -> bool:
    """Whether the new form has the complexity that the search has counted, where only that knows it."""
    if not manner.is_weighed:
        return True
    symbols = (Counter("+" if token == "-" else token for token in each.tokens) for each in (before, after))
    return next(symbols) == next(symbols)
