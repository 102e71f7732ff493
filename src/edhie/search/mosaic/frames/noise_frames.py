"""Frames for noisy targets: rows are weighted by the noise of the transformed target.

Noise of standard deviation σ in y becomes noise of |g'(f)|·σ in g(y), where f is the noise-free value. With rows scaled
by its inverse, the residuals of all frames are in units of the noise, and can be compared. f is not known, but the best
equation so far estimates it. Noise in a nonlinear g(y) is skewed and biased, so g is linearised at f: the frame's
target is g(f) + g'(f)·(y - f), as the working response of generalised linear models.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edhie.evaluate.data import Data
from edhie.evaluate.values import squared_errors, values
from edhie.expr import Forest, SymbolLibrary
from edhie.search.arrays import Indices, Numbers
from edhie.search.mosaic.config import MosaicConfig, Noise, Opening, Scoring
from edhie.search.mosaic.frames.frame import IDENTITY, LINKS, Frame, Link
from edhie.search.mosaic.frames.free_columns import logarithm_columns, polynomial_columns
from edhie.search.mosaic.frames.opening_frames import likely_scales, powers_of, scales, sound_frames, unique_rows
from edhie.selection.noise import NoiseModel, relative_weights

PEELED = {"y": -1, "1/y": 1, "y^2": -2, "1/y^2": 2}
"""By link: the power of a factor of y by which the linked target is multiplied to cancel the factor."""
View = tuple[Numbers, Numbers]
"""The linked target, and the inverse standard deviation of its noise; 0 for a row outside the link's domain."""


@dataclass(frozen=True, eq=False)
class RowNoise:
    """An estimate of the noise in each row."""

    centre: Numbers
    """The noise-free target, as the best equation so far predicts it."""
    deviations: Numbers
    """The standard deviations of the noise."""

    @classmethod
    def estimated_by(cls, best: Forest, model: NoiseModel, data: Data) -> RowNoise | None:
        """Estimate the noise from the residuals of one expression; None if they are not finite or only rounding.

        The centre is the expression's prediction, or the target itself if the expression explains too little of it.
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
        """Return whether two estimates differ enough for frames to be replaced."""
        with np.errstate(all="ignore"):
            spread = np.log(self.deviations / other.deviations)
        moved = np.sqrt(np.mean(np.square((self.centre - other.centre) / other.deviations)))
        return bool(np.abs(spread).mean() > Noise.CHANGED or moved > Noise.CHANGED)


def is_near(best: Forest, data: Data) -> bool:
    """Return whether an expression explains most of the variance, so that it estimates the noise-free target."""
    return bool(squared_errors(best, data)[0] < Noise.NEAR * data.squares_about_mean)


def noise_frames(
    data: Data, library: SymbolLibrary, config: MosaicConfig, noise: RowNoise, *, most: int = Noise.COLUMNS
) -> list[Frame]:
    """Return frames for a noisy target, the simplest first; free polynomials have at most `most` columns."""
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
    """Return the target through each link that is invertible on most rows."""
    usable = [link for link in LINKS if link.is_writable(library)] if config.links else [IDENTITY]
    with np.errstate(all="ignore"):
        views = {link: _view(link, data.y, noise) for link in usable}
    return {link: view for link, view in views.items() if view is not None}


def _view(link: Link, y: Numbers, noise: RowNoise) -> View | None:
    centre, deviations = noise.centre, noise.deviations
    target = link.apply(centre) + link.slope(centre) * (y - centre)
    # averaged over half a standard deviation to either side, so that the noise is not 0 where the slope is
    slopes = np.square([link.slope(centre + share * deviations) for share in (-0.5, 0.0, 0.5)])
    known = np.isfinite(slopes)
    spread = deviations * np.sqrt(np.where(known, slopes, 0.0).sum(axis=0) / known.sum(axis=0))
    scale = 1.0 / spread
    usable = link.domain(centre) & np.isfinite(target) & np.isfinite(scale)
    if usable.mean() < Noise.INSIDE:
        return None
    return np.where(usable, target, 0.0), np.where(usable, scale, 0.0)


def _products(link: Link, view: View, data: Data, noise: RowNoise, total: float, *, is_rich: bool) -> list[Frame]:
    """Return frames of the logarithm of the linked target: with a constant alone and, if `is_rich`, with powers."""
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


def integer_powers(data: Data, noise: RowNoise) -> Indices:
    """Return integer exponents of variables that are factors of the target, from a log-log fit; 0 for the others.

    In m*x/(a^2 + b^2) the exponents of m and x are 1, and those of a and b are not close to an integer.
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
    reach = np.minimum(Noise.INTEGER_ERRORS * errors + Noise.INTEGER_MISS, Noise.INTEGER_MOST)
    powers[usable] = np.where(np.abs(slopes - whole) <= reach, whole, 0.0)[1:].astype(np.int64)
    return powers


def _scaled(link: Link, view: View, data: Data, noise: RowNoise, total: float, *, most: int) -> list[Frame]:
    """Return frames of the target times powers of the variables, for those that polynomials of low degree fit best."""
    usable = np.flatnonzero((data.columns != 0).all(axis=1))
    powers = np.concatenate([likely_scales(data, usable), scales(usable)])
    if len(powers) == 0:
        return []
    first = PEELED[link.name] * integer_powers(data, noise)[usable]
    powers = np.concatenate([first[np.newaxis], powers]) if first.any() else powers
    powers = unique_rows(powers)[: Noise.MOST_SCALES]
    target, scale = view
    factors = powers_of(data, usable, powers)
    some = slice(None, None, max(1, data.n_rows // Noise.SCALED_ROWS))
    ranked = polynomial_columns(data.columns, np.ones(data.n_rows), most=Noise.RANKED_COLUMNS).columns[:, some]
    # multiplied out, to compare residuals in the unit of g(y): g(y) is a polynomial divided by the factor
    with np.errstate(all="ignore"):
        designs = ranked[np.newaxis] * (scale[some] / factors[:, some])[:, np.newaxis]
    whitened = (target * scale)[some]
    left = _left_over(designs, whitened) + Noise.POWER * np.abs(powers).sum(axis=1)
    if first.any() and np.isfinite(left[0]):
        left[0] = -np.inf  # the exponents of `integer_powers` are always used
    found = []
    for rank, k in enumerate(np.argsort(left, kind="stable")[: Noise.SCALED].tolist()):
        if left[k] == np.inf:
            break
        own = np.zeros(data.n_variables, np.int64)
        own[usable] = powers[k]
        for n_columns in (1, most) if rank == 0 else (most,):  # with few free columns, expressions are shorter
            with np.errstate(all="ignore"):
                free = polynomial_columns(data.columns, scale / np.abs(factors[k]), most=n_columns)
            if np.isfinite(free.row_scale).all():
                own_target, sign = factors[k] * target, _sign(link, data.y)
                found.append(Frame(link, free, tuple(own.tolist()), own_target, sign, total=total))
    return found


def _left_over(designs: Numbers, target: Numbers) -> Numbers:
    """Return the residual sum of squares for each design, of shape (columns, rows); infinity if it is not finite."""
    norms = np.linalg.norm(designs, axis=2)
    sound = np.flatnonzero((np.isfinite(norms) & (norms > 0)).all(axis=1))
    found, designs, norms = np.full(len(designs), np.inf), designs[sound], norms[sound]
    bases, _ = np.linalg.qr((designs / norms[:, :, np.newaxis]).transpose(0, 2, 1))
    rest = target - (bases @ (target @ bases)[:, :, np.newaxis])[:, :, 0]
    found[sound] = np.square(rest).sum(axis=1)
    return found


def _sign(link: Link, y: Numbers) -> float:
    return -1.0 if link.is_even and np.median(y) < 0 else 1.0
