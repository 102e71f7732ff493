"""sin, cos, tan, their inverses, sinh, cosh, tanh over a block; no element of an inverse needs the C library.

With x = n ln 2 + r, sinh(x) = sum sinh(r) + difference cosh(r) and
cosh(x) = sum cosh(r) + difference sinh(r), for the sum and the difference of
2^n / 2 and 2^-n / 2: short series, and near 0 nothing cancels.
"""

from __future__ import annotations  # compiled: see "expr.jit import" in bits

import math

from edhie.evaluate.machine.elementary.bits import (
    LARGEST,
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
PI_HIGH, PI_LOW = 3.141592653589793, 1.2246467991473532e-16
TAN_22, TAN_67 = 0.41421356237309503, 2.414213562373095  # tan(pi / 8) and tan(3 pi / 8), in degrees 22.5 and 67.5
FLAT = 1e300  # from far below on, atan is pi / 2

# (atan(t) - t) / t^3 as a polynomial in t^2, for |t| <= tan(pi / 8).
ATAN = (
    -0.3333333333333333, 0.19999999999999804, -0.14285714285659828, 0.11111111105155447,
    -0.09090908753500877, 0.07692296375032143, -0.06666424885738255, 0.05878928997834775,
    -0.05230454270650244, 0.04551593220626549, -0.034570561981427744, 0.016285756855221028,
)  # fmt: skip
# (asin(s) - s) / s^3 as a polynomial in s^2, for |s| <= 1/2.
ASIN = (
    0.16666666666666669, 0.07499999999998433, 0.04464285714635543, 0.030381944138531247,
    0.02237217294214989, 0.017352392720869973, 0.013971212973552933, 0.011479177415184906,
    0.01032281435018578, 0.005457506718640358, 0.01740087944269402, -0.014851887071247204,
    0.028757851367421566,
)  # fmt: skip


# -- sine, cosine, tangent ------------------------------------------------------------


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


@inlined
def _sine_wave(x: float) -> float:
    return _wave(x, 0)


@inlined
def _cosine_wave(x: float) -> float:
    return _wave(x, 1)


sin = over_block(_sine_wave, _far, math.sin)
cos = over_block(_cosine_wave, _far, math.cos)
tan = over_block(_tangent, _far, math.tan)


# -- inverses -------------------------------------------------------------------------


@inlined
def _arc_tangent(x: float) -> float:
    """The angle with tangent x: 0, pi / 4 or pi / 2 and the angle that remains, whose tangent is t."""
    size = FLAT if abs(x) > FLAT else abs(x)  # NaN stays
    small, large = size <= TAN_22, size >= TAN_67
    less, more = size - 1.0, size + 1.0
    less_low = (size - (less + 1.0)) if size < 1.0 else (size - less) - 1.0
    more_low = ((1.0 - more) + size) if size < 1.0 else (size - more) + 1.0
    middle = not (small or large)
    numerator = size if small else (-1.0 if large else less)
    denominator = 1.0 if small else (size if large else more)
    inverse = 1.0 / denominator
    t = numerator * inverse
    rest = fma(-t, denominator, numerator) + (fma(-t, more_low, less_low) if middle else 0.0)
    z = t * t
    tail = fma(rest, inverse, t * z * horner(z, ATAN))
    share = 0.0 if small else (0.5 if large else 0.25)  # of pi
    base = share * PI_HIGH
    head = base + t
    value = head + (((base - head) + t) + fma(share, PI_LOW, tail))
    return from_bits(bits(value) | (bits(x) & SIGN))


@inlined
def _arc(x: float) -> tuple[float, float]:
    """The s and s^2 with asin|x| = asin(s) for |x| <= 1/2 and pi / 2 - 2 asin(s) above; NaN for |x| > 1."""
    size = abs(x)
    small = size <= 0.5
    z = size * size if small else 0.5 - 0.5 * size
    return size if small else math.sqrt(z), z


@inlined
def _difference(share: float, s: float, z: float) -> float:
    """A share of pi, minus s (1 + z ASIN(z))."""
    base = share * PI_HIGH
    head = base - s
    return head + (((base - head) - s) + fma(share, PI_LOW, -(s * z) * horner(z, ASIN)))


@inlined
def _arc_sine(x: float) -> float:
    s, z = _arc(x)
    small = abs(x) <= 0.5
    value = _difference(0.0 if small else 0.5, -s if small else 2.0 * s, z)
    return from_bits((bits(value) & ~SIGN) | (bits(x) & SIGN))


@inlined
def _arc_cosine(x: float) -> float:
    s, z = _arc(x)
    small = abs(x) <= 0.5
    share = 0.5 if small else (0.0 if x > 0.0 else 1.0)
    return _difference(share, x if small else (-2.0 * s if x > 0.0 else 2.0 * s), z)


asin = over_block(_arc_sine)
acos = over_block(_arc_cosine)
atan = over_block(_arc_tangent)


# -- hyperbolic -----------------------------------------------------------------------

LARGEST_NORMAL = 707.0  # 2^-n / 2 is a normal number
INFINITE_ABOVE = 711.0
ONE_FROM = 20.0  # tanh is 1 from here on
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
def _sinh_parts(grown: float, shrunk: float, r: float, sine_rest: float, cosine_rest: float) -> tuple[float, float]:
    """sinh(x) in two parts, for x >= 0."""
    total, difference = grown + shrunk, grown - shrunk
    difference_low = (grown - difference) - shrunk
    head = fma(total, r, difference)
    head_low = fma(total, r, difference - head) + difference_low
    return head, head_low + fma(difference, cosine_rest, total * sine_rest)


@inlined
def _cosh_parts(grown: float, shrunk: float, r: float, sine_rest: float, cosine_rest: float) -> tuple[float, float]:
    """cosh(x) in two parts, for x >= 0."""
    total, difference = grown + shrunk, grown - shrunk
    total_low = (grown - total) + shrunk
    head = fma(difference, r, total)
    head_low = fma(difference, r, total - head) + total_low
    return head, head_low + fma(total, cosine_rest, difference * sine_rest)


@inlined
def _hyperbolic_sine(x: float) -> float:
    grown, shrunk, r, sine_rest, cosine_rest = _split(abs(x))
    head, rest = _sinh_parts(grown, shrunk, r, sine_rest, cosine_rest)
    value = math.inf if abs(x) > INFINITE_ABOVE else head + rest
    return from_bits(bits(value) | (bits(x) & SIGN))


@inlined
def _hyperbolic_cosine(x: float) -> float:
    grown, shrunk, r, sine_rest, cosine_rest = _split(abs(x))
    head, rest = _cosh_parts(grown, shrunk, r, sine_rest, cosine_rest)
    return math.inf if abs(x) > INFINITE_ABOVE else head + rest


@inlined
def _hyperbolic_tangent(x: float) -> float:
    grown, shrunk, r, sine_rest, cosine_rest = _split(ONE_FROM if abs(x) > ONE_FROM else abs(x))  # NaN stays
    head, rest = _sinh_parts(grown, shrunk, r, sine_rest, cosine_rest)
    sine = head + rest
    sine_low = (head - sine) + rest
    head, rest = _cosh_parts(grown, shrunk, r, sine_rest, cosine_rest)
    cosine = head + rest
    cosine_low = (head - cosine) + rest
    return from_bits(bits(quotient(sine, sine_low, cosine, cosine_low)) | (bits(x) & SIGN))


@inlined
def _near_infinity(x: float) -> bool:
    """Return True if sinh and cosh are close to infinity."""
    return LARGEST_NORMAL < abs(x) <= INFINITE_ABOVE


sinh = over_block(_hyperbolic_sine, _near_infinity, math.sinh)
cosh = over_block(_hyperbolic_cosine, _near_infinity, math.cosh)
tanh = over_block(_hyperbolic_tangent)
