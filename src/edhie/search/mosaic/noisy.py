"""Frames for noisy targets: rows count by the noise that a link gives them, so that all frames are in one unit.

Noise of standard deviation σ in y becomes noise of about g'(y)·σ in g(y): where 1/y is large it says little. With rows
weighed by that, what a piece leaves in any frame is what it leaves of the target, in standard deviations.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.data import Data
from edhie.expr import SymbolLibrary
from edhie.search.mosaic.blocks import Block, logarithm_block, polynomial_block
from edhie.search.mosaic.config import MosaicConfig
from edhie.search.mosaic.frames import Frame
from edhie.search.mosaic.links import IDENTITY, LINKS, PRODUCT_LINKS, Link
from edhie.search.mosaic.opening import SCALED_LINKS, is_sound, likely_scales, scales

Numbers = NDArray[np.float64]
INSIDE = 0.8  # of the rows have to be where a link holds; the others do not count
RICH_COLUMNS, SCALED_COLUMNS = 21, 10  # of polynomials that come free, in scaled frames too
RICH = 3  # links besides the target itself with which polynomials come free: those that these explain best
SCALED = 3  # scaled frames of each link
SCALED_ROWS, MOST_SCALES = 100, 400  # by which, and of how many, the best are chosen


def noisy_frames(data: Data, library: SymbolLibrary, config: MosaicConfig, deviations: Numbers) -> list[Frame]:
    """Return ways to look at a target with noise of these standard deviations, row by row, the plainest first."""
    total = float(np.square((data.y - np.average(data.y, weights=deviations**-2.0)) / deviations).sum())
    with np.errstate(all="ignore"):
        usable = [link for link in LINKS if link.is_writable(library)] if config.links else [IDENTITY]
        views = {link: _view(link, data.y, deviations) for link in usable}
    views = {link: view for link, view in views.items() if view is not None}
    plain = [_framed(link, view, _polynomial(data, view[1]), data, total) for link, view in views.items()]
    rich = [_framed(link, view, _polynomial(data, view[1], is_rich=config.blocks), data, total)
            for link, view in views.items()]  # fmt: skip
    rich = [frame for frame in rich if len(frame.block.exponents) > 1]
    best = sorted(rich[1:], key=lambda frame: frame.unexplained)[:RICH]
    frames = [*plain, *rich[:1], *best]
    if config.scales:
        for link, view in views.items():
            if link.name in SCALED_LINKS:
                frames += _scaled(link, view, data, total, is_rich=config.blocks)
    if config.products:
        for link, view in views.items():
            if link.name in PRODUCT_LINKS:
                frames += _products(link, view, data, total, deviations, is_rich=config.blocks)
    first = frames[0]
    return [frame for frame in frames if is_sound(frame) and (frame is first or np.ptp(frame.target) > 0)]


View = tuple[Numbers, Numbers]
"""The target through a link, and by row one over the standard deviation that it has there; 0: the row does not count."""


def _view(link: Link, y: Numbers, deviations: Numbers) -> View | None:
    """The target through a link; None where it cannot be undone on enough rows."""
    inside = link.domain(y)
    if inside.mean() < INSIDE:
        return None
    target = np.where(inside, link.apply(y), 0.0)
    # over a standard deviation to either side, so that it is not nil where the slope happens to be
    slopes = [link.slope(y + share * deviations) for share in (-1.0, 0.0, 1.0)]
    squares = np.square(slopes)
    known = np.isfinite(squares)
    spread = deviations * np.sqrt(np.where(known, squares, 0.0).sum(axis=0) / known.sum(axis=0))
    scale = np.where(inside, 1.0 / spread, 0.0)
    is_usable = np.isfinite(target) & np.isfinite(scale)
    if is_usable.mean() < INSIDE or not scale[is_usable].any():
        return None
    return np.where(is_usable, target, 0.0), np.where(is_usable, scale, 0.0)


def _polynomial(data: Data, row_scale: Numbers, *, is_rich: bool = False, most: int = RICH_COLUMNS) -> Block:
    return polynomial_block(data.columns, row_scale, is_rich=is_rich, most=most)


def _framed(link: Link, view: View, block: Block, data: Data, total: float) -> Frame:
    return Frame(link, block, (0,) * data.n_variables, view[0], _sign(link, data.y), total=total)


def _products(link: Link, view: View, data: Data, total: float, deviations: Numbers, *, is_rich: bool) -> list[Frame]:
    """The linked target as a product of powers, with and without those of the variables coming free."""
    linked, scale = view
    with np.errstate(all="ignore"):
        sign = float(np.sign(np.median(linked)))
        inside = (linked * sign > 0) & (scale > 0)
        if sign == 0 or inside.mean() < INSIDE:
            return []
        target = np.where(inside, np.log(np.abs(linked)), 0.0)
        # the relative noise; beyond 1 the logarithm says nothing, and its noise is not normal
        scale = np.where(inside, scale * np.abs(linked), 0.0)
        scale = np.where(scale < 1.0, scale**2, scale)
    found = []
    for rich in (False, True) if is_rich else (False,):
        block = logarithm_block(data.columns, scale, is_rich=rich)
        if not rich or len(block.exponents) > 1:
            found.append(Frame(link, block, (0,) * data.n_variables, target, sign, total=total))
    return found


def _scaled(link: Link, view: View, data: Data, total: float, *, is_rich: bool) -> list[Frame]:
    """The linked target times powers of the variables: those with which a straight line leaves the least."""
    usable = np.flatnonzero((data.columns != 0).all(axis=1))
    powers = np.concatenate([likely_scales(data, usable), scales(data.n_variables, usable)])
    if len(powers) == 0:
        return []
    powers = powers[np.sort(np.unique(powers, axis=0, return_index=True)[1])][:MOST_SCALES]
    target, scale = view
    with np.errstate(all="ignore"):
        logs = np.log(np.abs(data.columns[usable]))
        factors = np.exp(powers @ logs) * (1.0 - 2.0 * (((powers % 2) @ (data.columns[usable] < 0)) % 2))
    some = slice(None, None, max(1, data.n_rows // SCALED_ROWS))
    columns = np.concatenate([np.ones((1, data.n_rows)), data.columns])[:, some]
    # multiplied out: g(y) is a straight line over the factor, in the unit of g(y)
    designs = columns[np.newaxis] * (scale[some] / factors[:, some])[:, np.newaxis]
    whitened = (target * scale)[some]
    left = np.array([_left_over(design, whitened) for design in designs])
    found = []
    for k in np.argsort(left, kind="stable")[:SCALED]:
        if np.isfinite(left[k]):
            own = np.zeros(data.n_variables, np.int64)
            own[usable] = powers[k]
            with np.errstate(all="ignore"):
                block = _polynomial(data, scale / np.abs(factors[k]), is_rich=is_rich, most=SCALED_COLUMNS)
            if np.isfinite(block.row_scale).all():
                found.append(
                    Frame(link, block, tuple(own.tolist()), factors[k] * target, _sign(link, data.y), total=total)
                )
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
