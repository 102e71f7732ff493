"""log and log10 over a block."""

from __future__ import annotations

import math

from edhie.evaluate.elementary.bits import (
    LARGEST,
    SMALLEST_NORMAL,
    Floats,
    bits,
    fma,
    from_bits,
    horner,
    inlined,
    shifted_right,
)
from edhie.evaluate.elementary.exponential import LN2_HIGH, LN2_LOW
from edhie.expr.jit import jit

SQRT_HALF = 0x3FE6A09E667F3BCD  # the bits of the square root of 1/2
BIAS = 1023 << 52
TWO_52 = 0x4330000000000000  # the bits of 2^52

LOG10_2_HIGH = 0.30102999566361177  # 40 bits, so that a multiple k * LOG10_2_HIGH is exact
LOG10_2_LOW = 3.694239077158931e-13
PER_LN10_HIGH, PER_LN10_LOW = 0.4342944819032518, 1.098319650216765e-17  # 1 / ln 10

# (2 atanh(s) - 2s) / s^3 as a polynomial in s^2, for s = (m - 1) / (m + 1), m from sqrt 1/2 to sqrt 2.
LOG = (
    0.6666666666666666, 0.4000000000000088, 0.28571428570803614, 0.22222222391713917,
    0.18181795640132906, 0.15386239702814658, 0.13268773138656886, 0.13086626147840102,
)  # fmt: skip


@inlined
def exponent_and_rest(x: float) -> tuple[float, float]:
    """The k and m with x = 2^k m and m from sqrt 1/2 to sqrt 2, for a positive normal x."""
    biased = shifted_right(bits(x) - SQRT_HALF + BIAS, 52)
    k = from_bits(biased | TWO_52) - (2.0**52 + 1023.0)  # a conversion that every vector unit can do
    return k, from_bits(bits(x) - (biased << 52) + BIAS)


@inlined
def _parts(m: float) -> tuple[float, float, float]:
    """The numbers f = m - 1, f^2 / 2 and log(m) - (f - f^2 / 2)."""
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    half = 0.5 * f * f
    return f, half, s * fma(z, horner(z, LOG), half)


@inlined
def log_of(x: float) -> float:
    """The natural logarithm of a positive normal x."""
    k, m = exponent_and_rest(x)
    f, half, rest = _parts(m)
    return fma(k, LN2_HIGH, f - (half - fma(k, LN2_LOW, rest)))


@inlined
def log10_of(x: float) -> float:
    """The decimal logarithm of a positive normal x."""
    k, m = exponent_and_rest(x)
    f, half, rest = _parts(m)
    head = f - half
    low = (f - head) - half - fma(0.5 * f, f, -half) + rest
    tens = k * LOG10_2_HIGH  # exact
    product = head * PER_LN10_HIGH
    product_low = fma(head, PER_LN10_HIGH, -product)
    total = tens + product
    total_low = (tens - total) + product + product_low
    return total + (total_low + fma(low, PER_LN10_HIGH, fma(head, PER_LN10_LOW, k * LOG10_2_LOW)))


@inlined
def _or_edge(x: float, value: float) -> float:
    """The value, or the logarithm of 0, negative numbers, infinity and NaN."""
    value = -math.inf if x == 0.0 else (math.nan if x < 0.0 else value)
    return value if x <= LARGEST else x


@inlined
def _denormal(x: float) -> bool:
    return 0.0 < x < SMALLEST_NORMAL


@jit
def log(a: Floats, out: Floats) -> None:
    """The natural logarithm."""
    strange = 0
    for i in range(len(a)):
        out[i] = _or_edge(a[i], log_of(a[i]))
        strange |= _denormal(a[i])
    if strange:
        for i in range(len(a)):
            if _denormal(a[i]):
                out[i] = math.log(a[i])


@jit
def log10(a: Floats, out: Floats) -> None:
    """The decimal logarithm."""
    strange = 0
    for i in range(len(a)):
        out[i] = _or_edge(a[i], log10_of(a[i]))
        strange |= _denormal(a[i])
    if strange:
        for i in range(len(a)):
            if _denormal(a[i]):
                out[i] = math.log10(a[i])
