"""The frames of the first round: for the target, and for the residuals and ratios of guesses.

Guesses are expressions known before a search, such as a user's. Their subtrees become pieces. If a guess g lacks a
term, that term is the residual y - g; if it lacks a factor, that is the ratio y/g. Either is often simpler than y, and
gets the same frames. Expressions written from these contain the guess, and all constants are refitted together, because
those of the guess alone compensated for the missing part.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np

from edhie.evaluate.archive import Archive
from edhie.evaluate.data import Data
from edhie.expr import Forest, SymbolLibrary
from edhie.expr.splicing import distinct_subtrees
from edhie.search.arrays import LARGEST_VALUE, Indices, Numbers, unfitted
from edhie.search.mosaic.config import Columns, MosaicConfig, Opening
from edhie.search.mosaic.frames.frame import IDENTITY, Frame, Link, usable_links
from edhie.search.mosaic.frames.free_columns import FreeColumns, logarithm_columns, polynomial_columns


def opening_frames(
    data: Data, library: SymbolLibrary, config: MosaicConfig, *, for_columns: bool = False
) -> list[Frame]:
    """Return the frames that the target's values and the library allow, the simplest first.

    With `for_columns`, return frames to be written with their free columns alone: without powers of the variables as
    factors, and with weights for relative errors in more links.
    """
    weights = np.ones(data.n_rows) if data.weights is None else np.sqrt(data.weights / data.weights.mean())
    with np.errstate(all="ignore"):
        links = usable_links(data.y, library) if config.links else [IDENTITY]
    most = Columns.MOST if config.polynomials else 1
    plain, polynomial = (polynomial_columns(data.columns, weights, most=n) for n in (1, most))
    frames = [_frame(link, plain, data) for link in links]
    if not polynomial.is_constant:
        frames += [_frame(link, polynomial, data) for link in links]
    if config.scales and not for_columns:
        frames += _scaled_frames(links, polynomial, data)
    if config.products:
        logarithms = logarithm_columns(data.columns, weights, is_rich=config.polynomials)
        for link in links:
            linked = link.apply(data.y)
            if link.name in Opening.PRODUCT_LINKS and (linked != 0).all():
                target, sign = np.log(np.abs(linked)), float(np.sign(linked[0]))
                frames.append(Frame(link, logarithms, (0,) * data.n_variables, target, sign))
    for link in links if for_columns else [IDENTITY]:
        if link.name in Opening.RELATIVE_LINKS and (data.y != 0).all():  # for noise in proportion to the target
            with np.errstate(all="ignore"):
                spread = np.abs(link.slope(data.y) * data.y)
                trusted = np.minimum(np.median(spread) / spread, Opening.MOST_TRUST)
            if np.isfinite(trusted).all():
                frames.append(_frame(link, polynomial_columns(data.columns, weights * trusted, most=most), data))
    return sound_frames(frames)


def sound_frames(frames: list[Frame]) -> list[Frame]:
    """Return the frames whose targets vary, and whose squares neither overflow nor underflow.

    The first frame, of the target itself, may be constant.
    """
    found = []
    for frame in frames:
        largest = float(np.max(np.abs(frame.target * frame.free.row_scale)))
        is_sound = largest < LARGEST_VALUE and (largest > 1 / LARGEST_VALUE or not frame.target.any())
        if is_sound and (frame is frames[0] or np.ptp(frame.target) > 0):
            found.append(frame)
    return found


def _frame(link: Link, free: FreeColumns, data: Data) -> Frame:
    with np.errstate(all="ignore"):
        target = link.apply(data.y)
    return Frame(link, free, (0,) * data.n_variables, target, _sign(link, data.y))


def _sign(link: Link, y: Numbers) -> float:
    return -1.0 if link.is_even and y[0] < 0 else 1.0


# -- targets times powers of the variables ----------------------------------------------


def _scaled_frames(links: list[Link], free: FreeColumns, data: Data) -> list[Frame]:
    """Return frames of each link times powers of the variables, for the few that the free columns fit best."""
    usable = np.flatnonzero((data.columns != 0).all(axis=1))
    powers = unique_rows(np.concatenate([scales(usable), likely_scales(data, usable)]))
    if len(powers) == 0:
        return []
    factors = powers_of(data, usable, powers)
    found = []
    for link in links:
        if link.name not in Opening.SCALED_LINKS:
            continue
        with np.errstate(all="ignore"):
            targets = factors * link.apply(data.y)
            finite = (np.abs(targets * free.row_scale) < LARGEST_VALUE).all(axis=1)
        unexplained = np.full(len(targets), np.inf)
        unexplained[finite] = _unexplained(targets[finite], free)
        for k in np.argsort(unexplained, kind="stable")[: Opening.SCALES_A_LINK]:
            if np.isfinite(unexplained[k]):
                scale = np.zeros(data.n_variables, np.int64)
                scale[usable] = powers[k]
                found.append(Frame(link, free, tuple(scale.tolist()), targets[k], _sign(link, data.y)))
    return found


def unique_rows(powers: Indices) -> Indices:
    """Return the rows without duplicates, in order of their first occurrence."""
    return powers[np.sort(np.unique(powers, axis=0, return_index=True)[1])] if len(powers) else powers


def powers_of(data: Data, usable: Indices, powers: Indices) -> Numbers:
    """Return (powers, rows): products of the usable variables, which are nowhere 0, with these exponents."""
    columns = data.columns[usable]
    with np.errstate(all="ignore"):
        factors = np.exp(powers @ np.log(np.abs(columns)))
    n_negative = (powers % 2) @ (columns < 0)  # negative factors in each row
    return np.asarray(factors * (1.0 - 2.0 * (n_negative % 2)))


def likely_scales(data: Data, usable: Indices) -> Indices:
    """Return exponents near those of a log-log fit that cancel the target's dependence on the usable variables."""
    n = len(usable)
    if n == 0 or not (data.y != 0).all() or data.n_rows < 3 * n:
        return np.zeros((0, n), np.int64)
    design = np.column_stack([np.ones(data.n_rows), np.log(np.abs(data.columns[usable])).T])
    slopes = np.linalg.lstsq(design, np.log(np.abs(data.y)), rcond=None)[0][1:]
    centre = np.clip(np.round(slopes), -3, 3).astype(np.int64)
    unit, steps = np.eye(n, dtype=np.int64), Opening.MOVES
    moves = [np.zeros(n, np.int64)]
    moves += [s * unit[k] for k in range(n) for s in steps]
    moves += [s * unit[a] + t * unit[b] for a in range(n) for b in range(a) for s in steps for t in steps]
    around = np.unique(np.array([centre + move for move in moves[: Opening.MOST_SCALES]]), axis=0)
    every = np.concatenate([-around, around, -2 * around])  # for y, 1/y and y²
    return np.asarray(every[np.abs(every).sum(axis=1) > 0])


def scales(usable: Indices) -> Indices:
    """Return exponents of the usable variables in factors of a target, the simplest first; not all zero."""
    n, most = len(usable), Opening.MOST_SCALES
    highest = next((h for h in (Opening.HIGHEST_POWER, 1) if (2 * h + 1) ** n <= 20 * most), 0)
    if highest == 0:  # too many variables for all combinations: at most two at a time
        unit = np.eye(n, dtype=np.int64)
        rows = [unit[k] * s for k in range(n) for s in (1, -1)]
        rows += [unit[a] * s + unit[b] * t for a in range(n) for b in range(a) for s, t in product((1, -1), repeat=2)]
        return np.array(rows[:most])
    every = np.array(list(product(range(-highest, highest + 1), repeat=n)), np.int64)
    degrees = np.abs(every).sum(axis=1)
    order = np.argsort(degrees, kind="stable")
    return np.asarray(every[order][degrees[order] > 0][:most])


def _unexplained(targets: Numbers, free: FreeColumns) -> Numbers:
    """Return, by target, the share of its variance that the free columns do not explain; infinity if it has none."""
    scaled = targets * free.row_scale
    ones = free.row_scale / np.linalg.norm(free.row_scale)
    about = scaled - np.outer(scaled @ ones, ones)
    totals = np.einsum("ij,ij->i", about, about)
    rest = free.without(scaled)
    squares = np.einsum("ij,ij->i", scaled, scaled)
    with np.errstate(all="ignore"):
        return np.where(totals > 1e-12 * squares, np.einsum("ij,ij->i", rest, rest) / totals, np.inf)


# -- guesses ------------------------------------------------------------------------------


def best_guesses(explored: Archive, n_given: int) -> Forest:
    """Return the best few of the first `n_given` explored expressions, each structure once."""
    forest = explored.take(_best(explored, n_given))
    return forest.take(unfitted(forest).grouped()[0][: Opening.SURROUNDED])


def guess_pieces(explored: Archive, n_given: int, largest: int) -> Forest:
    """Return the distinct subtrees, of at most `largest` nodes, of the best of the first `n_given` expressions."""
    parts = distinct_subtrees(explored.take(np.sort(_best(explored, n_given))), largest)
    return parts[: Opening.GUESS_PIECES]


def _best(explored: Archive, n_given: int) -> Indices:
    given = np.flatnonzero((explored.ages < n_given) & np.isfinite(explored.errors))
    return given[np.argsort(explored.errors[given], kind="stable")[: Opening.GUESSES]]


def frames_around(
    operator: str, guesses: Forest, values: Numbers, data: Data, library: SymbolLibrary, config: MosaicConfig
) -> list[Frame]:
    """Return frames for the parts that guesses lack: a factor if the operator is `*`, a term if it is `+`.

    `values` are those of the guesses, of shape (guesses, rows).
    """
    plain = replace(config, scales=False)
    found = []
    for k, row in enumerate(values if operator in library else ()):
        rest = _rest(operator, row, data)
        if rest is not None:
            frames = opening_frames(rest, library, plain)
            found += [replace(frame, around=(operator, guesses.take([k]))) for frame in frames]
    return found


def _rest(operator: str, row: Numbers, data: Data) -> Data | None:
    """Return data with the residual or ratio as target; None if it is constant or not finite, or weights overflow."""
    with np.errstate(all="ignore"):
        rest = data.with_target(data.y - row) if operator == "+" else data.with_target(data.y / row, divided_by=row)
    weights = np.ones(1) if rest.weights is None else rest.weights
    are_sound = (weights > 1 / Opening.LARGEST_WEIGHT).all() and (weights < Opening.LARGEST_WEIGHT).all()
    return rest if np.isfinite(rest.y).all() and np.ptp(rest.y) > 0 and are_sound else None
