"""`finish`: from a candidate of a search to the equation that is shown."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from edhie.arrays import Flags
from edhie.evaluate.constants.fitting import FitConfig, with_numbers
from edhie.evaluate.constants.polish import polish
from edhie.evaluate.data import Data
from edhie.evaluate.values import squared_errors, values
from edhie.expr import Expr, Forest
from edhie.expr.nodes import SUM, MissingSymbolError, Node, expr_of, operation, tree_of
from edhie.finish.arithmetic import added, factors, quotient, summands
from edhie.finish.digits import needed_digits
from edhie.finish.form import DEEPEST, Facts, expanded, normal_form, opened, plainly, tidied
from edhie.finish.known_curves import as_known, is_as_known, n_numbers, upright
from edhie.finish.numbers import spelling
from edhie.finish.redundant_constants import without_redundant_constants
from edhie.selection.between_rows import CANCELLING, cancellation
from edhie.selection.choice import FROM_HERE
from edhie.selection.description import Criterion, describe, least_variances, rounding_variances
from edhie.selection.noise import CONSTANT, NoiseModel, relative_weights
from edhie.selection.plain_numbers import exact_literals, literal_bits
from edhie.selection.refitting import refitted, with_plain_numbers

ROUNDS = 60  # after which an expression is taken as it is; nearly all take two or three
POLISHED_ROWS = 20_000  # with more rows constants are precise enough, and polishing takes long
POLISHES = 20  # in one round
WORTH = 0.05  # bits of the residuals that new constants have to save: long valleys have no end
SAME = 1e-9  # share of the sum of squares by which values may move
ROUNDING = 1e-24  # share of the target's sum of squares below which differences are rounding errors
CLOSE = 1e-7  # relative distance of a constant of an exact equation from the number that it is


@dataclass(frozen=True, eq=False)
class Finisher:
    """Finishing of equations for one table."""

    data: Data
    model: NoiseModel | None = CONSTANT
    """Constants are at the optimum of this noise model; None if they stay as they are."""
    criterion: Criterion = field(default_factory=Criterion)
    may_round: bool = True
    """True if plain numbers may replace constants where the loss rises and the description is shorter."""
    lower: float = -math.inf
    upper: float = math.inf
    """Bounds of constants."""

    def __call__(self, expr: Expr) -> Expr:
        """Return the expression in its final form, with all digits; finishing it again changes nothing.

        Constants are refitted, those that are plain numbers become such, and terms below rounding are left out. The sum
        of squares rises only by rounding, or where plain numbers make the description shorter.
        """
        if None in expr.constants or expr.height > DEEPEST or not math.isfinite(self.squares(expr)):
            return expr
        expr = expr.cast(opened(expr.library))
        seen: list[Expr] = []
        while len(seen) < ROUNDS and expr not in seen:
            seen.append(expr)
            expr = self._step(expr)
        cycle = seen[seen.index(expr) :] if expr in seen else [expr]
        return min(cycle, key=lambda each: (tree_of(each).cost, str(each)))

    def rewritten(self, expr: Expr) -> Expr:
        """Return the expression in normal form, its constants as they are but for those that are plain numbers."""
        if None in expr.constants or expr.height > DEEPEST:
            return expr
        one = Forest.from_exprs([expr.cast(opened(expr.library))])
        expr = with_numbers(one, np.isfinite(literal_bits(one.values)))[0]
        return self._shortest(expr, self._forms(expr))

    def squares(self, expr: Expr) -> float:
        """Return the sum of squared errors."""
        return float(squared_errors(Forest.from_exprs([expr]), self.data)[0])

    @cached_property
    def facts(self) -> Facts:
        """What the rows say of the variables."""
        return Facts.of(self.data.names, self.data.columns)

    @property
    def _config(self) -> FitConfig:
        return replace(FROM_HERE, lower=self.lower, upper=self.upper)

    @property
    def _may_fit(self) -> bool:
        return self.model is not None and self.data.n_rows <= POLISHED_ROWS

    def _step(self, expr: Expr) -> Expr:
        from edhie.finish.waves import unaliased  # loads mpmath

        expr = self._plain(self.refitted(expr))
        low = unaliased(expr, self.data, lower=self.lower, upper=self.upper, may_polish=self._may_fit)
        return self._without_negligible_terms(self._shortest(low, self._forms(low)))

    # -- constants --------------------------------------------------------------------

    def refitted(self, expr: Expr) -> Expr:
        """Move constants to the optimum if that is better by more than rounding errors."""
        if not self._may_fit or not expr.constants:
            return expr
        one = Forest.from_exprs([expr])
        if self.model is CONSTANT:
            return self._polished(one)[0]
        assert self.model is not None
        both = Forest.concatenate([one, refitted(one, self.data, self.model, self._config)])
        before, after = describe(both, self.data, self.criterion, (self.model,)).bits
        return both[1] if after < before - WORTH else expr

    def _polished(self, one: Forest) -> Forest:
        squares, least = squared_errors(one, self.data)[0], ROUNDING * self.data.squares_to_explain
        share = 2.0 ** (-2.0 * WORTH / self.data.n_rows)
        for _ in range(POLISHES):
            found = polish(one, self.data, lower=self.lower, upper=self.upper)
            if not found.squared_errors[0] < squares * share - least:
                break
            one, squares = found.forest, found.squared_errors[0]
        return one

    def _plain(self, expr: Expr) -> Expr:
        """Write constants as plain numbers where that is shorter to say, or where they print as such."""
        if not expr.constants or expr.size == 1:  # a constant by itself stays the mean
            return expr
        one = Forest.from_exprs([expr])
        if self._may_fit and self.model is not None:
            if self.may_round:
                one = with_plain_numbers(one, self.data, self.model, self.criterion, self._config)[0]
            one = self._exact(one)
        one = one.with_values(exact_literals(one.values))
        is_named = [spelling(value) is not None for value in one.values.tolist()]
        expr = with_numbers(one, np.isfinite(literal_bits(one.values)) | np.array(is_named))[0]
        rounded = np.array(needed_digits(expr, self.data).constants, np.float64)
        is_plain = np.isfinite(literal_bits(rounded))
        if is_plain.any() and self.may_round:
            found = np.where(is_plain, rounded, np.array(expr.constants, np.float64))
            one = Forest.from_exprs([expr.with_constants(found.tolist())])
            expr = with_numbers(one, np.isfinite(literal_bits(one.values)))[0]
        return expr

    def _exact(self, one: Forest) -> Forest:
        """Return an equation without residuals with the numbers that its constants are up to rounding."""
        least = float(least_variances(self.data, self.criterion).sum())
        if squared_errors(one, self.data)[0] > least:
            return one
        for k, value in enumerate(one.values.tolist()):
            for number in _numbers_near(value):
                is_held = np.arange(len(one.values)) == k
                start = one.with_values(np.where(is_held, number, one.values))
                other = refitted(start, self.data, CONSTANT, self._config)
                other = other.with_values(np.where(is_held, number, other.values))
                if squared_errors(other, self.data)[0] <= max(least, squared_errors(one, self.data)[0]):
                    one = other
                    break
        return one

    # -- form -------------------------------------------------------------------------

    def _forms(self, expr: Expr) -> list[Expr]:
        own = plainly(expr, self.facts)
        if is_as_known(own):
            own = tidied(upright(own))
            form = normal_form(own, self.facts)  # `a*exp(b*x) + c`, not `a*(exp(b*x) + c)`
            is_factored = tree_of(own).op not in SUM and tree_of(form).op in SUM
            return [form if is_factored and is_as_known(form) else own]
        known = as_known(own, self.data, lower=self.lower, upper=self.upper)
        if known is not None and self.is_same(expr, known := tidied(known)):
            return [known]
        form = normal_form(expr, self.facts)
        bare = without_redundant_constants(form, lower=self.lower, upper=self.upper)
        again = form if bare == form else normal_form(bare, self.facts)
        found = [again, form, expanded(again)]
        if self.criterion.forms is not None:  # a form that people know stays
            is_known = np.isfinite(self.criterion.forms.bits(Forest.from_exprs([own]))[0])
            found += [own] if is_known and n_numbers(own) <= n_numbers(again) else []
        return list(dict.fromkeys(found))

    def _shortest(self, expr: Expr, forms: Sequence[Expr]) -> Expr:
        """Return the form with the shortest description of those with the same values and no worse cancellation."""
        sound = [form for form in forms if self.is_same(expr, form)]
        if len(sound) < 2:
            return sound[0] if sound else tidied(expr)
        models = (self.model or CONSTANT,)
        bits = describe(Forest.from_exprs(sound, opened(sound[0].library)), self.data, self.criterion, models).bits
        return sound[int(np.argmin(np.round(bits, 6)))]

    def is_same(self, before: Expr, after: Expr) -> bool:
        """Return whether an expression has the values of another, no worse cancellation, and constants in bounds."""
        if before == after:
            return True
        if not self._have_values_of(before, [after])[0] or not self._is_within_bounds(before, after):
            return False
        return cancellation(after, self.data) <= max(CANCELLING, cancellation(before, self.data))

    def _have_values_of(self, expr: Expr, others: Sequence[Expr]) -> Flags:
        """Return which expressions have the values of another, but for rounding and much less than noise."""
        forest = Forest.from_exprs([expr, *others], opened(expr.library))
        rows = self.data.counting_rows
        with np.errstate(all="ignore"):
            first, *rest = values(forest, self.data.columns)
            weights = relative_weights(self.model or CONSTANT, first, self.data)
            own = np.ones(len(rows)) if weights is None else weights[rows]
            noise = float(own @ np.square(self.data.y - first)[rows]) / len(rows) / own
            negligible = SAME * noise + rounding_variances(self.data)[rows]
            moved = np.array([np.square(each - first)[rows] / negligible for each in rest])
        return np.asarray(moved.mean(axis=1) <= 1.0)

    def _is_within_bounds(self, before: Expr, after: Expr) -> bool:
        """Return whether constants with new absolute values are within the bounds."""
        known = {abs(value or 0.0) for value in before.constants} | {0.0, 1.0}
        new = [value for value in after.constants if value is not None and abs(value) not in known]
        return all(self.lower <= value <= self.upper for value in new)

    def _without_negligible_terms(self, expr: Expr) -> Expr:
        """Leave out terms and factors without which the values are the same."""
        while others := without_each_term(expr):
            is_same = self._have_values_of(expr, others)
            if not is_same.any():
                break
            expr = others[int(np.argmax(is_same))]
        return expr


def _numbers_near(value: float) -> list[float]:
    """Return numbers that people write and that a value is up to rounding, the plainest first."""
    named = spelling(value, reach=CLOSE * abs(value))
    short = [float(f"{value:.{digits}e}") for digits in range(4)]
    near = [each for each in short if abs(each - value) <= 1e-2 * CLOSE * abs(value)]
    return [*near[:1], *([named[0]] if named is not None else [])]


# -- shorter forms ------------------------------------------------------------------------


def without_each_term(expr: Expr) -> list[Expr]:
    """Return the expression without each term of a sum, and without each factor of a product, in turn.

    >>> from edhie.expr import parse
    >>> [str(each) for each in without_each_term(parse("x + 2*y"))]
    ['2*y', 'x', 'x + y', 'x + 2']
    """
    found: dict[Expr, None] = {}
    with suppress(MissingSymbolError):  # such as `neg`, where a column has this name
        for each in _shorter(tree_of(expr)):
            found[expr_of(each, expr.library)] = None
    return list(found)


def _shorter(node: Node) -> Iterator[Node]:
    if not node.operands:
        return
    if node.op in SUM:
        terms = summands(node)
        for k, (is_negative, term) in enumerate(terms):
            for instead in ([], *([(is_negative, other)] for other in _shorter(term))):
                yield added([*terms[:k], *instead, *terms[k + 1 :]])
    elif node.op in ("*", "/"):
        is_negative, *sides = factors(node)
        for place, side in enumerate(sides):
            for k, factor in enumerate(side):
                for new in ([], *([other] for other in _shorter(factor))):
                    changed = [*sides]
                    changed[place] = [*side[:k], *new, *side[k + 1 :]]
                    if changed[0]:
                        found = quotient(*changed)
                        yield operation("neg", found) if is_negative else found
    else:
        for k, operand in enumerate(node.operands):
            for other in _shorter(operand):
                yield node.over(*node.operands[:k], other, *node.operands[k + 1 :])
