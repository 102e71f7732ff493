"""Whole coefficients where no others can be written: found by moving one or two at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.data import Data
from edhie.results.description import residual_bits
from edhie.search.mosaic.frames.frame import Frame

Numbers = NDArray[np.float64]
MOVES = 40  # at most
MOST_PAIRED = 16  # columns
AT_ONCE = 16  # predictions that are looked at together: so many stay near the processor
SYMBOLS_A_COLUMN = 5.0  # what a column more costs, about


def whole_coefficients(frame: Frame, start: Numbers, data: Data, prices: Sequence[float]) -> Numbers:
    """(prices, columns): whole coefficients of a frame that describe the data in few bits, from `start` on.

    `data` are the rows that the frame was made of; a price is what a symbol costs, in bits.
    """
    around = _Surroundings(frame, start, data)
    return np.array([_descended(around, start, price) for price in prices])


def _descended(around: _Surroundings, start: Numbers, price: float) -> Numbers:
    best, least = start, float(around.at_start + _symbols(start[np.newaxis])[0] * price)
    for _ in range(MOVES):
        tried = best + around.steps
        bits = around.residual_bits(best) + _symbols(tried) * price
        k = int(np.argmin(bits))
        if not bits[k] < least:
            break
        best, least = tried[k], float(bits[k])
    return best


class _Surroundings:
    """What is left of the target a step away from coefficients; remembered, as ways down have a beginning in common."""

    def __init__(self, frame: Frame, start: Numbers, data: Data) -> None:
        self.steps = _steps(len(start))
        self._frame, self._data = frame, data
        self._scale = np.prod(data.columns ** np.array(frame.scale)[:, np.newaxis], axis=0) if any(frame.scale) else 1.0
        self._known: dict[bytes, Numbers] = {}
        self.at_start = float(self._bits(start[np.newaxis])[0])

    def residual_bits(self, best: Numbers) -> Numbers:
        """By step from `best`: the bits of what is left."""
        key = best.tobytes()
        if key not in self._known:
            self._known[key] = self._bits(best + self.steps)
        return self._known[key]

    def _bits(self, tried: Numbers) -> Numbers:
        frame, data = self._frame, self._data
        with np.errstate(all="ignore"):
            inner = tried @ frame.block.columns / self._scale
            sign = frame.sign if frame.link.is_even else 1.0
            parts = [
                residual_bits(frame.link.undo(inner[k : k + AT_ONCE]) * sign, data)
                for k in range(0, len(inner), AT_ONCE)
            ]
        return np.concatenate(parts)


def _symbols(tried: Numbers) -> Numbers:
    """How many symbols coefficients take, about."""
    found: Numbers = (np.abs(tried) + (tried != 0) * SYMBOLS_A_COLUMN).sum(axis=1)
    return found


def _steps(n: int) -> Numbers:
    """One coefficient moved, or, of not too many, two at a time: one may have to give what another takes."""
    unit = np.eye(n)
    steps = [s * unit for s in (1, -1, 2, -2)]
    if n <= MOST_PAIRED:
        first, second = np.triu_indices(n, 1)
        steps += [s * unit[first] + t * unit[second] for s in (1, -1) for t in (1, -1)]
    return np.concatenate(steps)
