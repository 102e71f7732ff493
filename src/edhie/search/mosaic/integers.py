"""Whole coefficients where no others can be written: found by moving one or two at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.data import Data
from edhie.results.description import residual_bits
from edhie.search.mosaic.frames import Frame

Numbers = NDArray[np.float64]
MOVES = 40  # at most
MOST_PAIRED = 16  # columns
SYMBOLS_A_COLUMN = 5.0  # what a column more costs, about


def whole_coefficients(frame: Frame, start: Numbers, data: Data, price: float) -> Numbers:
    """Whole coefficients of a frame's columns that describe the data in few bits, from `start` on.

    `data` are the rows that the frame was made of; `price` is what a symbol costs, in bits.
    """
    steps = _steps(len(start))
    scale = np.prod(data.columns ** np.array(frame.scale)[:, np.newaxis], axis=0) if any(frame.scale) else 1.0
    best, least = start, _bits(start[np.newaxis], frame, scale, data, price)[0]
    for _ in range(MOVES):
        tried = best + steps
        bits = _bits(tried, frame, scale, data, price)
        k = int(np.argmin(bits))
        if not bits[k] < least:
            break
        best, least = tried[k], float(bits[k])
    return best


def _steps(n: int) -> Numbers:
    """One coefficient moved, or, of not too many, two at a time: one may have to give what another takes."""
    unit = np.eye(n)
    steps = [s * unit for s in (1, -1, 2, -2)]
    if n <= MOST_PAIRED:
        first, second = np.triu_indices(n, 1)
        steps += [s * unit[first] + t * unit[second] for s in (1, -1) for t in (1, -1)]
    return np.concatenate(steps)


def _bits(tried: Numbers, frame: Frame, scale: Numbers | float, data: Data, price: float) -> Numbers:
    with np.errstate(all="ignore"):
        inner = tried @ frame.block.columns / scale
        predicted = frame.link.undo(inner) * (frame.sign if frame.link.is_even else 1.0)
        residual = residual_bits(predicted, data)
    sizes = (np.abs(tried) + (tried != 0) * SYMBOLS_A_COLUMN).sum(axis=1)
    bits: Numbers = residual + sizes * price
    return bits
