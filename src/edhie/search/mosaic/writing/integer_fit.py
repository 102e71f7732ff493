"""Whole coefficients, where no others can be written: found by moving one or two at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edhie.evaluate.data import Data
from edhie.results.description import residual_bits
from edhie.search.arrays import Numbers
from edhie.search.mosaic.config import Coefficients
from edhie.search.mosaic.frames.frame import Frame


def whole_coefficients(frame: Frame, start: Numbers, data: Data, prices: Sequence[float]) -> Numbers:
    """Return (prices, columns): whole coefficients of a frame with a short description, found from `start`.

    `data` are the rows that the frame was made of; a price is the cost of a symbol, in bits.
    """
    descent = _Descent(frame, start, data)
    return np.array([descent.run(start, price) for price in prices])


class _Descent:
    """Descents from the same start, which have their first steps in common: the bits around a point are kept."""

    def __init__(self, frame: Frame, start: Numbers, data: Data) -> None:
        self._steps = _steps(len(start))
        self._frame, self._data = frame, data
        self._scale = np.prod(data.columns ** np.array(frame.scale)[:, np.newaxis], axis=0) if any(frame.scale) else 1.0
        self._known: dict[bytes, Numbers] = {}
        self._at_start = float(self._residual_bits(start[np.newaxis])[0])

    def run(self, start: Numbers, price: float) -> Numbers:
        best, least = start, float(self._at_start + _symbols(start[np.newaxis])[0] * price)
        for _ in range(Coefficients.STEPS):
            tried, key = best + self._steps, best.tobytes()
            if key not in self._known:
                self._known[key] = self._residual_bits(tried)
            bits = self._known[key] + _symbols(tried) * price
            k = int(np.argmin(bits))
            if not bits[k] < least:
                break
            best, least = tried[k], float(bits[k])
        return best

    def _residual_bits(self, tried: Numbers) -> Numbers:
        frame, size = self._frame, Coefficients.AT_ONCE
        with np.errstate(all="ignore"):
            inner = tried @ frame.free.columns / self._scale
            sign = frame.sign if frame.link.is_even else 1.0
            parts = [
                residual_bits(frame.link.undo(inner[k : k + size]) * sign, self._data)
                for k in range(0, len(inner), size)
            ]
        return np.concatenate(parts)


def _symbols(tried: Numbers) -> Numbers:
    """Return about how many symbols coefficients take."""
    found: Numbers = (np.abs(tried) + (tried != 0) * Coefficients.SYMBOLS_A_COLUMN).sum(axis=1)
    return found


def _steps(n: int) -> Numbers:
    """Return moves of one coefficient and, of not too many, of two: one may have to give what another takes."""
    unit = np.eye(n)
    steps = [s * unit for s in (1, -1, 2, -2)]
    if n <= Coefficients.MOST_PAIRED:
        first, second = np.triu_indices(n, 1)
        steps += [s * unit[first] + t * unit[second] for s in (1, -1) for t in (1, -1)]
    return np.concatenate(steps)
