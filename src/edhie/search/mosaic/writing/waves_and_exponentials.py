"""Waves and sums of exponentials of one variable, found on grids of their frequencies and rates.

A wave is A·exp(k·x)·cos(ω·x + φ), plus a constant or a line. It is a linear combination of a cosine and a sine, so with
frequency and decay on a grid, the rest follows by linear least squares. The best few are written as starting points of
a fit.

A sum of exponentials is a·exp(k·x) + b·exp(l·x), with or without a constant, or has three exponentials. Rates are on a
grid, and coefficients follow in the same way. The best rates are refined before they are written, because a fit from
poor starting points tends to make all rates equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from edhie.evaluate.data import Data, few_rows
from edhie.expr import Expr
from edhie.search.arrays import LARGEST_VALUE, Numbers
from edhie.search.mosaic.config import OneVariable
from edhie.search.mosaic.writing.peaks import OneVariableData
from edhie.search.pieces.spelling import Speller, UnwritableError

# -- waves ------------------------------------------------------------------------------


class Wave(NamedTuple):
    """One wave, and the polynomial that is added to it."""

    squares: float
    """The residual sum of squares."""
    decay: float
    frequency: float
    cosine: float
    sine: float
    beside: list[float]
    """Coefficients of 1 and x."""


def wave_expressions(data: Data, speller: Speller) -> list[Expr]:
    """Return waves of single variables that explain enough of the target."""
    found: list[Expr] = []
    if speller.is_free and ("cos" in speller.library or "sin" in speller.library):
        for one in OneVariableData.each(data, OneVariable.MOST_VARIABLES, OneVariable.LEAST_VALUES):
            for wave in waves_of(one):
                with suppress(UnwritableError):
                    found.append(_expr(wave, speller.leaf(one.name), speller))
    return found


def product_waves(data: Data, speller: Speller) -> list[Expr]:
    """Return waves of products and quotients of two or three variables, as sin(k·x·t), that explain enough."""
    few, found = few_rows(data, OneVariable.EXPONENTIAL_ROWS), []
    if not (speller.is_free and "/" in speller.library and ("cos" in speller.library or "sin" in speller.library)):
        return []
    for exponents in _products(data.n_variables):
        with np.errstate(all="ignore"):
            column = np.prod(few.columns ** exponents[:, np.newaxis], axis=0)
        if not (np.abs(column) < LARGEST_VALUE).all():
            continue
        derived = replace(few, columns=column[np.newaxis], names=few.names[:1])
        for one in OneVariableData.each(derived, 1, OneVariable.LEAST_VALUES):
            best = sorted(waves_of(one, degrees=(0,), decays=(0.0,)))[: OneVariable.PRODUCT_WAVES_WRITTEN]
            with suppress(UnwritableError):
                found += [(wave.squares, _expr(wave, speller.monomial(exponents.tolist()), speller)) for wave in best]
    found.sort(key=lambda each: each[0])
    return [expr for _, expr in found[: OneVariable.PRODUCT_WAVES]]


def _products(n_variables: int) -> list[Numbers]:
    """Return the exponents of the first products and quotients of two, then of three variables."""
    found = [
        np.array([signs[chosen.index(k)] if k in chosen else 0.0 for k in range(n_variables)])
        for count in (2, 3)
        for chosen in combinations(range(n_variables), count)
        for signs in product((1.0, -1.0), repeat=count)
        if max(signs) > 0
    ]
    return found[: OneVariable.MOST_PRODUCTS]


def waves_of(
    one: OneVariableData, degrees: Sequence[int] = (0, 1), decays: Sequence[float] = OneVariable.WAVE_DECAYS
) -> list[Wave]:
    """Return the best waves for each degree of the added polynomial, from different local optima of the grid."""
    x, span, roots, steps = one.x, one.span, one.roots, OneVariable.WAVE_STEPS
    turns = min(OneVariable.WAVE_TURNS, (one.n_values - 1) // 2)  # higher frequencies are not resolved
    frequencies = 2 * np.pi / span * np.arange(1, steps * turns + 1) / steps
    angles = np.outer(frequencies, x)
    both = np.cos(angles), np.sin(angles)
    found = []
    for degree in degrees:
        powers = x ** np.arange(degree + 1)[:, np.newaxis]
        if np.abs(powers).max() > LARGEST_VALUE:
            break
        basis = np.linalg.qr((powers * roots).T)[0].T
        rest = _without(one.target, basis)
        total = float(rest @ rest)
        tried = []
        for decay in decays:
            envelope = roots * np.exp(decay * (x - one.first) / span)
            cosines, sines = (_without(wave * envelope, basis) for wave in both)
            left = total - _explained(cosines, sines, rest)
            inside = np.concatenate([[np.inf], left, [np.inf]])
            is_peak = (left <= inside[:-2]) & (left <= inside[2:])
            tried += [(float(left[k]), decay / span, float(frequencies[k])) for k in np.flatnonzero(is_peak)]
        best = sorted(each for each in tried if each[0] < (1 - OneVariable.WAVE_EXPLAINED) * total)
        found += [wave for each in best[: OneVariable.WAVES_WRITTEN] for wave in _solved(*each, one, powers)]
    return found


def _without(rows: Numbers, basis: Numbers) -> Numbers:
    return rows - (rows @ basis.T) @ basis


@np.errstate(all="ignore")
def _explained(cosines: Numbers, sines: Numbers, target: Numbers) -> Numbers:
    """Return, by row, the sum of squares of the target that a cosine and a sine explain together."""
    cc, ss = np.square(cosines).sum(axis=1), np.square(sines).sum(axis=1)
    cs, ct, st = (cosines * sines).sum(axis=1), cosines @ target, sines @ target
    found = (ct**2 * ss - 2 * ct * st * cs + st**2 * cc) / (cc * ss - cs**2)
    return np.where(cc * ss - cs**2 > 1e-9 * cc * ss, found, 0.0)


@np.errstate(all="ignore")
def _solved(squares: float, decay: float, frequency: float, one: OneVariableData, powers: Numbers) -> list[Wave]:
    """Return a wave with its coefficients, as a function of x itself; an empty list if its envelope overflows."""
    envelope, angles = np.exp(decay * one.x), frequency * one.x
    columns = np.stack([envelope * np.cos(angles), envelope * np.sin(angles), *powers])
    sizes = np.square(columns * one.roots).sum(axis=1)
    if not (np.isfinite(sizes).all() and (sizes > 0).all()):
        return []
    cosine, sine, *beside = one.coefficients(columns)
    return [Wave(squares, decay, frequency, cosine, sine, beside)]


def _expr(wave: Wave, x: Expr, speller: Speller) -> Expr:
    size, phase = float(np.hypot(wave.cosine, wave.sine)), float(np.arctan2(-wave.sine, wave.cosine))
    name, phase = ("cos", phase) if "cos" in speller.library else ("sin", phase + np.pi / 2)
    term = speller.over(name, speller.sum([(wave.frequency, x)], phase))
    if wave.decay:
        term = speller.over("*", speller.over("exp", speller.sum([(wave.decay, x)])), term)
    return speller.sum([(size, term), *((c, x) for c in wave.beside[1:])], wave.beside[0])


# -- sums of exponentials ---------------------------------------------------------------


def exponential_expressions(data: Data, speller: Speller) -> list[Expr]:
    """Return sums of exponentials that explain enough of the target."""
    found: list[Expr] = []
    few = few_rows(data, OneVariable.EXPONENTIAL_ROWS)
    every = OneVariableData.each(few, OneVariable.MOST_VARIABLES, OneVariable.LEAST_VALUES)
    for one in every if speller.is_free and "exp" in speller.library else ():
        for n, with_constant in OneVariable.EXPONENTIALS:
            rates, coefficients = best_exponentials(one, n, with_constant=with_constant) or ([], [])
            with suppress(UnwritableError):
                terms = [speller.over("exp", speller.sum([(rate, speller.leaf(one.name))])) for rate in rates]
                parts = list(zip(coefficients, terms, strict=False))
                if parts:
                    found.append(speller.sum(parts, coefficients[-1] if with_constant else 0.0))
    return found


def best_exponentials(
    one: OneVariableData, n_exponentials: int, *, with_constant: bool
) -> tuple[list[float], list[float]] | None:
    """Return the rates with the smallest residuals, and the coefficients of the exponentials and the constant.

    None if they explain too little, or the variable has too few distinct values.
    """
    if one.n_values < 3 * n_exponentials:
        return None
    n_free, x, grid = n_exponentials + with_constant, (one.x - one.first) / one.span, OneVariable.EXPONENTIAL_RATES
    chosen = np.array(list(combinations(range(len(grid)), n_exponentials)))
    designs = np.empty((len(chosen), len(x), n_free))
    designs[:, :, :n_exponentials] = (np.exp(np.outer(grid, x)) * one.roots)[chosen].transpose(0, 2, 1)
    designs[:, :, n_exponentials:] = one.roots[:, np.newaxis]
    along = np.einsum("knj,n->kj", np.linalg.qr(designs)[0], one.target)
    left = float(one.target @ one.target) - np.square(along).sum(axis=1)
    k = int(np.argmin(left))
    if not one.is_explained(left[k]):
        return None
    rates, coefficients = _refined(np.array(grid)[chosen[k]], x, one, n_free)
    rates = rates / one.span
    with np.errstate(all="ignore"):
        coefficients[:n_exponentials] *= np.exp(-rates * one.first)  # written as functions of x itself
    return (rates.tolist(), coefficients.tolist()) if np.isfinite([*rates, *coefficients]).all() else None


def _refined(rates: Numbers, x: Numbers, one: OneVariableData, n_free: int) -> tuple[Numbers, Numbers]:
    """Return rates refined from those of the grid, with their coefficients.

    Coefficients are solved for at every step (variable projection): a joint fit converges slowly if rates are similar.
    """
    from scipy.optimize import least_squares

    def rates_of(logs: Numbers) -> Numbers:
        return np.asarray(np.sign(rates) * np.exp(np.clip(logs, -5.0, 5.0)))

    def columns(logs: Numbers) -> Numbers:
        return np.concatenate([np.exp(np.outer(rates_of(logs), x)), np.ones((n_free - len(rates), len(x)))])

    def residuals(logs: Numbers) -> Numbers:
        basis = np.linalg.qr((columns(logs) * one.roots).T)[0]
        return np.asarray(one.target - basis @ (basis.T @ one.target))

    with np.errstate(all="ignore"):
        logs = least_squares(residuals, np.log(np.abs(rates)), method="lm", max_nfev=OneVariable.REFINEMENTS).x
        return rates_of(logs), np.array(one.coefficients(columns(logs)))
