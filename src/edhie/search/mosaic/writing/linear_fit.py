"""Linear fits with few columns; coefficients as fitted, rounded to fractions, or integers only."""

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
    """A linear least-squares fit: the columns that are kept, and their coefficients."""

    kept: Indices
    coefficients: Numbers
    errors: Numbers
    """Standard errors of the coefficients."""
    left: float
    """The residual sum of squares."""
    total: float
    """The total sum of squares, by which exactness is judged."""

    @property
    def is_exact(self) -> bool:
        """True if the residuals are only rounding."""
        return self.left <= Coefficients.EXACT * self.total


def pruned_fit(columns: Numbers, target: Numbers, total: float) -> Fit:
    """Fit (columns, rows) by least squares with backward elimination of columns that are not needed."""
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
    """Return the columns that are not linear combinations of those before them."""
    while True:
        chosen = columns[kept]
        angles = np.abs(np.diag(np.linalg.qr((chosen / np.linalg.norm(chosen, axis=1)[:, np.newaxis]).T, mode="r")))
        dependent = np.flatnonzero(angles <= Coefficients.DEPENDENT)
        if len(dependent) == 0:
            return kept[: len(angles)]  # no more than there are rows
        kept = np.delete(kept, dependent[0])  # columns after it have to be tested again


def _is_as_good(fewer: Fit, fit: Fit, n_rows: int) -> bool:
    if fit.is_exact:
        return fewer.is_exact
    price = Coefficients.PRICE * np.log(n_rows) * (len(fit.kept) - len(fewer.kept))
    return bool(n_rows * np.log(max(fewer.left, 1e-300) / max(fit.left, 1e-300)) < price)


def _superfluous(fit: Fit, columns: Numbers, target: Numbers) -> Indices:
    """Return columns that may not be needed, the least significant first; at most half of all."""
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
    """Fit a target by the columns at `kept`, with one step of iterative refinement."""
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
    """Return the fraction with the smallest denominator within a few standard errors; None if there is none."""
    reach = max(Coefficients.STANDARD_ERRORS * error, 1e-7 * max(abs(value), 1e-3))
    for below in denominators:
        near = round(value * below) / below
        if abs(near - value) <= reach:
            return near
    return None


def refit_with(columns: Numbers, target: Numbers, fit: Fit, fixed: dict[int, float]) -> tuple[Numbers, float]:
    """Refit with some coefficients fixed, by index among the kept; return all, and the residual sum of squares."""
    free = [k for k in range(len(fit.kept)) if k not in fixed]
    rest = target - sum(value * columns[fit.kept[k]] for k, value in fixed.items())
    coefficients = np.empty(len(fit.kept))
    coefficients[list(fixed)] = list(fixed.values())
    if not free:
        return coefficients, float(rest @ rest)
    inner = least_squares(columns, fit.kept[free], rest, fit.total)
    coefficients[free] = inner.coefficients
    return coefficients, inner.left


# -- integer coefficients, by coordinate descent ----------------------------------------


def integer_coefficients(frame: Frame, start: Numbers, data: Data, prices: Sequence[float]) -> Numbers:
    """Return (prices, columns): integer coefficients of a frame that minimise description length, by local descent.

    The descent starts at `start`, once for each price of a symbol, in bits. `data` are the rows of the frame.
    """
    steps, known = _steps(len(start)), dict[bytes, Numbers]()  # a cache: descents share their first steps
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
    """Return moves of one coefficient and, if there are not too many, of two at once, which may compensate."""
    unit = np.eye(n)
    steps = [s * unit for s in (1, -1, 2, -2)]
    if n <= Coefficients.MOST_PAIRED:
        first, second = np.triu_indices(n, 1)
        steps += [s * unit[first] + t * unit[second] for s in (1, -1) for t in (1, -1)]
    return np.concatenate(steps)
