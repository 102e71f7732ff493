"""Kernels of the description length: the code length of data given an expression with fitted constants.

All lengths are in nats. For noise with standard deviation σ·d by row and p fitted constants θ with slopes J,

    n/2·ln(2πσ²) + Σ ln d + RSS/(2σ²) + ½·ln det((1 + n)·I + S·J'J·S/σ²) + c(n, p)

where RSS and J are weighted by 1/d². The prior of a constant is as wide as S: `spread` times its value, since constants
have no preferred size, which depends on units. A constant that is added to the whole is compared with the size of the
target instead: one that happens to be near 0 is not known better. A prior is also at least as wide as what one row
tells of the constant, hence n. c corrects for σ being estimated from n - p degrees of freedom: it comes from
integrating over σ.
"""

from __future__ import annotations

import math

import numpy as np

from edhie.arrays import Indices, Numbers
from edhie.evaluate.machine.gradient_kernels import drop_infinite, free_leaves, jacobian
from edhie.evaluate.machine.program import Program
from edhie.evaluate.student_kernels import student_scale
from edhie.expr.jit import copy_to, jit, jit_inner

ALIKE = 1e-9  # relative difference of slopes that counts as rounding
SAME_EFFECT = 1e-12  # share of a constant's precision, given others, that counts as rounding
LOG_2PI = math.log(2 * math.pi)
DEVIATION = 1.4826  # standard deviation of normal noise over the median of its absolute values
FAR, FEW_FAR, SOME_FAR = 5.0, 0.03, 0.25  # deviations from which a row is far off; shares of such rows
CLEAN = 0.15  # times the spread of the target in other rows: with less noise in these, SOME_FAR may be errors


@jit
def code_lengths(
    program: Program, kinds: Indices, columns: Numbers, roundings: Numbers, y: Numbers, weights: Numbers,
    floors: Numbers, exact: Numbers, smallest: float, codes: Indices, ratios: Numbers, costs: Numbers, freedom: float,
    spread: float, from_: int, to: int, out: Numbers,
) -> None:  # fmt: skip
    """Write the lengths of the data under expressions `from_` to `to`, by noise model, into the rows of `out`.

    `kinds` says by leaf whether it is a constant that costs bits of precision (0), the factor of a variable (its place
    plus 1), or neither. `floors` are the least variances by row: smaller residuals save nothing. The variances of the
    columns' `roundings` are added, carried through the slopes. Residuals within the variances `exact` are rounding.
    """
    n = len(y)
    values, least = np.empty(n), np.empty(n)
    for k in range(from_, to):
        at, end = program.leaf_starts[k], program.leaf_starts[k + 1]
        leaves, free = program.leaf_values[at:end], free_leaves(program, k)
        slopes, constants, n_counted = np.empty((len(free), n)), np.empty(len(free)), 0
        jacobian(program, k, leaves, columns, values, slopes)
        copy_to(least, floors)
        for column in range(len(roundings)):
            add_rounding(slopes, kinds[at:end][free], column, columns[column], roundings[column], least)
        for p in range(len(free)):
            if kinds[at + free[p]] == 0:
                row = place_of(leaves[free[p]], constants[:n_counted])
                constants[row] = leaves[free[p]]
                if row < n_counted:
                    for i in range(n):
                        slopes[row, i] += slopes[p, i]
                else:
                    copy_to(slopes[row], slopes[p])
                    n_counted += 1
        lengths(
            values, slopes[:n_counted], constants[:n_counted], y, weights, least, exact, smallest, codes, ratios,
            costs, freedom, spread, out[k],
        )  # fmt: skip


@jit_inner
def add_rounding(
    slopes: Numbers, kinds: Indices, column: int, values: Numbers, rounding: Numbers, out: Numbers
) -> None:  # fmt: skip
    """Add the variance that a column's rounding gives to the values: the slope by its factor is x·∂f/∂x."""
    for i in range(len(out)):
        slope = 0.0
        for p in range(len(kinds)):
            if kinds[p] == column + 1:
                slope += slopes[p, i]
        if values[i] != 0.0 and np.isfinite(slope):
            out[i] += (slope / values[i]) ** 2 * rounding[i]


@jit_inner
def place_of(value: float, constants: Numbers) -> int:
    """Return the place of a constant of this value, or the next: constants of one value are one constant."""
    for k in range(len(constants)):
        if constants[k] == value:
            return k
    return len(constants)


@jit
def lengths(
    values: Numbers, slopes: Numbers, constants: Numbers, y: Numbers, weights: Numbers, floors: Numbers,
    exact: Numbers, smallest: float, codes: Indices, ratios: Numbers, costs: Numbers, freedom: float, spread: float,
    out: Numbers,
) -> None:  # fmt: skip
    """Write the lengths of the data under one expression, given by its values and slopes, by noise model."""
    out[:] = np.inf
    residuals, total, least = np.empty(len(y)), 0.0, 0.0
    for i in range(len(y)):
        residuals[i] = y[i] - values[i]
        if not np.isfinite(residuals[i]):
            return
        total += weights[i] * residuals[i] * residuals[i] / exact[i]
        least += weights[i]
    for p in range(len(slopes)):
        drop_infinite(slopes[p], len(y))
    slopes, constants, n_factors, n_first = factors_first(values, slopes, constants)
    if total <= least:
        absolute = np.maximum(floors, exact)
        own = np.where(weights > 0.0, 1.0 / absolute, 0.0)
        widths = prior_widths(values, slopes, constants, y, own, spread, n_factors, n_first)
        for m in range(len(codes)):
            out[m] = costs[m] + gaussian_length(residuals, slopes, widths, n_first, own, absolute)
        return
    for m in range(len(codes)):
        scale = student_scale(residuals, weights, freedom) if codes[m] == 4 else 1.0
        if codes[m] == 4 and len(codes) > 1 and not are_gross_errors(residuals, y, weights):
            continue
        own = row_weights(values, residuals, weights, codes[m], ratios[m], smallest, scale, freedom)
        widths = prior_widths(values, slopes, constants, y, own, spread, n_factors, n_first)
        if codes[m] == 5:
            out[m] = logarithmic_length(values, slopes, widths, n_first, y, weights, floors)
        elif codes[m] == 4:
            out[m] = student_length(residuals, slopes, widths, n_first, weights, floors, scale, freedom)
        else:
            out[m] = gaussian_length(residuals, slopes, widths, n_first, own, floors)
        out[m] += costs[m]


@jit_inner
def are_gross_errors(residuals: Numbers, y: Numbers, weights: Numbers) -> bool:
    """Return True if what is far off may be errors of a few rows, and not what the equation fails to explain."""
    sizes = (np.abs(residuals) * np.sqrt(weights))[weights > 0.0]
    noise = DEVIATION * np.median(sizes)
    others = y[weights > 0.0][sizes <= FAR * noise]
    n_far = len(sizes) - len(others)
    spread = DEVIATION * np.median(np.abs(others - np.median(others)))  # 0 if most rows have one value
    return bool(n_far <= FEW_FAR * len(sizes) or (n_far <= SOME_FAR * len(sizes) and noise < CLEAN * spread))


@jit_inner
def factors_first(values: Numbers, slopes: Numbers, constants: Numbers) -> tuple[Numbers, Numbers, int, int]:
    """Return slopes and constants, factors of the whole first, then terms; and the ends of factors and of terms.

    Factors and terms absorb changes of units, so the precision of the others, given these, does not depend on units.
    """
    p, n_factors, n_first = len(constants), 0, 0
    kinds = np.empty(p, np.int64)
    for k in range(p):
        of_values, of_one = 0.0, 0.0
        for i in range(len(values)):
            of_values = max(of_values, abs(slopes[k, i] * values[0] - slopes[k, 0] * values[i]) / abs(values[i]))
            of_one = max(of_one, abs(slopes[k, i] - slopes[k, 0]))
        size = abs(slopes[k, 0]) * ALIKE
        kinds[k] = 1 if of_one <= size else 0 if of_values <= size else 2
    own, found, at = np.empty(slopes.shape), np.empty(p), 0
    for kind in range(3):
        for k in range(p):
            if kinds[k] == kind:
                copy_to(own[at], slopes[k])
                found[at] = constants[k]
                at += 1
        n_factors, n_first = (at if kind == 0 else n_factors), (at if kind < 2 else n_first)
    return own, found, n_factors, n_first


@jit_inner
def prior_widths(
    values: Numbers, slopes: Numbers, constants: Numbers, y: Numbers, weights: Numbers, spread: float, n_factors: int,
    n_first: int,
) -> Numbers:  # fmt: skip
    """Return the width of each constant's prior: a factor's is that of the whole, a term's the target's, else its size.

    The size of a term depends on units: in other units of x, `a*log(x) + b` has another b.
    """
    widths = spread * np.abs(constants)
    for k in range(n_factors):
        if slopes[k, 0] != 0.0:
            widths[k] = spread * abs(values[0] / slopes[k, 0])
    total, square = 0.0, 0.0
    for i in range(len(y)):
        total += weights[i]
        square += weights[i] * y[i] * y[i]
    for k in range(n_factors, n_first):
        widths[k] = spread * math.sqrt(square / total) / abs(slopes[k, 0])
    return widths


@jit
def row_weights(
    values: Numbers, residuals: Numbers, weights: Numbers, code: int, ratio: float, smallest: float, scale: float,
    freedom: float,
) -> Numbers:  # fmt: skip
    """Return one over the variance of each row, up to a factor, under a model of `noise.MODELS`."""
    own = weights.copy()
    n = len(values)
    if code == 1 or code == 2:
        for i in range(n):
            size = max(abs(values[i]), smallest)
            own[i] /= size * size if code == 1 else size
    elif code == 3:
        square = 0.0
        for i in range(n):
            square += values[i] * values[i] / n
        for i in range(n):
            own[i] /= 1.0 + ratio * ratio * values[i] * values[i] / max(square, 1e-300)
    elif code == 4:
        for i in range(n):
            own[i] *= (freedom + 1.0) / (freedom + weights[i] * residuals[i] * residuals[i] / (scale * scale))
    return own


@jit
def gaussian_length(
    residuals: Numbers, slopes: Numbers, widths: Numbers, n_first: int, weights: Numbers, floors: Numbers
) -> float:
    """Return the length under normal noise with these weights."""
    n, p = 0, len(widths)
    total, least, logs = 0.0, 0.0, 0.0
    for i in range(len(residuals)):
        if weights[i] > 0.0:
            n += 1
            total += weights[i] * residuals[i] * residuals[i]
            least += weights[i] * floors[i]
            logs -= 0.5 * math.log(weights[i])
    freedom = n - p
    if freedom < 1 or not total < np.inf:
        return np.inf
    variance = max(total, least) / n
    if not variance > 0.0:
        return np.inf
    estimated = max(total / freedom, variance)
    length = 0.5 * n * (LOG_2PI + math.log(variance)) + 0.5 * total / variance + logs
    length += correction(n, p)
    return length + precision_length(slopes, widths, n_first, weights, estimated)


@jit
def logarithmic_length(
    values: Numbers, slopes: Numbers, widths: Numbers, n_first: int, y: Numbers, weights: Numbers, floors: Numbers
) -> float:
    """Return the length under normal noise of the logarithm, for a target that is positive or negative throughout."""
    residuals, own, least, logs = np.empty(len(y)), np.empty(slopes.shape), np.empty(len(y)), 0.0
    for i in range(len(y)):
        ratio = y[i] / values[i]
        if not 0.0 < ratio < np.inf:
            return np.inf
        residuals[i] = math.log(ratio)
        least[i] = floors[i] / y[i] / y[i]
        if weights[i] > 0.0:
            logs += math.log(abs(y[i]))
        for p in range(len(slopes)):
            own[p, i] = slopes[p, i] / values[i]
    return gaussian_length(residuals, own, widths, n_first, weights, least) + logs


@jit_inner
def correction(n: int, p: int) -> float:
    """Return the cost of estimating σ along with p constants."""
    freedom = n - p
    return (
        0.5 * n * math.log(0.5 * n) - 0.5 * n - math.lgamma(0.5 * freedom) - 0.5 * p * math.log(0.5 * freedom)
    )  # fmt: skip


@jit
def precision_length(slopes: Numbers, widths: Numbers, n_first: int, weights: Numbers, variance: float) -> float:
    """Return ½·ln det((1 + n)·I + S·J'WJ·S/σ²): the cost of constants, to the precision that the data give them.

    The first constants, which absorb units, cost their precision given those before them. The others cost what
    theirs is given these, so that it does not matter in which order they stand. One without effect costs nothing.
    """
    p, n = slopes.shape
    least = 1.0 + np.count_nonzero(weights)
    matrix, length = np.zeros((p, p)), 0.0
    for a in range(p):
        for b in range(a + 1):
            total = 0.0
            for i in range(n):
                total += slopes[a, i] * weights[i] * slopes[b, i]
            total *= widths[a] / variance * widths[b]
            alone = total
            for c in range(b):
                total -= matrix[a, c] * matrix[b, c]
            if b < a:
                matrix[a, b] = total / matrix[b, b] if matrix[b, b] > 0.0 else 0.0
            elif total > SAME_EFFECT * alone:
                length += 0.5 * math.log(least + total)
                matrix[a, a] = math.sqrt(total if a < n_first else least + total)
    return length if not np.isnan(length) else np.inf


# -- Student's distribution -------------------------------------------------------------


@jit_inner
def student_length(
    residuals: Numbers, slopes: Numbers, widths: Numbers, n_first: int, weights: Numbers, floors: Numbers,
    scale: float, freedom: float,
) -> float:  # fmt: skip
    """Return the length under Student's noise, which has gross errors."""
    n, p, least, logs = 0, len(widths), 0.0, 0.0
    for i in range(len(residuals)):
        if weights[i] > 0.0:
            n += 1
            least += weights[i] * floors[i]
            logs -= 0.5 * math.log(weights[i])
    if n - p < 1:
        return np.inf
    square = max(scale * scale, least / n)
    length = (
        logs
        + correction(n, p)
        + n
        * (0.5 * math.log(freedom * math.pi * square) + math.lgamma(0.5 * freedom) - math.lgamma(0.5 * (freedom + 1.0)))
    )
    for i in range(len(residuals)):
        if weights[i] > 0.0:
            length += 0.5 * (freedom + 1.0) * math.log(1.0 + weights[i] * residuals[i] ** 2 / (freedom * square))
    # the Fisher information of a row is that of normal noise, reduced by the tails
    variance = square * (freedom + 3.0) / (freedom + 1.0) * n / (n - p)
    return length + precision_length(slopes, widths, n_first, weights, variance)
