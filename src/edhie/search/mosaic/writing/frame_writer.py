"""Frames and terms written as expressions for the target itself."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from edhie.evaluate.data import Data
from edhie.expr import Expr, SymbolLibrary
from edhie.search.arrays import Indices, Numbers
from edhie.search.mosaic.config import Coefficients
from edhie.search.mosaic.frames.frame import Frame, Term
from edhie.search.mosaic.writing.linear_fit import Fit, integer_coefficients, pruned_fit, refit_with, rounded
from edhie.search.pieces.spelling import LARGEST_WHOLE, Speller, UnwritableError

POWERS = {("1/",): -1.0, ("sqrt",): 0.5, ("1/", "sqrt"): -0.5, ("^2",): 2.0}
"""By head of a link: the power that it is, if it is one."""
Part = tuple[float, bool, Expr, Numbers]  # coefficient or exponent, whether it is an exponent, its expression, values


class FrameWriter:
    """Writes expressions over one library."""

    def __init__(self, library: SymbolLibrary, data: Data | None = None) -> None:
        """`data` are rows on which the expressions have to be defined."""
        self.speller = Speller(library, data)
        self._variables = list(map(self.speller.leaf, library.variables))
        columns = np.zeros((len(library.variables), 1)) if data is None else data.columns
        self._is_positive = [bool(column.min() > 0) for column in columns]

    def write(self, frame: Frame, extra: Sequence[Term] = ()) -> list[Expr]:
        """Return the expressions of a frame with further terms.

        The list is empty if the library cannot write it, and has several expressions if coefficients have to be
        rounded and the rounding is uncertain.
        """
        terms, scale = [*frame.terms, *extra], frame.free.row_scale
        own = np.array([each.regressor(frame.free) for each in terms]).reshape(len(terms), len(frame.target))
        columns, target = np.concatenate([frame.free.columns * scale, own]), frame.target * scale
        if not np.isfinite(columns).all():
            return []
        about = target - scale * (target @ scale) / (scale @ scale)
        fit = pruned_fit(columns, target, float(about @ about))
        readings = self._readings(frame, columns, target, fit, terms)
        return [expr for coefficients in readings for expr in self._exprs(frame, terms, fit.kept, coefficients)]

    def write_integers(self, frame: Frame, data: Data) -> list[Expr]:
        """Return expressions of a frame with integer coefficients; empty for products, and frames with terms.

        `data` are the rows of the frame.
        """
        if frame.free.is_product or frame.terms:
            return []
        columns, target = frame.free.columns * frame.free.row_scale, frame.target * frame.free.row_scale
        fit = pruned_fit(columns, target, float(target @ target))
        start = np.zeros(len(columns))
        start[fit.kept] = np.clip(np.round(fit.coefficients), -LARGEST_WHOLE, LARGEST_WHOLE)
        bits = math.log2(max(len(self.speller.library), 2))
        tried = integer_coefficients(frame, start, data, [share * bits for share in Coefficients.SYMBOL_PRICES])
        kept = [(found, np.flatnonzero(found)) for found in np.unique(tried, axis=0)]
        return [expr for found, its in kept for expr in self._exprs(frame, (), its, found[its])]

    # -- coefficients ---------------------------------------------------------------------

    def _readings(
        self, frame: Frame, columns: Numbers, target: Numbers, fit: Fit, terms: Sequence[Term]
    ) -> list[Numbers]:
        """Return the coefficients to write: as fitted, or rounded if the library has no constants."""
        if frame.free.is_product:
            return self._powers(frame, columns, target, fit, terms)
        if self.speller.is_free:
            return [fit.coefficients]
        plain = [rounded(c, e) for c, e in zip(fit.coefficients, fit.errors, strict=True)]
        readings = [np.array(plain)] if all(p is not None for p in plain) else []
        nearest = np.round(fit.coefficients)
        if not any(np.array_equal(nearest, r) for r in readings) and nearest.any():
            readings.append(nearest)
        return readings

    def _powers(
        self, frame: Frame, columns: Numbers, target: Numbers, fit: Fit, terms: Sequence[Term]
    ) -> list[Numbers]:
        """Return coefficients with exponents rounded to multiples of 1/2 and the others refitted, if that fits as well.

        Otherwise return them as fitted, or nothing if the library has no constants.
        """
        n_free = len(frame.free.exponents)
        fixed = {}
        for k, column in enumerate(fit.kept):
            if 0 < column < n_free or (column >= n_free and terms[column - n_free].is_log):
                plain = rounded(fit.coefficients[k], fit.errors[k], denominators=Coefficients.HALVES)
                if plain is not None:
                    fixed[k] = plain
        if fixed:
            coefficients, left = refit_with(columns, target, fit, fixed)
            if left <= max(1e-17 * fit.total, fit.left * (1 + 10 * np.log(len(target)) / len(target))):
                return [coefficients]
        return [fit.coefficients] if self.speller.is_free else []

    # -- expressions ----------------------------------------------------------------------

    def _exprs(self, frame: Frame, terms: Sequence[Term], kept: Indices, coefficients: Numbers) -> list[Expr]:
        """Return a frame with its coefficients as an expression; an empty list if the library cannot write it."""
        try:
            return [self._undone(frame, self._inner(frame, terms, kept, coefficients))]
        except UnwritableError:
            return []

    def _inner(self, frame: Frame, terms: Sequence[Term], kept: Indices, coefficients: Numbers) -> Expr:
        free, n_free = frame.free, len(frame.free.exponents)
        constant = 0.0
        parts: list[Part] = []
        for column, c in zip(kept.tolist(), coefficients.tolist(), strict=True):
            if c == 0.0:
                continue
            if column == 0:
                constant = c
            elif column < n_free:
                exponents = free.exponents[column]
                values = np.prod(free.variables ** exponents[:, np.newaxis], axis=0)
                parts.append((c, free.is_product, self.speller.monomial(exponents.tolist()), values))
            else:
                term = terms[column - n_free]
                parts.append((c, term.is_log, term.piece[0], term.values))
        if free.is_product:
            return self._product(constant, parts, frame)
        return self.speller.sum([(c, expr) for c, _, expr, _ in parts], constant)

    def _product(self, constant: float, parts: list[Part], frame: Frame) -> Expr:
        """Return a product of powers; its sign in the first row is that of the frame."""
        powers: list[tuple[float, Expr]] = []
        exponent: list[tuple[float, Expr]] = []
        sign = frame.sign
        for c, is_log, expr, values in parts:
            if not is_log:
                exponent.append((c, expr))
                continue
            if c == round(c):
                sign *= -1.0 if c % 2 and values[0] < 0 else 1.0
            elif (values < 0).all():
                expr = self.speller.negative(expr)
            powers.append((c, expr))
        if exponent:
            powers.append((1.0, self.speller.over("exp", self.speller.sum(exponent))))
        if abs(constant) > Coefficients.LARGEST_LOGARITHM:
            raise UnwritableError("the factor")
        return self.speller.product(powers, sign * float(np.exp(constant)))

    def _undone(self, frame: Frame, inner: Expr) -> Expr:
        """Return the inner expression with the frame's scale, link and guess undone.

        Powers of the scale are written outside the inverse of the link where that is possible.
        """
        head, power = frame.link.head, POWERS.get(frame.link.head)
        outside, inside = [], []
        for exponent, variable, is_positive in zip(frame.scale, self._variables, self._is_positive, strict=True):
            outer = 0.5 if power is None else -exponent * power
            if exponent and outer == round(outer) and (is_positive or power in (-1.0, 2.0)):
                outside.append((outer, variable))
            elif exponent:
                inside.append((-float(exponent), variable))
        expr = self.speller.product([(1.0, inner), *inside]) if inside else inner
        if outside and head[0] == "1/":
            expr = self.speller.product([*outside, (-1.0, self.speller.headed(head[1:], expr))])
        elif outside:
            expr = self.speller.product([*outside, (1.0, self.speller.headed(head, expr))])
        else:
            expr = self.speller.headed(head, expr)
        expr = self.speller.negative(expr) if frame.link.is_even and frame.sign < 0 else expr
        if frame.around is None:
            return expr
        operator, guess = frame.around
        return self.speller.over(operator, guess[0], expr)
