"""cbrt and power over a block."""

from __future__ import annotations

import math

from edhie.evaluate.elementary.bits import (
    LARGEST,
    MAGIC,
    SIGN,
    SMALLEST_NORMAL,
    Floats,
    bits,
    fma,
    from_bits,
    horner,
    inlined,
    shifted_right,
)
from edhie.evaluate.elementary.exponential import LN2_HIGH, LN2_LOW, exp_or_edge
from edhie.evaluate.elementary.logarithm import BIAS, TWO_52, exponent_and_rest
from edhie.expr.jit import jit

MANTISSA = (1 << 52) - 1
CBRT_2, CBRT_HALF = 1.2599210498948732, 0.7937005259840998
THIRD_HIGH, THIRD_LOW = 0.3333333333333333, 1.850371707708594e-17
LARGEST_EXPONENT = 2.0**50  # up to here x + MAGIC tells an odd integer from an even one
LARGEST_LOG, HOPELESS_LOG = 700.0, 745.2  # between them the result may be denormal or close to infinity
MARK = 0x7FF8000000000ED1  # the bits of a NaN that no computation gives

# m^(-1/3) for m from 1 to 2, to 14 bits.
CBRT = (
    1.6662787377309156, -1.1623973573078166, 0.6846527077322325, -0.21636185469244387,
    0.02778280101858424,
)  # fmt: skip
# (atanh(s) - s - s^3 / 3) / s^5 as a polynomial in s^2, for s = (m - 1) / (m + 1), m from sqrt 1/2 to sqrt 2.
ATANH = (
    0.2, 0.14285714285714682, 0.11111111110828116, 0.09090909167657202,
    0.07692297485447729, 0.06667402119112673, 0.05853124270461193, 0.058615255140488765,
)  # fmt: skip


@inlined
def _denormal(x: float) -> bool:
    return 0.0 < abs(x) < SMALLEST_NORMAL


@inlined
def _cube_root(x: float) -> float:
    """The cube root of any x; the C library's is less exact."""
    normal = x * 2.0**54 if _denormal(x) else x
    biased = shifted_right(bits(normal) & ~SIGN, 52)
    exponent = from_bits(biased | TWO_52) - (2.0**52 + 1023.0)
    shifted = fma(exponent, THIRD_HIGH, MAGIC)
    rest = exponent - 3.0 * (shifted - MAGIC)  # -1, 0 or 1
    m = from_bits((bits(normal) & MANTISSA) | BIAS)
    y = horner(m, CBRT) * (1.0 if rest == 0.0 else (CBRT_HALF if rest > 0.0 else CBRT_2))
    m *= 1.0 if rest == 0.0 else (2.0 if rest > 0.0 else 0.5)
    # y = m^(-1/3): a step that triples the number of right bits, then a last one in two parts for m y^2
    h = fma(-m * y, y * y, 1.0)
    y = fma(y * h, fma(h, 2.0 / 9.0, THIRD_HIGH), y)
    root = m * y * y
    square = root * root
    excess = fma(square, root, -m) + fma(root, root, -square) * root
    root = fma(excess, -THIRD_HIGH * (y * y), root)
    value = from_bits((bits(root) + (bits(shifted) << 52)) | (bits(x) & SIGN))
    value = value * 2.0**-18 if _denormal(x) else value
    return value if 0.0 < abs(x) <= LARGEST else x


@inlined
def _log_parts(x: float) -> tuple[float, float]:
    """The logarithm of a positive normal x in two parts, with about 65 right bits: 2 s (1 + s^2 / 3 + ...)."""
    k, m = exponent_and_rest(x)
    f, d = m - 1.0, m + 1.0
    d_low = (1.0 - d) + m if m < 1.0 else (m - d) + 1.0
    inverse = 1.0 / d
    s = f * inverse
    s_low = fma(-s, d_low, fma(-s, d, f)) * inverse
    z = s * s
    z_low = fma(s, s, -z) + 2.0 * s * s_low
    third = z * THIRD_HIGH
    third_low = fma(z, THIRD_HIGH, -third) + fma(z, THIRD_LOW, z_low * THIRD_HIGH)
    tail = z * z * horner(z, ATANH)
    factor = third + tail
    factor_low = (third - factor) + tail + third_low
    s, s_low = 2.0 * s, 2.0 * s_low
    product = s * factor
    product_low = fma(s, factor, -product) + fma(s, factor_low, s_low * factor)
    head = s + product
    head_low = (s - head) + product + (product_low + s_low)
    twos = k * LN2_HIGH  # exact
    total = twos + head
    return total, (twos - total) + head + fma(k, LN2_LOW, head_low)


@inlined
def _power(x: float, y: float) -> float:
    """The power x^y, or the mark where the C library is needed."""
    high, low = _log_parts(abs(x))
    high = -math.inf if x == 0.0 else (high if abs(x) <= LARGEST else abs(x))
    product = y * high
    value = exp_or_edge(product, fma(y, high, -product) + y * low)
    shifted = y + MAGIC
    broken = shifted - MAGIC != y
    # & and |, since `and` and `or` would be branches
    value = math.nan if broken & (x < 0.0) & (x >= -LARGEST) else value
    value = from_bits(bits(value) ^ (0 if broken else (bits(shifted) << 63) & bits(x)))
    strange = _denormal(x) | (abs(y) > LARGEST_EXPONENT) | (LARGEST_LOG < abs(product) <= HOPELESS_LOG)
    strange |= (product != product) & ((y == 0.0) | (x == 1.0))  # 1 although an argument is infinite or NaN
    return from_bits(MARK if strange else bits(value))


@jit
def cbrt(a: Floats, out: Floats) -> None:
    """The cube root, with the sign of a."""
    for i in range(len(a)):
        out[i] = _cube_root(a[i])


@jit
def power(a: Floats, b: Floats, out: Floats) -> None:
    """The power a^b; NaN for a negative a and a b that is no integer."""
    strange = 0
    for i in range(len(a)):
        value = _power(a[i], b[i])
        out[i] = value
        strange |= bits(value) == MARK
    if strange:
        for i in range(len(a)):
            if bits(out[i]) == MARK:
                out[i] = math.pow(a[i], b[i])
