"""sin, cos and tan over a block."""

from __future__ import annotations

import math

from edhie.evaluate.elementary.bits import LARGEST, MAGIC, SIGN, Floats, bits, fma, from_bits, horner, inlined, quotient
from edhie.expr.jit import jit

LIMIT = 2.0**30

# pi / 2 as a sum of three floats. x - n * RIGHT_HIGH is a multiple of the last bit of x or of
# RIGHT_HIGH and below 1, so it has a float of its own and fma gives it without an error.
RIGHT_HIGH, RIGHT_MIDDLE, RIGHT_LOW = 1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33
PER_RIGHT = 0.6366197723675814  # 2 / pi

# (sin(r) - r) / r^3 and (cos(r) - 1 + r^2 / 2) / r^4 as polynomials in r^2, for |r| <= pi / 4.
SIN = (
    -0.16666666666666666, 0.008333333333333331, -0.00019841269841265063, 2.7557319219337312e-06,
    -2.5052106231802837e-08, 1.6058531516797758e-10, -7.586691094197958e-13,
)  # fmt: skip
COS = (
    0.041666666666666664, -0.0013888888888887398, 2.480158729876456e-05, -2.7557317271145144e-07,
    2.087614614655861e-09, -1.1382623647474604e-11,
)  # fmt: skip


@inlined
def _reduced(x: float) -> tuple[int, float, float]:
    """The nearest multiple n of pi / 2 (its last bits hold) and the rest x - n pi / 2 in two parts."""
    shifted = fma(x, PER_RIGHT, MAGIC)
    n = shifted - MAGIC
    whole = fma(-n, RIGHT_HIGH, x)
    part = n * RIGHT_MIDDLE
    part_low = fma(n, RIGHT_MIDDLE, -part)
    r = whole - part
    # exact also where part is the larger: whole is a multiple of the last bit of part
    low = (whole - r) - part
    return bits(shifted), r, low - fma(n, RIGHT_LOW, part_low)


@inlined
def _sine(r: float, low: float) -> float:
    """The difference sin(r + low) - r."""
    z = r * r
    return fma(r * z, horner(z, SIN), low * fma(-0.5, z, 1.0))


@inlined
def _cosine(r: float, low: float) -> tuple[float, float]:
    """cos(r + low) in two parts, the first of them 1 - r^2 / 2."""
    z = r * r
    head = fma(-0.5, z, 1.0)
    return head, fma(-0.5, z, 1.0 - head) + fma(z * z, horner(z, COS), -r * low)


@inlined
def _wave(x: float, quarter: int) -> float:
    """sin(x + quarter pi / 2)."""
    n, r, low = _reduced(x)
    # both series have the sign of r or are positive: the sign bit is set rather than computed, for sin(-0) = -0
    sine = bits(r + _sine(r, low)) | (bits(r) & SIGN)
    head, rest = _cosine(r, low)
    n += quarter
    value = bits(head + rest) if n & 1 else sine
    return from_bits(value ^ ((n & 2) << 62))


@inlined
def _far(x: float) -> bool:
    """Return True if three parts of pi / 2 are too few; for infinity and NaN they give NaN, as they should."""
    return LIMIT < abs(x) <= LARGEST


@jit
def sin(a: Floats, out: Floats) -> None:
    """The sine."""
    strange = 0
    for i in range(len(a)):
        out[i] = _wave(a[i], 0)
        strange |= _far(a[i])
    if strange:
        for i in range(len(a)):
            if _far(a[i]):
                out[i] = math.sin(a[i])


@jit
def cos(a: Floats, out: Floats) -> None:
    """The cosine."""
    strange = 0
    for i in range(len(a)):
        out[i] = _wave(a[i], 1)
        strange |= _far(a[i])
    if strange:
        for i in range(len(a)):
            if _far(a[i]):
                out[i] = math.cos(a[i])


@inlined
def _tangent(x: float) -> float:
    """sin(x) / cos(x)."""
    n, r, low = _reduced(x)
    rest = _sine(r, low)
    sine = r + rest
    sine_low = (r - sine) + rest
    head, rest = _cosine(r, low)
    cosine = head + rest
    cosine_low = (head - cosine) + rest
    odd = n & 1  # then it is -cos(r) / sin(r)
    value = quotient(
        cosine if odd else sine,
        cosine_low if odd else sine_low,
        sine if odd else cosine,
        sine_low if odd else cosine_low,
    )
    return from_bits((bits(value) & ~SIGN) | ((bits(r) ^ (n << 63)) & SIGN))


@jit
def tan(a: Floats, out: Floats) -> None:
    """The tangent."""
    strange = 0
    for i in range(len(a)):
        out[i] = _tangent(a[i])
        strange |= _far(a[i])
    if strange:
        for i in range(len(a)):
            if _far(a[i]):
                out[i] = math.tan(a[i])
