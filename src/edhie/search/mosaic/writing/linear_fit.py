"""Coefficients of columns: least squares with few of them, plain fractions, and whole numbers where no others exist."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from edhie.evaluate.data import Data
from edhie.search.arrays import Indices, Numbers
from edhie.search.mosaic.config import Coefficients
from edhie.search.mosaic.frames.frame import Frame
from edhie.selection.description import residual_bits


@dataclass(frozen=True)
class Fit:
    """A linear fit: the columns that are kept, and their coefficients."""

    kept: Indices
    coefficients: Numbers
    errors: Numbers
    """Standard errors of the coefficients."""
    left: float
    """The sum of squared residuals."""
    total: float
    """The sum of squares of the target about its mean."""

    @property
    def is_exact(self) -> bool:
        """True if only rounding is left."""
        return self.left <= Coefficients.EXACT * self.total


def pruned_fit(columns: Numbers, target: Numbers, total: float) -> Fit:
    """Fit (columns, rows) by least squares, without the columns that are not needed."""
    kept = _independent(columns, np.flatnonzero(np.linalg.norm(columns, axis=1) > 0))
    fit = least_squares(columns, kept, target, total)
    while len(fit.kept) > 1:
        chosen = _superfluous(fit, columns, target)
        for going in (chosen, chosen[:1])[: len(chosen)]:  # all of them, or the least needed
            fewer = least_squares(columns, np.setdiff1d(fit.kept, going), target, total)
            if _is_as_good(fewer, fit, len(target)):
                fit = fewer
                break
        else:
            return fit
    return fit


def _independent(columns: Numbers, kept: Indices) -> Indices:
    """Return the columns that are not linear combinations of others before them."""
    while True:
        chosen = columns[kept]
        angles = np.abs(np.diag(np.linalg.qr((chosen / np.linalg.norm(chosen, axis=1)[:, np.newaxis]).T, mode="r")))
        dependent = np.flatnonzero(angles <= Coefficients.DEPENDENT)
        if len(dependent) == 0:
            return kept[: len(angles)]  # no more than there are rows
        kept = np.delete(kept, dependent[0])  # what stands behind it has to be looked at again


def _is_as_good(fewer: Fit, fit: Fit, n_rows: int) -> bool:
    if fit.is_exact:
        return fewer.is_exact
    price = Coefficients.PRICE * np.log(n_rows) * (len(fit.kept) - len(fewer.kept))
    return bool(n_rows * np.log(max(fewer.left, 1e-300) / max(fit.left, 1e-300)) < price)


def _superfluous(fit: Fit, columns: Numbers, target: Numbers) -> Indices:
    """Return columns that may be left out, the least needed first; at most half at once."""
    if fit.is_exact:
        sizes = np.abs(fit.coefficients) * np.linalg.norm(columns[fit.kept], axis=1)
        least = sizes / np.linalg.norm(target)
        going = np.flatnonzero(least < Coefficients.NEGLIGIBLE)
    else:
        with np.errstate(all="ignore"):
            least = np.square(fit.coefficients / fit.errors)
        going = np.flatnonzero(~(least > Coefficients.PRICE * np.log(len(target))))
    going = going[np.argsort(least[going], kind="stable")]
    return fit.kept[going[: max(1, (len(fit.kept) + 1) // 2)]]


def least_squares(columns: Numbers, kept: Indices, target: Numbers, total: float) -> Fit:
    """Fit a target by some of the columns."""
    chosen = columns[kept]
    norms = np.linalg.norm(chosen, axis=1)
    design = (chosen / norms[:, np.newaxis]).T
    u, s, vt = np.linalg.svd(design, full_matrices=False)
    usable = s > 1e-11 * s.max(initial=0.0)
    inverse = vt[usable].T / s[usable]
    scaled = inverse @ (u[:, usable].T @ target)
    rest = target - design @ scaled
    correction = inverse @ (u[:, usable].T @ rest)
    scaled += correction
    rest = target - design @ scaled
    left = float(rest @ rest)
    spread = left / max(len(target) - len(kept), 1)
    errors = np.sqrt(spread * np.square(inverse).sum(axis=1)) / norms
    return Fit(kept, scaled / norms, errors, left, total)


def rounded(value: float, error: float, *, denominators: tuple[int, ...] = Coefficients.DENOMINATORS) -> float | None:
    """Return the plainest fraction within a few standard errors, or None."""
    reach = max(Coefficients.STANDARD_ERRORS * error, 1e-7 * max(abs(value), 1e-3))
    for below in denominators:
        near = round(value * below) / below
        if abs(near - value) <= reach:
            return near
    return None


def refit_with(columns: Numbers, target: Numbers, fit: Fit, fixed: dict[int, float]) -> tuple[Numbers, float]:
    """Fit again with some coefficients fixed, by place among the kept; return all, and the squares that are left."""
    free = [k for k in range(len(fit.kept)) if k not in fixed]
    rest = target - sum(value * columns[fit.kept[k]] for k, value in fixed.items())
    coefficients = np.empty(len(fit.kept))
    coefficients[list(fixed)] = list(fixed.values())
    if not free:
        return coefficients, float(rest @ rest)
    inner = least_squares(columns, fit.kept[free], rest, fit.total)
    coefficients[free] = inner.coefficients
    return coefficients, inner.left


# -- whole coefficients, found by moving one or two at a time ---------------------------


def whole_coefficients(frame: Frame, start: Numbers, data: Data, prices: Sequence[float]) -> Numbers:
    """Return (prices, columns): whole coefficients of a frame with a short description, found from `start`.

    `data` are the rows that the frame was made of; a price is the cost of a symbol, in bits.
    """
    steps, known = _steps(len(start)), dict[bytes, Numbers]()  # descents have their first steps in common
    scale = np.prod(data.columns ** np.array(frame.scale)[:, np.newaxis], axis=0) if any(frame.scale) else 1.0
    sign = frame.sign if frame.link.is_even else 1.0

    @np.errstate(all="ignore")
    def bits_of(tried: Numbers, price: float) -> Numbers:
        key, size = tried.tobytes(), Coefficients.AT_ONCE
        if key not in known:
            inner = tried @ frame.free.columns / scale
            parts = (inner[k : k + size] for k in range(0, len(inner), size))
            known[key] = np.concatenate([residual_bits(frame.link.undo(part) * sign, data) for part in parts])
        n_symbols = (np.abs(tried) + (tried != 0) * Coefficients.SYMBOLS_A_COLUMN).sum(axis=1)
        return np.asarray(known[key] + n_symbols * price)

    found = []
    for price in prices:
        best, least = start, float(bits_of(start[np.newaxis], price)[0])
        for _ in range(Coefficients.STEPS):
            tried = best + steps
            bits = bits_of(tried, price)
            k = int(np.argmin(bits))
            if not bits[k] < least:
                break
            best, least = tried[k], float(bits[k])
        found.append(best)
    return np.array(found)


def _steps(n: int) -> Numbers:
    """Return moves of one coefficient and, of not too many, of two: one may have to give what another takes."""
    unit = np.eye(n)
    steps = [s * unit for s in (1, -1, 2, -2)]
    if n <= Coefficients.MOST_PAIRED:
        first, second = np.triu_indices(n, 1)
        steps += [s * unit[first] + t * unit[second] for s in (1, -1) for t in (1, -1)]
    return np.concatenate(steps)
