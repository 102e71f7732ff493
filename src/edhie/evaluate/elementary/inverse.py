"""asin, acos and atan over a block; no element needs the C library."""

from __future__ import annotations

import math

from edhie.evaluate.elementary.bits import SIGN, Floats, bits, fma, from_bits, horner, inlined
from edhie.expr.jit import jit

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


@jit
def asin(a: Floats, out: Floats) -> None:
    """The inverse sine."""
    for i in range(len(a)):
        out[i] = _arc_sine(a[i])


@jit
def acos(a: Floats, out: Floats) -> None:
    """The inverse cosine."""
    for i in range(len(a)):
        out[i] = _arc_cosine(a[i])


@jit
def atan(a: Floats, out: Floats) -> None:
    """The inverse tangent."""
    for i in range(len(a)):
        out[i] = _arc_tangent(a[i])
