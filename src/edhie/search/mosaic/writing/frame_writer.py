"""From a frame and pieces to an expression for the target itself."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.data import Data
from edhie.expr import Expr, SymbolLibrary
from edhie.search.mosaic.frames.frame import Frame, Laid, laid_regressor
from edhie.search.mosaic.writing.integer_fit import whole_coefficients
from edhie.search.mosaic.writing.linear_fit import Fit, pruned_fit, refit_with, rounded
from edhie.search.pieces.spelling import LARGEST_WHOLE, Speller, UnwritableError, Words

Numbers = NDArray[np.float64]
HALVES = (1, 2)
SYMBOL_PRICES = (1.0, 0.3, 0.0)  # as shares of what a symbol costs in bits
LARGEST_LOGARITHM = 300.0  # of a factor
POWERS = {("1/",): -1.0, ("sqrt",): 0.5, ("1/", "sqrt"): -0.5, ("^2",): 2.0}
"""The power that heads are, where they are one."""
Part = tuple[float, bool, Words, Numbers]  # coefficient or exponent, whether it is one, what, its values


class FrameWriter:
    """Writes expressions over one library."""

    def __init__(self, library: SymbolLibrary, data: Data | None = None) -> None:
        """`data` are what the expressions have to be defined on."""
        self.speller = Speller(library, data)
        self._variables = [Words((name,)) for name in library.variables]
        columns = np.zeros((len(library.variables), 1)) if data is None else data.columns
        self._is_positive = [bool(column.min() > 0) for column in columns]

    def write(self, frame: Frame, extra: Sequence[Laid] = ()) -> list[Expr]:
        """What a frame says with further pieces: none where it cannot be written, several where numbers are unsure."""
        laid = [*frame.laid, *extra]
        block = frame.block
        own = [laid_regressor(each, block) for each in laid]
        columns = np.concatenate([block.columns * block.row_scale, np.array(own).reshape(len(own), len(frame.target))])
        target = frame.target * block.row_scale
        if not np.isfinite(columns).all():
            return []
        about = target - block.row_scale * (target @ block.row_scale) / (block.row_scale @ block.row_scale)
        fit = pruned_fit(columns, target, float(about @ about))
        found = []
        for coefficients in self._readings(frame, columns, target, fit, laid):
            try:
                words = self._words(frame, laid, fit.kept, coefficients)
            except UnwritableError:
                continue
            found.append(self.speller.expr(words))
        return found

    def write_whole(self, frame: Frame, data: Data) -> list[Expr]:
        """What a frame without pieces says with whole coefficients; `data` are its rows."""
        if frame.block.is_product or frame.laid:
            return []
        columns, target = frame.block.columns * frame.block.row_scale, frame.target * frame.block.row_scale
        fit = pruned_fit(columns, target, float(target @ target))
        start = np.zeros(len(columns))
        start[fit.kept] = np.clip(np.round(fit.coefficients), -LARGEST_WHOLE, LARGEST_WHOLE)
        bits = math.log2(max(len(self.speller.library), 2))
        tried = whole_coefficients(frame, start, data, [share * bits for share in SYMBOL_PRICES])
        written = []
        for found in np.unique(tried, axis=0):
            kept = np.flatnonzero(found)
            try:
                written.append(self.speller.expr(self._words(frame, (), kept, found[kept])))
            except UnwritableError:
                continue
        return written

    # -- numbers --------------------------------------------------------------------------

    def _readings(
        self, frame: Frame, columns: Numbers, target: Numbers, fit: Fit, laid: Sequence[Laid]
    ) -> list[Numbers]:
        """The coefficients to write: as they are, or rounded where they have to be plain."""
        if frame.block.is_product:
            return self._powers(frame, columns, target, fit, laid)
        if self.speller.is_free:
            return [fit.coefficients]
        plain = [rounded(c, e) for c, e in zip(fit.coefficients, fit.errors, strict=True)]
        readings = [np.array(plain)] if all(p is not None for p in plain) else []
        nearest = np.round(fit.coefficients)
        if not any(np.array_equal(nearest, r) for r in readings) and nearest.any():
            readings.append(nearest)
        return readings

    def _powers(self, frame: Frame, columns: Numbers, target: Numbers, fit: Fit, laid: Sequence[Laid]) -> list[Numbers]:
        """Exponents as multiples of a half where that does as well; the other coefficients follow."""
        n_block = len(frame.block.exponents)
        fixed = {}
        for k, column in enumerate(fit.kept):
            is_power = 0 < column < n_block or (column >= n_block and laid[column - n_block].is_log)
            if not is_power:
                continue
            plain = rounded(fit.coefficients[k], fit.errors[k], denominators=HALVES)
            if plain is not None:
                fixed[k] = plain
        readings = []
        if fixed:
            coefficients, left = refit_with(columns, target, fit, fixed)
            if left <= max(1e-17 * fit.total, fit.left * (1 + 10 * np.log(len(target)) / len(target))):
                readings.append(coefficients)
        if not readings and self.speller.is_free:
            readings.append(fit.coefficients)
        return readings

    # -- words ----------------------------------------------------------------------------

    def _words(self, frame: Frame, laid: Sequence[Laid], kept: NDArray[np.int64], coefficients: Numbers) -> Words:
        n_block = len(frame.block.exponents)
        constant = 0.0
        parts: list[Part] = []
        for column, c in zip(kept.tolist(), coefficients.tolist(), strict=True):
            if c == 0.0:
                continue
            if column == 0:
                constant = c
            elif column < n_block:
                words, values = self._monomial(frame.block.exponents[column], frame.block.variables)
                parts.append((c, frame.block.is_product, words, values))
            else:
                each = laid[column - n_block]
                parts.append((c, each.is_log, Words.of(each.piece[0]), each.values))
        inner = (
            self._product(constant, parts, frame)
            if frame.block.is_product
            else self.speller.sum([(c, words) for c, _, words, _ in parts], constant)
        )
        return self._undone(frame, inner)

    def _product(self, constant: float, parts: list[Part], frame: Frame) -> Words:
        """A product of powers; its sign is that of the target in the first row."""
        powers: list[tuple[float, Words]] = []
        exponent: list[tuple[float, Words]] = []
        sign = frame.sign
        for c, is_log, words, values in parts:
            if not is_log:
                exponent.append((c, words))
                continue
            if c == round(c):
                sign *= -1.0 if c % 2 and values[0] < 0 else 1.0
            elif (values < 0).all():
                words = self.speller.negative(words)
            powers.append((c, words))
        if exponent:
            powers.append((1.0, self.speller.over("exp", self.speller.sum(exponent))))
        if abs(constant) > LARGEST_LOGARITHM:
            raise UnwritableError("the factor")
        return self.speller.product(powers, sign * float(np.exp(constant)))

    def _monomial(self, exponents: NDArray[np.int64], variables: Numbers) -> tuple[Words, Numbers]:
        powers = [(float(e), words) for e, words in zip(exponents.tolist(), self._variables, strict=True) if e]
        return self.speller.product(powers), np.prod(variables ** exponents[:, np.newaxis], axis=0)

    def _undone(self, frame: Frame, inner: Words) -> Words:
        """The inner part with the scale taken off and the link undone, behind the guess that the frame is around."""
        words = self._headed(frame, inner)
        words = self.speller.negative(words) if frame.link.is_even and frame.sign < 0 else words
        if frame.around is None:
            return words
        operator, guess = frame.around
        return self.speller.over(operator, Words.of(guess[0]), words)

    def _headed(self, frame: Frame, inner: Words) -> Words:
        """The inner part with scale and link undone; powers of the scale stand outside of the link where they can."""
        head, power = frame.link.head, POWERS.get(frame.link.head)
        outside, inside = [], []
        for exponent, variable, is_positive in zip(frame.scale, self._variables, self._is_positive, strict=True):
            outer = 0.5 if power is None else -exponent * power
            if exponent and outer == round(outer) and (is_positive or power in (-1.0, 2.0)):
                outside.append((outer, variable))
            elif exponent:
                inside.append((-float(exponent), variable))
        inner = self.speller.product([(1.0, inner), *inside]) if inside else inner
        if not outside:
            return self.speller.headed(head, inner)
        if head[0] == "1/":
            return self.speller.product([*outside, (-1.0, self.speller.headed(head[1:], inner))])
        return self.speller.product([*outside, (1.0, self.speller.headed(head, inner))])
