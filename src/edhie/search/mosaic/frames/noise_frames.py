"""Frames for noisy targets: rows count by the noise that a link gives them, so that all frames are in one unit.

Noise of standard deviation σ in y becomes noise of g'(f)·σ in g(y), where f is the value without noise. With rows
weighed by that, what a piece leaves in any frame is what it leaves of the target, in standard deviations. f is not
known, but the best equation so far is near it. Noise in 1/y is neither normal nor without bias, so g(y) is taken along
its tangent at f: g(f) + g'(f)·(y - f), as generalised linear models do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.data import Data
from edhie.expr import SymbolLibrary
from edhie.search.mosaic.config import MosaicConfig
from edhie.search.mosaic.frames.frame import Frame
from edhie.search.mosaic.frames.free_columns import FreeColumns, logarithm_block, polynomial_block
from edhie.search.mosaic.frames.links import IDENTITY, LINKS, PRODUCT_LINKS, Link
from edhie.search.mosaic.frames.opening_frames import SCALED_LINKS, is_sound, likely_scales, scales

Numbers = NDArray[np.float64]
Indices = NDArray[np.int64]
INSIDE = 0.8  # of the rows have to be where a link holds; the others do not count
COLUMNS = 21  # of polynomials that come free
RANKED_COLUMNS = 15  # of those by which scales are chosen
CHANGED = 0.1  # of a standard deviation: frames are made anew for noise that looks so different
PEELED_ERRORS, PEELED_MISS, PEELED_MOST = 2.5, 0.03, 0.25  # by which an exponent may miss a whole number
RICH = 3  # links besides the target itself with which polynomials come free: those that these explain best
SCALED = 4  # scaled frames of each link
POWER = 5.0  # what a power of a variable has to save, in the unit of squares over the variance of the noise
SCALED_ROWS, MOST_SCALES = 150, 400  # by which, and of how many, the best are chosen


@dataclass(frozen=True, eq=False)
class RowNoise:
    """What is known of the noise in each row."""

    centre: Numbers
    """The target without noise, as far as it is known: values of the best equation."""
    deviations: Numbers
    """The standard deviation of the noise."""

    def differs_from(self, other: RowNoise) -> bool:
        """Whether frames for one would be poor frames for the other."""
        with np.errstate(all="ignore"):
            spread = np.log(self.deviations / other.deviations)
        moved = np.sqrt(np.mean(np.square((self.centre - other.centre) / other.deviations)))
        return bool(np.abs(spread).mean() > CHANGED or moved > CHANGED)


def noisy_frames(
    data: Data, library: SymbolLibrary, config: MosaicConfig, noise: RowNoise, *, most: int = COLUMNS
) -> list[Frame]:
    """Return ways to look at a noisy target, the plainest first.

    In some of them polynomials of up to `most` columns come free.
    """
    mean = np.average(data.y, weights=noise.deviations**-2.0)
    total = float(np.square((data.y - mean) / noise.deviations).sum())
    views = noisy_views(data, library, config, noise)
    plain = [_framed(link, view, _polynomial(data, view[1]), data, total) for link, view in views.items()]
    frames = [*plain]
    if config.blocks:
        rich = [_framed(link, view, _polynomial(data, view[1], most), data, total) for link, view in views.items()]
        rich = [frame for frame in rich if len(frame.block.exponents) > 1]
        frames += [*rich[:1], *sorted(rich[1:], key=lambda frame: frame.unexplained)[:RICH]]
    if config.scales:
        for link, view in views.items():
            if link.name in SCALED_LINKS:
                frames += _scaled(link, view, data, noise, total, most=most if config.blocks else 1)
    if config.products:
        for link, view in views.items():
            if link.name in PRODUCT_LINKS:
                frames += _products(link, view, data, noise, total, is_rich=config.blocks)
    first = frames[0]
    return [frame for frame in frames if is_sound(frame) and (frame is first or np.ptp(frame.target) > 0)]


View = tuple[Numbers, Numbers]
"""The target through a link, and by row one over its standard deviation there; 0 for a row that does not count."""


def noisy_views(data: Data, library: SymbolLibrary, config: MosaicConfig, noise: RowNoise) -> dict[Link, View]:
    """Return the target through the links that can be undone on most rows."""
    usable = [link for link in LINKS if link.is_writable(library)] if config.links else [IDENTITY]
    with np.errstate(all="ignore"):
        views = {link: _view(link, data.y, noise) for link in usable}
    return {link: view for link, view in views.items() if view is not None}


def _view(link: Link, y: Numbers, noise: RowNoise) -> View | None:
    """The target through a link; None where it cannot be undone on enough rows."""
    centre, deviations = noise.centre, noise.deviations
    inside = link.domain(centre)
    if inside.mean() < INSIDE:
        return None
    target = link.apply(centre) + link.slope(centre) * (y - centre)
    # over half a standard deviation to either side, so that it is not nil where the slope happens to be
    slopes = np.square([link.slope(centre + share * deviations) for share in (-0.5, 0.0, 0.5)])
    known = np.isfinite(slopes)
    spread = deviations * np.sqrt(np.where(known, slopes, 0.0).sum(axis=0) / known.sum(axis=0))
    scale = 1.0 / spread
    usable = inside & np.isfinite(target) & np.isfinite(scale)
    if usable.mean() < INSIDE:
        return None
    return np.where(usable, target, 0.0), np.where(usable, scale, 0.0)


def _polynomial(data: Data, row_scale: Numbers, most: int = 1) -> FreeColumns:
    return polynomial_block(data.columns, row_scale, most=most)


def _framed(link: Link, view: View, block: FreeColumns, data: Data, total: float) -> Frame:
    return Frame(link, block, (0,) * data.n_variables, view[0], _sign(link, data.y), total=total)


def _products(link: Link, view: View, data: Data, noise: RowNoise, total: float, *, is_rich: bool) -> list[Frame]:
    """The linked target as a product of powers, with and without those of the variables coming free."""
    linked, scale = view
    with np.errstate(all="ignore"):
        centre = link.apply(noise.centre)
        sign = float(np.sign(np.median(centre)))
        inside = (centre * sign > 0) & (scale > 0)
        if sign == 0 or inside.mean() < INSIDE:
            return []
        target = np.where(inside, np.log(np.abs(centre)) + (linked - centre) / centre, 0.0)
        scale = np.where(inside, scale * np.abs(centre), 0.0)
    found = []
    for rich in (False, True) if is_rich else (False,):
        block = logarithm_block(data.columns, scale, is_rich=rich)
        if not rich or len(block.exponents) > 1:
            found.append(Frame(link, block, (0,) * data.n_variables, target, sign, total=total))
    return found


def peeled(data: Data, noise: RowNoise) -> Indices:
    """Return the powers of the variables that are factors of the target by themselves, as its logarithm shows them.

    In m*x/(a^2 + b^2) the powers of m and x are 1 wherever one looks; those of a and b are nowhere near a whole number.
    """
    powers = np.zeros(data.n_variables, np.int64)
    usable = np.flatnonzero((data.columns != 0).all(axis=1))
    sizes = np.abs(noise.centre)
    inside = sizes > noise.deviations
    if len(usable) == 0 or inside.sum() < 4 * (len(usable) + 1):
        return powers
    columns = np.concatenate([np.ones((1, data.n_rows)), np.log(np.abs(data.columns[usable]))])[:, inside]
    scale = (sizes / noise.deviations)[inside]
    target = np.log(sizes[inside]) + ((data.y - noise.centre) / noise.centre)[inside]
    design = (columns * scale).T
    slopes, _, rank, _ = np.linalg.lstsq(design, target * scale, rcond=None)
    if rank < len(columns):
        return powers
    rest = target * scale - design @ slopes
    errors = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * max(float(rest @ rest) / len(rest), 1.0))
    whole = np.round(slopes)
    is_whole = np.abs(slopes - whole) <= np.minimum(PEELED_ERRORS * errors + PEELED_MISS, PEELED_MOST)
    powers[usable] = np.where(is_whole, whole, 0.0)[1:].astype(np.int64)
    return powers


PEELED = {"y": -1, "1/y": 1, "y^2": -2, "1/y^2": 2}


def _scaled(link: Link, view: View, data: Data, noise: RowNoise, total: float, *, most: int) -> list[Frame]:
    """The linked target times powers of the variables: those with which a polynomial of low degree leaves the least."""
    usable = np.flatnonzero((data.columns != 0).all(axis=1))
    powers = np.concatenate([likely_scales(data, usable), scales(data.n_variables, usable)])
    if len(powers) == 0:
        return []
    first = PEELED[link.name] * peeled(data, noise)[usable]
    powers = np.concatenate([first[np.newaxis], powers]) if first.any() else powers
    powers = powers[np.sort(np.unique(powers, axis=0, return_index=True)[1])][:MOST_SCALES]
    target, scale = view
    with np.errstate(all="ignore"):
        logs = np.log(np.abs(data.columns[usable]))
        factors = np.exp(powers @ logs) * (1.0 - 2.0 * (((powers % 2) @ (data.columns[usable] < 0)) % 2))
    some = slice(None, None, max(1, data.n_rows // SCALED_ROWS))
    columns = polynomial_block(data.columns, np.ones(data.n_rows), most=RANKED_COLUMNS).columns[:, some]
    # multiplied out: g(y) is a polynomial over the factor, in the unit of g(y)
    designs = columns[np.newaxis] * (scale[some] / factors[:, some])[:, np.newaxis]
    whitened = (target * scale)[some]
    left = np.array([_left_over(design, whitened) for design in designs]) + POWER * np.abs(powers).sum(axis=1)
    if first.any() and np.isfinite(left[0]):
        left[0] = -np.inf  # always among them
    found = []
    for rank, k in enumerate(np.argsort(left, kind="stable")[:SCALED].tolist()):
        if left[k] == np.inf:
            break
        own = np.zeros(data.n_variables, np.int64)
        own[usable] = powers[k]
        for n_columns in (1, most) if rank == 0 else (most,):  # with little that comes free, what is found is shorter
            with np.errstate(all="ignore"):
                block = _polynomial(data, scale / np.abs(factors[k]), n_columns)
            if np.isfinite(block.row_scale).all():
                own_target, sign = factors[k] * target, _sign(link, data.y)
                found.append(Frame(link, block, tuple(own.tolist()), own_target, sign, total=total))
    return found


def _left_over(design: Numbers, target: Numbers) -> float:
    norms = np.linalg.norm(design, axis=1)
    if not np.isfinite(norms).all() or not (norms > 0).all():
        return np.inf
    basis, _ = np.linalg.qr((design / norms[:, np.newaxis]).T)
    rest = target - basis @ (basis.T @ target)
    return float(rest @ rest)


def _sign(link: Link, y: Numbers) -> float:
    return -1.0 if link.is_even and np.median(y) < 0 else 1.0
