"""One or two peaks of one variable on a background: a spectrum, a chromatogram.

Places and widths of the peaks and the rate of the background are on a grid; heights follow by linear least squares, for
all pairs of peaks at once. The best are written, and a fit brings their constants to the optimum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from edhie.evaluate.data import Data, few_rows
from edhie.expr import Expr, SymbolLibrary
from edhie.search.arrays import Numbers
from edhie.search.mosaic.config import OneVariable
from edhie.search.mosaic.writing.curves import Form, from_template

SHAPES = (
    Form("{c}*exp({c}*({x} - {c})^2)", lambda u: np.exp(-u * u), lambda h, m, s: (h, -1 / s**2, m)),
    Form("{c}/(({x} - {c})^2 + {c})", lambda u: 1 / (1 + u * u), lambda h, m, s: (h * s**2, m, s**2)),
)
"""Peaks by their distance from the place, in units of the width; constants by height, place and width."""


@dataclass(frozen=True)
class Background:
    """A background of peaks."""

    template: str
    columns: Numbers
    """(terms, rows); each has one coefficient."""
    constants: Callable[[list[float]], tuple[float, ...]]
    """The constants of the template by the coefficients."""


def peak_expressions(data: Data, library: SymbolLibrary) -> list[Expr]:
    """Return sums of one or two peaks and a background that explain a good part of the target."""
    found: list[Expr] = []
    if library.constant is None:
        return found
    data = few_rows(data, OneVariable.PEAK_ROWS)
    roots = np.ones(data.n_rows) if data.weights is None else np.sqrt(data.weights)
    for name, x in list(zip(data.names, data.columns, strict=True))[: OneVariable.PEAK_VARIABLES]:
        span = float(np.ptp(x))
        if len(np.unique(x)) < OneVariable.PEAK_VALUES or not 0 < span < np.inf:
            continue
        for shape in SHAPES:
            for text, constants in best_peaks(shape, x, data.y, roots):
                found += from_template(text, name, constants, library)
    return found


def best_peaks(shape: Form, x: Numbers, y: Numbers, roots: Numbers) -> list[tuple[str, list[float]]]:
    """Return the best sums of one and of two peaks, as templates with their constants."""
    first, span = float(x.min()), float(np.ptp(x))
    grids = np.meshgrid(first + span * OneVariable.PEAK_PLACES, span * OneVariable.PEAK_WIDTHS)
    places, widths = (grid.ravel() for grid in grids)
    with np.errstate(all="ignore"):
        peaks = shape.values((x - places[:, np.newaxis]) / widths[:, np.newaxis])
    total = float(np.square((y - np.average(y, weights=roots**2)) * roots).sum())
    tried: dict[int, list[tuple[float, list[int], Background]]] = {1: [], 2: []}
    for background in backgrounds(x, first, span):
        for chosen, left in _best_pair(peaks * roots, y * roots, background.columns * roots):
            tried[len(chosen)].append((left, chosen, background))
    found = []
    for listed in tried.values():
        for left, chosen, background in sorted(listed, key=lambda each: each[0])[: OneVariable.PEAKS_WRITTEN]:
            columns = np.concatenate([peaks[chosen], background.columns])
            heights = np.linalg.lstsq((columns * roots).T, y * roots, rcond=None)[0].tolist()
            with np.errstate(all="ignore"):
                constants = [
                    each
                    for k, h in zip(chosen, heights, strict=False)
                    for each in shape.constants(h, places[k], widths[k])
                ]
            constants += background.constants(heights[len(chosen) :])
            if left < (1 - OneVariable.EXPLAINED) * total and np.isfinite(constants).all():
                template = " + ".join([*[shape.template] * len(chosen), background.template])
                found.append((template, [float(each) for each in constants]))
    return found


def backgrounds(x: Numbers, first: float, span: float) -> list[Background]:
    """Return a constant, a line, and exponentials."""
    one = np.ones_like(x)
    found = [
        Background("{c}", one[np.newaxis], tuple),
        Background("{c} + {c}*{x}", np.stack([one, x]), tuple),
    ]
    for rate in (OneVariable.BACKGROUND_RATES / span).tolist():
        factor = float(np.exp(-rate * first)) if abs(rate * first) < 500 else np.nan
        column = np.exp(rate * (x - first))
        found.append(
            Background("{c}*exp({c}*{x})", column[np.newaxis], lambda a, k=rate, f=factor: (a[0] * f, k))  # type: ignore[misc]
        )
    return found


def _best_pair(peaks: Numbers, target: Numbers, background: Numbers) -> list[tuple[list[int], float]]:
    """Return the best single peak and the best pair beside a background, with the squares that are left."""
    basis = np.linalg.qr(background.T)[0]
    peaks, target = peaks - (peaks @ basis) @ basis.T, target - basis @ (basis.T @ target)
    squares = np.square(peaks).sum(axis=1)
    usable = np.flatnonzero(squares > 1e-9 * squares.max(initial=0.0))
    if len(usable) < 2:
        return []
    peaks = peaks[usable] / np.sqrt(squares[usable])[:, np.newaxis]
    along, gram = peaks @ target, peaks @ peaks.T
    whole = float(target @ target)
    one = int(np.argmax(np.square(along)))
    determinant = 1.0 - np.square(gram)
    with np.errstate(all="ignore"):
        squared = np.square(along)
        gains = (squared[:, np.newaxis] + squared - 2 * np.outer(along, along) * gram) / determinant
    gains[determinant < OneVariable.PEAKS_APART] = 0.0
    first, second = divmod(int(np.argmax(gains)), len(usable))
    return [
        ([int(usable[one])], whole - float(along[one] ** 2)),
        ([int(usable[first]), int(usable[second])], whole - float(gains[first, second])),
    ]
