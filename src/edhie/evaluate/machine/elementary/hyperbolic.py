"""sinh, cosh and tanh over a block.

With x = n ln 2 + r, sinh(x) = sum sinh(r) + difference cosh(r) and
cosh(x) = sum cosh(r) + difference sinh(r), for the sum and the difference of
2^n / 2 and 2^-n / 2: short series, and near 0 nothing cancels.
"""

from __future__ import annotations  # compiled: see "expr.jit import" in bits

import math

from edhie.evaluate.machine.elementary.bits import (
    MAGIC,
    SIGN,
    bits,
    fma,
    from_bits,
    horner,
    inlined,
    over_block,
    quotient,
)
from edhie.evaluate.machine.elementary.exponential import LN2_HIGH, LN2_LOW, PER_LN2

LIMIT = 707.0  # 2^-n / 2 is a normal number
INFINITE_ABOVE = 711.0
FLAT = 20.0  # tanh is 1 from here on
HALF = 1022 << 52  # the bits of 1/2

# (sinh(r) - r) / r^3 and (cosh(r) - 1) / r^2 as polynomials in r^2, for |r| <= ln 2 / 2.
SINH = (
    0.16666666666666669, 0.008333333333330065, 0.00019841269863040545, 2.7557268480310024e-06,
    2.5100375832561234e-08,
)  # fmt: skip
COSH = (
    0.5, 0.04166666666666668, 0.0013888888888879082, 2.480158733642132e-05,
    2.755726330147475e-07, 2.0918129454967065e-09,
)  # fmt: skip


@inlined
def _split(x: float) -> tuple[float, float, float, float, float]:
    """2^n / 2, 2^-n / 2, r, sinh(r) - r and cosh(r) - 1."""
    shifted = fma(x, PER_LN2, MAGIC)
    n = shifted - MAGIC
    whole = fma(n, -LN2_HIGH, x)  # exact
    part = n * -LN2_LOW
    r = whole + part
    low = (whole - r) + part
    power = bits(shifted) << 52
    z = r * r
    sine_rest = fma(r * z, horner(z, SINH), low)
    cosine_rest = fma(z, horner(z, COSH), r * low)
    return from_bits(HALF + power), from_bits(HALF - power), r, sine_rest, cosine_rest


@inlined
def _sine(grown: float, shrunk: float, r: float, sine_rest: float, cosine_rest: float) -> tuple[float, float]:
    """sinh(x) in two parts, for x >= 0."""
    total, difference = grown + shrunk, grown - shrunk
    difference_low = (grown - difference) - shrunk
    head = fma(total, r, difference)
    head_low = fma(total, r, difference - head) + difference_low
    return head, head_low + fma(difference, cosine_rest, total * sine_rest)


@inlined
def _cosine(grown: float, shrunk: float, r: float, sine_rest: float, cosine_rest: float) -> tuple[float, float]:
    """cosh(x) in two parts, for x >= 0."""
    total, difference = grown + shrunk, grown - shrunk
    total_low = (grown - total) + shrunk
    head = fma(difference, r, total)
    head_low = fma(difference, r, total - head) + total_low
    return head, head_low + fma(total, cosine_rest, difference * sine_rest)


@inlined
def _hyperbolic_sine(x: float) -> float:
    grown, shrunk, r, sine_rest, cosine_rest = _split(abs(x))
    head, rest = _sine(grown, shrunk, r, sine_rest, cosine_rest)
    value = math.inf if abs(x) > INFINITE_ABOVE else head + rest
    return from_bits(bits(value) | (bits(x) & SIGN))


@inlined
def _hyperbolic_cosine(x: float) -> float:
    grown, shrunk, r, sine_rest, cosine_rest = _split(abs(x))
    head, rest = _cosine(grown, shrunk, r, sine_rest, cosine_rest)
    return math.inf if abs(x) > INFINITE_ABOVE else head + rest


@inlined
def _hyperbolic_tangent(x: float) -> float:
    grown, shrunk, r, sine_rest, cosine_rest = _split(FLAT if abs(x) > FLAT else abs(x))  # NaN stays
    head, rest = _sine(grown, shrunk, r, sine_rest, cosine_rest)
    sine = head + rest
    sine_low = (head - sine) + rest
    head, rest = _cosine(grown, shrunk, r, sine_rest, cosine_rest)
    cosine = head + rest
    cosine_low = (head - cosine) + rest
    return from_bits(bits(quotient(sine, sine_low, cosine, cosine_low)) | (bits(x) & SIGN))


@inlined
def _edgy(x: float) -> bool:
    """Return True if sinh and cosh are close to infinity."""
    return LIMIT < abs(x) <= INFINITE_ABOVE


sinh = over_block(_hyperbolic_sine, _edgy, math.sinh)
cosh = over_block(_hyperbolic_cosine, _edgy, math.cosh)
tanh = over_block(_hyperbolic_tangent)
