"""Guesses: expressions known before a search, such as a user's. Their parts are pieces, their residuals are targets.

A guess that lacks a term leaves that term, y - g, and one that lacks a factor leaves the factor, y/g: through links,
beside polynomials and as products of powers it is often plain, while y is not. What is written there has the guess
before it, and all constants are fitted together, since those of the guess alone had to make up for the rest.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from edhie.evaluate.archive import Archive
from edhie.evaluate.data import Data
from edhie.expr import Forest, SymbolLibrary
from edhie.search.arrays import Indices, Numbers, unfitted
from edhie.search.mosaic.config import MosaicConfig, Opening
from edhie.search.mosaic.frames.frame import Frame
from edhie.search.mosaic.frames.opening_frames import opening_frames
from edhie.search.pieces.splicing import distinct_subtrees


def best_guesses(explored: Archive, n_given: int) -> Forest:
    """Return the few best of the first `n_given` expressions that were ever explored, each structure once."""
    forest = explored.take(_best(explored, n_given))
    return forest.take(unfitted(forest).grouped()[0][: Opening.SURROUNDED])


def guess_pieces(explored: Archive, n_given: int, largest: int) -> Forest:
    """Return the distinct parts of the best of the first `n_given` expressions, the smallest first."""
    parts = distinct_subtrees(explored.take(np.sort(_best(explored, n_given))), largest)
    return parts.take(np.arange(min(len(parts), Opening.GUESS_PIECES)))


def _best(explored: Archive, n_given: int) -> Indices:
    given = np.flatnonzero((explored.ages < n_given) & np.isfinite(explored.errors))
    return given[np.argsort(explored.errors[given], kind="stable")[: Opening.GUESSES]]


def frames_around(
    guesses: Forest, values: Numbers, data: Data, library: SymbolLibrary, config: MosaicConfig
) -> list[Frame]:
    """Return frames for what guesses lack: a factor in the first third of them, in the others a term.

    `values` are those of the guesses on the rows.
    """
    plain = replace(config, scales=False)
    found = []
    for k, row in enumerate(values):
        operator = "*" if k < len(guesses) // 3 else "+"
        rest = _rest(operator, row, data)
        if operator in library and rest is not None:
            frames = opening_frames(rest, library, plain)
            found += [replace(frame, around=(operator, guesses.take([k]))) for frame in frames]
    return found


def _rest(operator: str, row: Numbers, data: Data) -> Data | None:
    """Return the residual or the ratio, with weights as in the target; None where it cannot be looked at."""
    with np.errstate(all="ignore"):
        rest = data.with_target(data.y - row) if operator == "+" else data.with_target(data.y / row, divided_by=row)
    weights = np.ones(1) if rest.weights is None else rest.weights
    are_sound = (weights > 1 / Opening.LARGEST_WEIGHT).all() and (weights < Opening.LARGEST_WEIGHT).all()
    return rest if np.isfinite(rest.y).all() and np.ptp(rest.y) > 0 and are_sound else None
