"""Frames for noisy targets: rows are weighted by the noise that a link gives them, so that all frames have one unit.

Noise of standard deviation σ in y becomes noise of g'(f)·σ in g(y), where f is the value without noise. With rows
weighted by that, the residual in any frame is that of the target, in standard deviations. f is not known, but the best
equation so far is near it. Noise in 1/y is neither normal nor without bias, so g(y) is taken along its tangent at f:
g(f) + g'(f)·(y - f), as in generalised linear models.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edhie.evaluate.data import Data
from edhie.evaluate.values import squared_errors, values
from edhie.expr import Forest, SymbolLibrary
from edhie.search.arrays import Indices, Numbers
from edhie.search.mosaic.config import MosaicConfig, Noise, Opening, Scoring
from edhie.search.mosaic.frames.frame import Frame
from edhie.search.mosaic.frames.free_columns import logarithm_columns, polynomial_columns
from edhie.search.mosaic.frames.links import IDENTITY, LINKS, Link
from edhie.search.mosaic.frames.opening_frames import likely_scales, powers_of, scales, sound_frames, unique_rows
from edhie.selection.noise import NoiseModel, relative_weights

PEELED = {"y": -1, "1/y": 1, "y^2": -2, "1/y^2": 2}
"""By link: the power of a factor of the target that cancels it."""
View = tuple[Numbers, Numbers]
"""The target through a link, and by row one over its standard deviation there; 0 for a row that does not count."""


@dataclass(frozen=True, eq=False)
class RowNoise:
    """The noise in each row, as far as it is known."""

    centre: Numbers
    """The target without noise: values of the best equation so far."""
    deviations: Numbers
    """The standard deviation of the noise."""

    @classmethod
    def left_by(cls, best: Forest, model: NoiseModel, data: Data) -> RowNoise | None:
        """Return the noise as one expression leaves it; None where it leaves rounding.

        An expression that explains little is not near the target without noise: then the target itself is nearer.
        """
        predicted = np.asarray(values(best, data.columns)[0], np.float64)
        if not np.isfinite(predicted).all():
            return None
        weights = relative_weights(model, predicted, data)
        weights = np.ones(data.n_rows) if weights is None else np.maximum(weights, Noise.LEAST_TRUST)
        variance = float(np.average(np.square(data.y - predicted), weights=weights))
        if not variance > Scoring.EXACT * float(np.mean(np.square(data.y))):
            return None
        return cls(predicted if is_near(best, data) else data.y, np.sqrt(variance / weights))

    def differs_from(self, other: RowNoise) -> bool:
        """Return whether frames for one would be poor frames for the other."""
        with np.errstate(all="ignore"):
            spread = np.log(self.deviations / other.deviations)
        moved = np.sqrt(np.mean(np.square((self.centre - other.centre) / other.deviations)))
        return bool(np.abs(spread).mean() > Noise.CHANGED or moved > Noise.CHANGED)


def is_near(best: Forest, data: Data) -> bool:
    """Return whether an expression leaves little of the variance, so that it is near the target without noise."""
    return bool(squared_errors(best, data)[0] < Noise.NEAR * data.squares_about_mean)


def noise_frames(
    data: Data, library: SymbolLibrary, config: MosaicConfig, noise: RowNoise, *, most: int = Noise.COLUMNS
) -> list[Frame]:
    """Return ways to look at a noisy target, the plainest first.

    In some of them polynomials of up to `most` columns come free.
    """
    mean = np.average(data.y, weights=noise.deviations**-2.0)
    total = float(np.square((data.y - mean) / noise.deviations).sum())
    views = noise_views(data, library, config, noise)

    def framed(link: Link, view: View, most: int) -> Frame:
        free = polynomial_columns(data.columns, view[1], most=most)
        return Frame(link, free, (0,) * data.n_variables, view[0], _sign(link, data.y), total=total)

    frames = [framed(link, view, 1) for link, view in views.items()]
    if config.polynomials:
        rich = [framed(link, view, most) for link, view in views.items()]
        rich = [frame for frame in rich if not frame.free.is_constant]
        frames += [*rich[:1], *sorted(rich[1:], key=lambda frame: frame.unexplained)[: Noise.RICH]]
    if config.scales:
        for link, view in views.items():
            if link.name in Opening.SCALED_LINKS:
                frames += _scaled(link, view, data, noise, total, most=most if config.polynomials else 1)
    if config.products:
        for link, view in views.items():
            if link.name in Opening.PRODUCT_LINKS:
                frames += _products(link, view, data, noise, total, is_rich=config.polynomials)
    return sound_frames(frames)


def noise_views(data: Data, library: SymbolLibrary, config: MosaicConfig, noise: RowNoise) -> dict[Link, View]:
    """Return the target through the links that can be undone on most rows."""
    usable = [link for link in LINKS if link.is_writable(library)] if config.links else [IDENTITY]
    with np.errstate(all="ignore"):
        views = {link: _view(link, data.y, noise) for link in usable}
    return {link: view for link, view in views.items() if view is not None}


def _view(link: Link, y: Numbers, noise: RowNoise) -> View | None:
    centre, deviations = noise.centre, noise.deviations
    target = link.apply(centre) + link.slope(centre) * (y - centre)
    # over half a standard deviation to either side, so that it is not 0 where the slope happens to be
    slopes = np.square([link.slope(centre + share * deviations) for share in (-0.5, 0.0, 0.5)])
    known = np.isfinite(slopes)
    spread = deviations * np.sqrt(np.where(known, slopes, 0.0).sum(axis=0) / known.sum(axis=0))
    scale = 1.0 / spread
    usable = link.domain(centre) & np.isfinite(target) & np.isfinite(scale)
    if usable.mean() < Noise.INSIDE:
        return None
    return np.where(usable, target, 0.0), np.where(usable, scale, 0.0)


def _products(link: Link, view: View, data: Data, noise: RowNoise, total: float, *, is_rich: bool) -> list[Frame]:
    """Return the linked target as a product of powers, with and without those of the variables coming free."""
    linked, scale = view
    with np.errstate(all="ignore"):
        centre = link.apply(noise.centre)
        sign = float(np.sign(np.median(centre)))
        inside = (centre * sign > 0) & (scale > 0)
        if sign == 0 or inside.mean() < Noise.INSIDE:
            return []
        target = np.where(inside, np.log(np.abs(centre)) + (linked - centre) / centre, 0.0)
        scale = np.where(inside, scale * np.abs(centre), 0.0)
    free = [logarithm_columns(data.columns, scale, is_rich=rich) for rich in ((False, True) if is_rich else (False,))]
    free = free[:1] + [each for each in free[1:] if not each.is_constant]
    return [Frame(link, each, (0,) * data.n_variables, target, sign, total=total) for each in free]


def whole_powers(data: Data, noise: RowNoise) -> Indices:
    """Return the powers of the variables that are factors of the target, as its logarithm shows them.

    In m*x/(a^2 + b^2) the powers of m and x are 1 everywhere, and those of a and b are not near a whole number.
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
    reach = np.minimum(Noise.WHOLE_ERRORS * errors + Noise.WHOLE_MISS, Noise.WHOLE_MOST)
    powers[usable] = np.where(np.abs(slopes - whole) <= reach, whole, 0.0)[1:].astype(np.int64)
    return powers


def _scaled(link: Link, view: View, data: Data, noise: RowNoise, total: float, *, most: int) -> list[Frame]:
    """Return the target times those powers of the variables with which a polynomial of low degree leaves the least."""
    usable = np.flatnonzero((data.columns != 0).all(axis=1))
    powers = np.concatenate([likely_scales(data, usable), scales(usable)])
    if len(powers) == 0:
        return []
    first = PEELED[link.name] * whole_powers(data, noise)[usable]
    powers = np.concatenate([first[np.newaxis], powers]) if first.any() else powers
    powers = unique_rows(powers)[: Noise.MOST_SCALES]
    target, scale = view
    factors = powers_of(data, usable, powers)
    some = slice(None, None, max(1, data.n_rows // Noise.SCALED_ROWS))
    ranked = polynomial_columns(data.columns, np.ones(data.n_rows), most=Noise.RANKED_COLUMNS).columns[:, some]
    # multiplied out: g(y) is a polynomial over the factor, in the unit of g(y)
    with np.errstate(all="ignore"):
        designs = ranked[np.newaxis] * (scale[some] / factors[:, some])[:, np.newaxis]
    whitened = (target * scale)[some]
    left = _left_over(designs, whitened) + Noise.POWER * np.abs(powers).sum(axis=1)
    if first.any() and np.isfinite(left[0]):
        left[0] = -np.inf  # always among them
    found = []
    for rank, k in enumerate(np.argsort(left, kind="stable")[: Noise.SCALED].tolist()):
        if left[k] == np.inf:
            break
        own = np.zeros(data.n_variables, np.int64)
        own[usable] = powers[k]
        for n_columns in (1, most) if rank == 0 else (most,):  # with few free columns, what is found is shorter
            with np.errstate(all="ignore"):
                free = polynomial_columns(data.columns, scale / np.abs(factors[k]), most=n_columns)
            if np.isfinite(free.row_scale).all():
                own_target, sign = factors[k] * target, _sign(link, data.y)
                found.append(Frame(link, free, tuple(own.tolist()), own_target, sign, total=total))
    return found


def _left_over(designs: Numbers, target: Numbers) -> Numbers:
    """Return the residual sum of squares for each design of shape (columns, rows); infinity if it cannot be fitted."""
    norms = np.linalg.norm(designs, axis=2)
    sound = np.flatnonzero((np.isfinite(norms) & (norms > 0)).all(axis=1))
    found, designs, norms = np.full(len(designs), np.inf), designs[sound], norms[sound]
    bases, _ = np.linalg.qr((designs / norms[:, :, np.newaxis]).transpose(0, 2, 1))
    rest = target - (bases @ (target @ bases)[:, :, np.newaxis])[:, :, 0]
    found[sound] = np.square(rest).sum(axis=1)
    return found


def _sign(link: Link, y: Numbers) -> float:
    return -1.0 if link.is_even and np.median(y) < 0 else 1.0
