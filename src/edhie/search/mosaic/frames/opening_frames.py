"""The frames that a search begins with."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.data import Data
from edhie.expr import SymbolLibrary
from edhie.search.mosaic.config import MosaicConfig
from edhie.search.mosaic.frames.frame import Frame
from edhie.search.mosaic.frames.free_columns import LARGEST_VALUE, FreeColumns, logarithm_block, polynomial_block
from edhie.search.mosaic.frames.links import IDENTITY, PRODUCT_LINKS, Link, usable_links

Numbers = NDArray[np.float64]
SCALED_LINKS = ("y", "1/y", "y^2", "1/y^2")
MOST_SCALES = 3000
SCALES_A_LINK = 4
HIGHEST_POWER = 2
MOVES = (-2, -1, 1, 2)
RELATIVE_LINKS = ("y", "1/y", "y^2", "exp(y)")
MOST_TRUST = 1e4  # in a row, over that in the median row


def opening_frames(
    data: Data, library: SymbolLibrary, config: MosaicConfig, *, for_columns: bool = False
) -> list[Frame]:
    """The ways to look at the target that its values and the library allow, the plainest first.

    For columns alone scales are left out, and relative errors are looked at through more links.
    """
    weights = np.ones(data.n_rows) if data.weights is None else np.sqrt(data.weights / data.weights.mean())
    with np.errstate(all="ignore"):
        links = usable_links(data.y, library) if config.links else [IDENTITY]
    plain = polynomial_block(data.columns, weights, is_rich=False)
    polynomial = polynomial_block(data.columns, weights, is_rich=config.blocks)
    frames = [_frame(link, plain, data) for link in links]
    if len(polynomial.exponents) > 1:
        frames += [_frame(link, polynomial, data) for link in links]
    if config.scales and not for_columns:
        frames += _scaled_frames(links, polynomial, data)
    if config.products:
        logarithms = logarithm_block(data.columns, weights, is_rich=config.blocks)
        frames += [
            _product_frame(link, logarithms, data)
            for link in links
            if link.name in PRODUCT_LINKS and (link.apply(data.y) != 0).all()
        ]
    relative = links if for_columns else [IDENTITY]
    frames += _relative_frames(relative, weights, data, is_rich=config.blocks)
    first = frames[0]  # the target itself, which may be constant
    return [frame for frame in frames if is_sound(frame) and (frame is first or np.ptp(frame.target) > 0)]


def is_sound(frame: Frame) -> bool:
    """Whether its target is of a size at which squares are numbers."""
    largest = float(np.max(np.abs(frame.target * frame.block.row_scale)))
    return largest < LARGEST_VALUE and (largest > 1 / LARGEST_VALUE or not frame.target.any())


def _relative_frames(links: list[Link], weights: Numbers, data: Data, *, is_rich: bool) -> list[Frame]:
    """Frames in which rows count as they should where noise is in proportion to the target."""
    if not (data.y != 0).all():
        return []
    found = []
    for link in links:
        if link.name not in RELATIVE_LINKS:
            continue
        with np.errstate(all="ignore"):
            spread = np.abs(link.slope(data.y) * data.y)
            trusted = np.minimum(np.median(spread) / spread, MOST_TRUST)
        if np.isfinite(trusted).all():
            found.append(_frame(link, polynomial_block(data.columns, weights * trusted, is_rich=is_rich), data))
    return found


def _frame(link: Link, block: FreeColumns, data: Data) -> Frame:
    with np.errstate(all="ignore"):
        target = link.apply(data.y)
    return Frame(link, block, (0,) * data.n_variables, target, _sign(link, data.y))


def _product_frame(link: Link, block: FreeColumns, data: Data) -> Frame:
    with np.errstate(all="ignore"):
        linked = link.apply(data.y)
        target = np.log(np.abs(linked))
    return Frame(link, block, (0,) * data.n_variables, target, float(np.sign(linked[0])))


def _sign(link: Link, y: Numbers) -> float:
    return -1.0 if link.is_even and y[0] < 0 else 1.0


def _scaled_frames(links: list[Link], block: FreeColumns, data: Data) -> list[Frame]:
    """For each link those few powers of the variables with which the block alone leaves the least."""
    usable = np.flatnonzero((data.columns != 0).all(axis=1))
    powers = np.concatenate([scales(data.n_variables, usable), likely_scales(data, usable)])
    powers = powers[np.sort(np.unique(powers, axis=0, return_index=True)[1])] if len(powers) else powers
    if len(powers) == 0:
        return []
    with np.errstate(all="ignore"):
        factors = np.exp(powers @ np.log(np.abs(data.columns[usable]))) if len(usable) else np.ones((0, data.n_rows))
    n_negative = (powers % 2) @ (data.columns[usable] < 0)  # factors, by row
    factors *= 1.0 - 2.0 * (n_negative % 2)
    found = []
    for link in links:
        if link.name not in SCALED_LINKS:
            continue
        with np.errstate(all="ignore"):
            targets = factors * link.apply(data.y)
            finite = (np.abs(targets * block.row_scale) < LARGEST_VALUE).all(axis=1)
        unexplained = np.full(len(targets), np.inf)
        unexplained[finite] = _unexplained(targets[finite], block)
        for k in np.argsort(unexplained, kind="stable")[:SCALES_A_LINK]:
            if np.isfinite(unexplained[k]):
                scale = np.zeros(data.n_variables, np.int64)
                scale[usable] = powers[k]
                found.append(Frame(link, block, tuple(scale.tolist()), targets[k], _sign(link, data.y)))
    return found


def likely_scales(data: Data, usable: NDArray[np.int64]) -> NDArray[np.int64]:
    """Powers near those that take the target's own dependence on the variables away, as logarithms see it."""
    n = len(usable)
    if n == 0 or not (data.y != 0).all() or data.n_rows < 3 * n:
        return np.zeros((0, n), np.int64)
    design = np.column_stack([np.ones(data.n_rows), np.log(np.abs(data.columns[usable])).T])
    slopes = np.linalg.lstsq(design, np.log(np.abs(data.y)), rcond=None)[0][1:]
    centre = np.clip(np.round(slopes), -3, 3).astype(np.int64)
    moves = [np.zeros(n, np.int64)]
    unit = np.eye(n, dtype=np.int64)
    moves += [s * unit[k] for k in range(n) for s in (-2, -1, 1, 2)]
    moves += [s * unit[a] + t * unit[b] for a in range(n) for b in range(a) for s in MOVES for t in MOVES]
    around = np.unique(np.array([centre + move for move in moves[:MOST_SCALES]]), axis=0)
    every = np.concatenate([-around, around, -2 * around])  # for y, for 1/y, for its square
    found: NDArray[np.int64] = every[np.abs(every).sum(axis=1) > 0]
    return found


def _unexplained(targets: Numbers, block: FreeColumns) -> Numbers:
    """By target: the share of its variance that the block leaves; infinite where it has none."""
    scaled = targets * block.row_scale
    ones = block.row_scale / np.linalg.norm(block.row_scale)
    about = scaled - np.outer(scaled @ ones, ones)
    totals = np.einsum("ij,ij->i", about, about)
    rest = block.without(scaled)
    squares = np.einsum("ij,ij->i", scaled, scaled)
    with np.errstate(all="ignore"):
        return np.where(totals > 1e-12 * squares, np.einsum("ij,ij->i", rest, rest) / totals, np.inf)


def scales(n_variables: int, usable: NDArray[np.int64]) -> NDArray[np.int64]:
    """Powers of the usable variables to multiply a target with, the plainest first; not all zero."""
    n = len(usable)
    if n == 0:
        return np.zeros((0, 0), np.int64)
    highest = next((h for h in (HIGHEST_POWER, 1) if (2 * h + 1) ** n <= 20 * MOST_SCALES), 0)
    if highest == 0:  # too many variables for all: at most three at a time
        rows = [np.eye(n, dtype=np.int64)[k] * s for k in range(n) for s in (1, -1)]
        rows += [
            np.eye(n, dtype=np.int64)[a] * s + np.eye(n, dtype=np.int64)[b] * t
            for a in range(n) for b in range(a) for s, t in product((1, -1), repeat=2)
        ]  # fmt: skip
        return np.array(rows[:MOST_SCALES])
    every = np.array(list(product(range(-highest, highest + 1), repeat=n)), np.int64)
    degrees = np.abs(every).sum(axis=1)
    order = np.argsort(degrees, kind="stable")
    found: NDArray[np.int64] = every[order][degrees[order] > 0][:MOST_SCALES]
    return found
