"""exp over a block."""

from __future__ import annotations

import math

from edhie.evaluate.elementary.bits import MAGIC, Floats, bits, fma, from_bits, horner, inlined
from edhie.expr.jit import jit

LOWEST, HIGHEST = -708.0, 709.5  # between them the result is a normal number
ZERO_BELOW, INFINITE_ABOVE = -745.2, 709.8

PER_LN2 = 1.4426950408889634  # 1 / ln 2
LN2_HIGH = 0.6931471805592082  # 40 bits, so that a multiple n * LN2_HIGH is exact
LN2_LOW = 7.371002565167799e-13

# (exp(r) - 1 - r) / r^2 on |r| <= ln 2 / 2. All coefficients in this package come from
# mpmath.chebyfit at 60 digits; tests/evaluate/test_elementary.py makes them again.
EXP = (
    0.5, 0.1666666666666667, 0.04166666666666667, 0.008333333333326141,
    0.0013888888888883752, 0.00019841269874800493, 2.4801587325533363e-05, 2.7557255425746435e-06,
    2.7557273661348637e-07, 2.510520637395701e-08, 2.0914679376583935e-09,
)  # fmt: skip


@inlined
def exp_of_sum(x: float, low: float) -> float:
    """exp(x + low) for x between LOWEST and HIGHEST and a low part much smaller."""
    shifted = fma(x, PER_LN2, MAGIC)
    n = shifted - MAGIC
    whole = fma(n, -LN2_HIGH, x)  # exact
    part = fma(n, -LN2_LOW, low)
    r = whole + part
    r_low = (whole - r) + part
    head = 1.0 + r
    head_low = (1.0 - head) + r
    value = head + (head_low + fma(r * r, horner(r, EXP), r_low))
    return from_bits(bits(value) + (bits(shifted) << 52))  # times 2^n


@inlined
def exp_or_edge(x: float, low: float) -> float:
    """exp(x + low) for every x but those of `exp_is_edgy`."""
    value = exp_of_sum(x, low)
    value = 0.0 if x < ZERO_BELOW else (math.inf if x > INFINITE_ABOVE else value)
    return x if math.isnan(x) else value


@inlined
def exp_is_edgy(x: float) -> bool:
    """Return True if the result is denormal or close to it, or close to infinity."""
    return ZERO_BELOW <= x <= LOWEST or HIGHEST <= x <= INFINITE_ABOVE


@jit
def exp(a: Floats, out: Floats) -> None:
    """The exponential function."""
    strange = 0
    for i in range(len(a)):
        out[i] = exp_or_edge(a[i], 0.0)
        strange |= exp_is_edgy(a[i])
    if strange:
        for i in range(len(a)):
            if exp_is_edgy(a[i]):
                out[i] = math.exp(a[i])
