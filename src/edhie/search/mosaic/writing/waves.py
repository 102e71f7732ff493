"""Waves of one variable: A·exp(k·x)·cos(ω·x + φ), beside a constant or a line.

A wave with a phase is a sum of a cosine and a sine, so for a frequency and an envelope on a grid the rest follows
by linear least squares. The best few are written, and a fit brings their constants to the optimum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from edhie.evaluate.data import Data
from edhie.expr import Expr
from edhie.search.arrays import LARGEST_VALUE, Numbers
from edhie.search.mosaic.config import OneVariable
from edhie.search.pieces.spelling import Speller, UnwritableError, Words


class Wave(NamedTuple):
    """One wave, and the polynomial beside it."""

    squares: float
    """The sum of squared residuals."""
    decay: float
    frequency: float
    cosine: float
    sine: float
    beside: Numbers
    """Coefficients of 1 and x."""


def wave_expressions(data: Data, speller: Speller) -> list[Expr]:
    """Return waves of single variables that explain a good part of the target."""
    found = []
    if speller.is_free and ("cos" in speller.library or "sin" in speller.library):
        for name, x in list(zip(data.names, data.columns, strict=True))[: OneVariable.MOST_VARIABLES]:
            for wave in waves_of(x, data.y, data.weights):
                try:
                    found.append(speller.expr(_words(wave, Words((name,)), speller)))
                except UnwritableError:
                    continue
    return found


def waves_of(x: Numbers, y: Numbers, weights: Numbers | None = None) -> list[Wave]:
    """Return the best waves beside a constant and beside a line, from different peaks of the grid."""
    n_values, span = len(np.unique(x)), float(np.ptp(x))
    if n_values < OneVariable.LEAST_VALUES or not span > 0:
        return []
    turns, steps = min(OneVariable.WAVE_TURNS, (n_values - 1) // 2), OneVariable.WAVE_STEPS  # more are not resolved
    frequencies = 2 * np.pi / span * np.arange(1, steps * turns + 1) / steps
    roots = np.ones(len(x)) if weights is None else np.sqrt(weights)
    angles = np.outer(frequencies, x)
    found = []
    for degree in (0, 1):
        powers = x ** np.arange(degree + 1)[:, np.newaxis]
        if np.abs(powers).max() > LARGEST_VALUE:
            break
        basis = np.linalg.qr((powers * roots).T)[0].T
        rest = _without(y * roots, basis)
        total = float(rest @ rest)
        tried = []
        for decay in OneVariable.WAVE_DECAYS:
            envelope = roots * np.exp(decay * (x - x.min()) / span)
            cosines, sines = (_without(wave * envelope, basis) for wave in (np.cos(angles), np.sin(angles)))
            left = total - _explained(cosines, sines, rest)
            inside = np.concatenate([[np.inf], left, [np.inf]])
            is_peak = (left <= inside[:-2]) & (left <= inside[2:])
            tried += [(float(left[k]), decay / span, float(frequencies[k])) for k in np.flatnonzero(is_peak)]
        best = sorted(each for each in tried if each[0] < (1 - OneVariable.WAVE_EXPLAINED) * total)
        found += [_solved(*each, x, y, roots, powers) for each in best[: OneVariable.WAVES_WRITTEN]]
    return [wave for wave in found if wave is not None]


def _without(rows: Numbers, basis: Numbers) -> Numbers:
    return rows - (rows @ basis.T) @ basis


def _explained(cosines: Numbers, sines: Numbers, target: Numbers) -> Numbers:
    """Return, by row, the squares of the target that the two columns explain together."""
    cc, ss = np.square(cosines).sum(axis=1), np.square(sines).sum(axis=1)
    cs, ct, st = (cosines * sines).sum(axis=1), cosines @ target, sines @ target
    with np.errstate(all="ignore"):
        found = (ct**2 * ss - 2 * ct * st * cs + st**2 * cc) / (cc * ss - cs**2)
    return np.where(cc * ss - cs**2 > 1e-9 * cc * ss, found, 0.0)


def _solved(
    squares: float, decay: float, frequency: float, x: Numbers, y: Numbers, roots: Numbers, powers: Numbers
) -> Wave | None:
    """Return a wave with its amplitudes, without an offset of x; None where its envelope overflows."""
    with np.errstate(all="ignore"):
        envelope = np.exp(decay * x)
        columns = np.stack([envelope * np.cos(frequency * x), envelope * np.sin(frequency * x), *powers])
        sizes = np.square(columns * roots).sum(axis=1)
    if not (np.isfinite(sizes).all() and (sizes > 0).all()):
        return None
    coefficients = np.asarray(np.linalg.lstsq((columns * roots).T, y * roots, rcond=None)[0], np.float64)
    return Wave(squares, decay, frequency, float(coefficients[0]), float(coefficients[1]), coefficients[2:])


def _words(wave: Wave, x: Words, speller: Speller) -> Words:
    size, phase = float(np.hypot(wave.cosine, wave.sine)), float(np.arctan2(-wave.sine, wave.cosine))
    name, phase = ("cos", phase) if "cos" in speller.library else ("sin", phase + np.pi / 2)
    term = speller.over(name, speller.sum([(wave.frequency, x)], phase))
    if wave.decay:
        term = speller.over("*", speller.over("exp", speller.sum([(wave.decay, x)])), term)
    parts = [(size, term), *((float(c), x) for c in wave.beside[1:])]
    return speller.sum(parts, float(wave.beside[0]))
