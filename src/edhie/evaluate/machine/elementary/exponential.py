"""exp, log, log10, power and cbrt over a block."""

from __future__ import annotations

import math

from edhie.arrays import Numbers
from edhie.evaluate.machine.elementary.bits import (
    LARGEST,
    MAGIC,
    SIGN,
    SMALLEST_NORMAL,
    bits,
    fma,
    from_bits,
    horner,
    inlined,
    over_block,
    shifted_right,
)
from edhie.expr.jit import jit_inner

LOWEST, HIGHEST = -708.0, 709.5  # between them the result is a normal number
ZERO_BELOW, INFINITE_ABOVE = -745.2, 709.8

PER_LN2 = 1.4426950408889634  # 1 / ln 2
LN2_HIGH = 0.6931471805592082  # 40 bits, so that a multiple n * LN2_HIGH is exact
LN2_LOW = 7.371002565167799e-13

# (exp(r) - 1 - r) / r^2 on |r| <= ln 2 / 2. All coefficients in this package come from
# mpmath.chebyfit at 60 digits; tests/evaluate/machine/test_elementary.py makes them again.
EXP = (
    0.5, 0.1666666666666667, 0.04166666666666667, 0.008333333333326141,
    0.0013888888888883752, 0.00019841269874800493, 2.4801587325533363e-05, 2.7557255425746435e-06,
    2.7557273661348637e-07, 2.510520637395701e-08, 2.0914679376583935e-09,
)  # fmt: skip
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


# -- exponential ----------------------------------------------------------------------


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


@inlined
def _exp(x: float) -> float:
    return exp_or_edge(x, 0.0)


exp = over_block(_exp, exp_is_edgy, math.exp)


# -- logarithms -----------------------------------------------------------------------


@inlined
def _is_denormal(x: float) -> bool:
    return 0.0 < abs(x) < SMALLEST_NORMAL


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
def _or_edge(x: float, value: float) -> float:
    """The value, or the logarithm of 0, negative numbers, infinity and NaN."""
    value = -math.inf if x == 0.0 else (math.nan if x < 0.0 else value)
    return value if x <= LARGEST else x


@inlined
def _log(x: float) -> float:
    k, m = exponent_and_rest(x)
    f, half, rest = _parts(m)
    return _or_edge(x, fma(k, LN2_HIGH, f - (half - fma(k, LN2_LOW, rest))))


@inlined
def _log10(x: float) -> float:
    """The decimal logarithm of every x but denormal ones."""
    k, m = exponent_and_rest(x)
    f, half, rest = _parts(m)
    head = f - half
    low = (f - head) - half - fma(0.5 * f, f, -half) + rest
    tens = k * LOG10_2_HIGH  # exact
    product = head * PER_LN10_HIGH
    product_low = fma(head, PER_LN10_HIGH, -product)
    total = tens + product
    total_low = (tens - total) + product + product_low
    value = total + (total_low + fma(low, PER_LN10_HIGH, fma(head, PER_LN10_LOW, k * LOG10_2_LOW)))
    return _or_edge(x, value)


log = over_block(_log, _is_denormal, math.log)
log10 = over_block(_log10, _is_denormal, math.log10)


# -- powers ---------------------------------------------------------------------------


@inlined
def _cube_root(x: float) -> float:
    """The cube root of any x; the C library's is less exact."""
    normal = x * 2.0**54 if _is_denormal(x) else x
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
    value = value * 2.0**-18 if _is_denormal(x) else value
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
    strange = _is_denormal(x) | (abs(y) > LARGEST_EXPONENT) | (LARGEST_LOG < abs(product) <= HOPELESS_LOG)
    strange |= (product != product) & ((y == 0.0) | (x == 1.0))  # 1 although an argument is infinite or NaN
    return from_bits(MARK if strange else bits(value))


cbrt = over_block(_cube_root)


@jit_inner
def power(a: Numbers, b: Numbers, out: Numbers) -> None:
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
