"""Peaks: one or two on a background, as in a spectrum; and functions of one variable whose constants are on a grid.

Positions and widths of peaks are on a grid, and heights are solved for, for all pairs of peaks at once. The best are
written as starting points of a fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from edhie.errors import EdhieError
from edhie.evaluate.data import Data, few_rows
from edhie.expr import Expr, SymbolLibrary, parse
from edhie.search.arrays import Numbers, root_weights
from edhie.search.mosaic.config import OneVariable


@dataclass(frozen=True, eq=False)
class OneVariableData:
    """One variable and the target, with the square roots of the rows' weights."""

    name: str
    x: Numbers
    n_values: int  # distinct values
    first: float  # the smallest value
    span: float  # the largest minus the smallest
    y: Numbers
    roots: Numbers

    @classmethod
    def each(cls, data: Data, most: int, least_values: int) -> Iterator[OneVariableData]:
        """Yield the first `most` variables, without those with fewer distinct values or without a finite range."""
        roots = root_weights(data)
        for name, x in zip(data.names[:most], data.columns[:most], strict=True):
            one = cls(name, x, len(np.unique(x)), float(x.min()), float(np.ptp(x)), data.y, roots)
            if one.n_values >= least_values and 0 < one.span < np.inf:
                yield one

    @cached_property
    def target(self) -> Numbers:
        """The target times the root weights."""
        return self.y * self.roots

    @cached_property
    def about_mean(self) -> Numbers:
        """The target about its weighted mean, times the root weights."""
        unit = self.roots / np.linalg.norm(self.roots)
        return self.target - unit * (self.target @ unit)

    def is_explained(self, left: float) -> bool:
        """Return whether a function with this residual sum of squares explains enough of the variance to be written."""
        return bool(left < (1 - OneVariable.EXPLAINED) * float(self.about_mean @ self.about_mean))

    def coefficients(self, columns: Numbers) -> list[float]:
        """Return the least-squares coefficients of (columns, rows)."""
        found: list[float] = np.linalg.lstsq((columns * self.roots).T, self.target, rcond=None)[0].tolist()
        return found


@dataclass(frozen=True)
class Shape:
    """A function of a variable or a piece, whose constants are searched on a grid."""

    template: str
    """Its text: `{c}` is a constant, and `{x}` the variable or piece."""
    values: Callable[..., Numbers]
    """Its values without the linear factor, given x and the constants of the grid as columns."""
    constants: Callable[..., tuple[float, ...]] = lambda *given: given
    """The constants of the template, from those of the grid."""


def from_template(template: str, x: str, constants: Sequence[float], library: SymbolLibrary) -> list[Expr]:
    """Return a template with `{c}` and `{x}` filled in; an empty list if the library lacks an operator."""
    try:
        return [parse(template.format(c=library.constant, x=x), library).with_constants(constants)]
    except EdhieError:
        return []


# -- peaks on a background --------------------------------------------------------------

SHAPES = (
    Shape("{c}*exp({c}*({x} - {c})^2)", lambda u: np.exp(-u * u), lambda h, m, s: (h, -1 / s**2, m)),
    Shape("{c}/(({x} - {c})^2 + {c})", lambda u: 1 / (1 + u * u), lambda h, m, s: (h * s**2, m, s**2)),
)
"""Peaks: `values` takes the distance from the centre in widths, `constants` takes height, centre and width."""


class Background(NamedTuple):
    """A background of peaks; the template's constants are the coefficients times `factor`, then `others`."""

    template: str
    columns: Numbers  # (terms, rows)
    factor: float = 1.0
    others: tuple[float, ...] = ()


def peak_expressions(data: Data, library: SymbolLibrary) -> list[Expr]:
    """Return sums of one or two peaks and a background that explain enough of the target."""
    few = few_rows(data, OneVariable.PEAK_ROWS)
    every = OneVariableData.each(few, OneVariable.PEAK_VARIABLES, OneVariable.PEAK_VALUES)
    return [
        expr
        for one in (every if library.constant is not None else ())
        for shape in SHAPES
        for template, constants in best_peaks(shape, one)
        for expr in from_template(template, one.name, constants, library)
    ]


@np.errstate(all="ignore")
def best_peaks(shape: Shape, one: OneVariableData) -> list[tuple[str, list[float]]]:
    """Return the best sums of one peak and a background, then of two peaks, if they explain enough."""
    grids = np.meshgrid(one.first + one.span * OneVariable.PEAK_PLACES, one.span * OneVariable.PEAK_WIDTHS)
    places, widths = (grid.ravel() for grid in grids)
    peaks = shape.values((one.x - places[:, np.newaxis]) / widths[:, np.newaxis])
    tried: dict[int, list[tuple[float, list[int], Background]]] = {1: [], 2: []}
    for background in _backgrounds(one):
        for chosen, left in _best_pair(peaks * one.roots, one.target, background.columns * one.roots):
            tried[len(chosen)].append((left, chosen, background))
    found = []
    for listed in tried.values():
        for left, chosen, background in sorted(listed, key=lambda each: each[0])[: OneVariable.PEAKS_WRITTEN]:
            heights = one.coefficients(np.concatenate([peaks[chosen], background.columns]))
            own = [shape.constants(h, places[k], widths[k]) for k, h in zip(chosen, heights, strict=False)]
            beside = [background.factor * height for height in heights[len(chosen) :]]
            constants = [float(each) for each in [*sum(own, ()), *beside, *background.others]]
            if one.is_explained(left) and np.isfinite(constants).all():
                found.append((" + ".join([*[shape.template] * len(chosen), background.template]), constants))
    return found


def _backgrounds(one: OneVariableData) -> list[Background]:
    """Return the backgrounds: a constant, a line, and exponentials."""
    ones = np.ones_like(one.x)
    found = [Background("{c}", ones[np.newaxis]), Background("{c} + {c}*{x}", np.stack([ones, one.x]))]
    for rate in (OneVariable.BACKGROUND_RATES / one.span).tolist():
        factor = float(np.exp(-rate * one.first)) if abs(rate * one.first) < 500 else np.nan
        column = np.exp(rate * (one.x - one.first))
        found.append(Background("{c}*exp({c}*{x})", column[np.newaxis], factor, (rate,)))
    return found


def _best_pair(peaks: Numbers, target: Numbers, background: Numbers) -> list[tuple[list[int], float]]:
    """Return the indices of the best peak and of the best pair on a background, and their residual sums of squares."""
    basis = np.linalg.qr(background.T)[0]
    peaks, target = peaks - (peaks @ basis) @ basis.T, target - basis @ (basis.T @ target)
    squares = np.square(peaks).sum(axis=1)
    usable = np.flatnonzero(squares > 1e-9 * squares.max(initial=0.0))
    if len(usable) < 2:
        return []
    peaks = peaks[usable] / np.sqrt(squares[usable])[:, np.newaxis]
    along, gram = peaks @ target, peaks @ peaks.T
    squared, own = np.square(along), 1.0 - np.square(gram)
    gains = (squared[:, np.newaxis] + squared - 2 * np.outer(along, along) * gram) / own
    gains[own < OneVariable.PEAKS_APART] = 0.0
    one, whole = int(np.argmax(squared)), float(target @ target)
    first, second = divmod(int(np.argmax(gains)), len(usable))
    return [
        ([int(usable[one])], whole - float(squared[one])),
        ([int(usable[first]), int(usable[second])], whole - float(gains[first, second])),
    ]
