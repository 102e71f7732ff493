"""Frames around a guess: what it leaves of the target is looked at as if it were the target.

A guess that lacks a term leaves that term, y - g, and one that lacks a factor leaves the factor, y/g: through links,
beside polynomials and as products of powers it is often plain, while y is not. What is written there has the
guess before it, and all constants are fitted together, since those of the guess alone had to make up for the rest.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.data import Data
from edhie.expr import Forest, SymbolLibrary
from edhie.search.mosaic.config import MosaicConfig
from edhie.search.mosaic.frames.frame import Frame
from edhie.search.mosaic.frames.opening_frames import opening_frames

Numbers = NDArray[np.float64]
LARGEST_WEIGHT = 1e100


def frames_around(
    guesses: Forest, values: Numbers, data: Data, library: SymbolLibrary, config: MosaicConfig
) -> list[Frame]:
    """Frames of what guesses lack: a factor in the first third of them, in the others a term.

    `values` are theirs on the rows.
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
    """What a guess leaves, rows counting as they do in the target; None where that is nothing to look at."""
    with np.errstate(all="ignore"):
        y = data.y - row if operator == "+" else data.y / row
        weights = data.weights
        if operator == "*":
            weights = np.square(row) * (1.0 if weights is None else weights)
    if not np.isfinite(y).all() or np.ptp(y) == 0 or (weights is not None and not _are_sound(weights)):
        return None
    return Data(data.columns, y, weights, data.names)


def _are_sound(weights: Numbers) -> bool:
    return bool((weights > 1 / LARGEST_WEIGHT).all() and (weights < LARGEST_WEIGHT).all())
