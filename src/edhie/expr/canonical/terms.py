"""The arena in which expressions are brought to normal form, and its sums and products.

A subtree is a run of entries (kind, count, value) in prefix order:

    NUMBER            value is the number
    FREE              an unfitted constant
    VARIABLE          count is the token id
    FUNCTION          count is the token id; its operands follow
    POWER             base and exponent follow; for exponents that are not whole numbers (as `is_whole` has it)
    PRODUCT  n, k     k·Π bᵢ^eᵢ: n pairs (PART with value eᵢ, bᵢ), bᵢ no product and no number
    SUM      n, k     k + Σ aᵢ·tᵢ: n pairs (PART with value aᵢ, tᵢ), tᵢ without a factor of its own

NaN as k or aᵢ is a free constant, so that plain arithmetic merges constants: NaN + 2 is
NaN, and so is NaN·NaN. Free constants are independent of one another: two subtrees that hold
one are never taken for equal, whatever they look like.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.expr.jit import jit, typed

NUMBER, FREE, VARIABLE, FUNCTION, POWER, PRODUCT, SUM, PART = (typed(i) for i in range(8))
NONE, ZERO, ONE = typed(-1), typed(0), typed(1)

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Arities = NDArray[np.int8]


@jit
def end_of(kind: Ints, count: Ints, arities: Arities, start: int) -> int:
    """Where the subtree at `start` ends."""
    missing = 1
    i = start
    while missing > 0:
        k = kind[i]
        if k == FUNCTION:
            missing += arities[count[i]]
        elif k == POWER:
            missing += 2
        elif k in (PRODUCT, SUM):
            missing += count[i]
        elif k == PART:
            missing += 1
        missing -= 1
        i += 1
    return i


@jit
def order(kind: Ints, count: Ints, value: Floats, a: int, a_end: int, b: int, b_end: int) -> int:
    """-1, 0 or 1: a total order of subtrees; 0 only for the same run of entries."""
    for d in range(min(a_end - a, b_end - b)):
        i, j = a + d, b + d
        if kind[i] != kind[j]:
            return -1 if kind[i] < kind[j] else 1
        if count[i] != count[j]:
            return -1 if count[i] < count[j] else 1
        if value[i] != value[j]:
            i_free, j_free = np.isnan(value[i]), np.isnan(value[j])
            if i_free != j_free:
                return -1 if i_free else 1
            if not i_free:
                return -1 if value[i] < value[j] else 1
    if a_end - a == b_end - b:
        return 0
    return -1 if a_end - a < b_end - b else 1


@jit
def holds_free(kind: Ints, value: Floats, start: int, end: int) -> bool:
    """Whether a free constant stands in the run."""
    for i in range(start, end):  # noqa: SIM110 -- compiled code
        if kind[i] == FREE or np.isnan(value[i]):
            return True
    return False


@jit
def holds_variable(kind: Ints, start: int, end: int) -> bool:
    """Whether a variable stands in the run."""
    for i in range(start, end):  # noqa: SIM110 -- compiled code
        if kind[i] == VARIABLE:
            return True
    return False


@jit
def put(kind: Ints, count: Ints, value: Floats, top: int, k: int, n: int, v: float) -> int:
    """Write one entry; the new top."""
    kind[top] = k
    count[top] = n
    value[top] = v
    return top + 1


@jit
def copy(kind: Ints, count: Ints, value: Floats, start: int, end: int, top: int) -> int:
    """Copy a run to `top` (which may lie inside or before it); the new top."""
    for i in range(start, end):
        kind[top] = kind[i]
        count[top] = count[i]
        value[top] = value[i]
        top += 1
    return top


@jit
def merge(
    kind: Ints, count: Ints, value: Floats, amount: Floats, first: Ints, last: Ints, m: int, constants_absorb: bool
) -> int:
    """Sort m parts, add up the amounts of equal ones, drop the empty; how many are left.

    With `constants_absorb` parts without a variable go too: the free constant beside
    them takes any value that they do.
    """
    for i in range(1, m):
        a, f, e = amount[i], first[i], last[i]
        j = i - 1
        while j >= 0 and order(kind, count, value, first[j], last[j], f, e) > 0:
            amount[j + 1], first[j + 1], last[j + 1] = amount[j], first[j], last[j]
            j -= 1
        amount[j + 1], first[j + 1], last[j + 1] = a, f, e
    n = 0
    for i in range(m):
        if constants_absorb and not holds_variable(kind, first[i], last[i]):
            continue
        if (
            n > 0
            and order(kind, count, value, first[n - 1], last[n - 1], first[i], last[i]) == 0
            and not holds_free(kind, value, first[i], last[i])
        ):
            amount[n - 1] += amount[i]
            if amount[n - 1] == 0.0:
                n -= 1
            continue
        amount[n], first[n], last[n] = amount[i], first[i], last[i]
        n += 1
    return n


@jit
def add_terms(
    kind: Ints, count: Ints, value: Floats, arities: Arities, node: int, scale: float,
    amount: Floats, first: Ints, last: Ints, m: int, constant: float, top: int,
) -> tuple[int, float, int]:  # fmt: skip
    """Append scale·node to the terms of a sum; the number of terms, its constant, the top."""
    if kind[node] == PRODUCT:
        scale *= value[node]
        if count[node] != 1 or value[node + 1] != 1.0:
            first[m] = top
            top = copy(kind, count, value, node, end_of(kind, count, arities, node), top)
            value[first[m]] = 1.0
            last[m] = top
            amount[m] = scale
            return m + 1, constant, top
        node += 2
    if kind[node] == SUM and not np.isnan(scale):  # a nested sum opens into this one
        constant += scale * value[node]
        i = node + 1
        for _ in range(count[node]):
            amount[m] = scale * value[i]
            first[m] = i + 1
            i = end_of(kind, count, arities, i + 1)
            last[m] = i
            m += 1
        return m, constant, top
    if kind[node] == NUMBER:
        return m, constant + scale * value[node], top
    if kind[node] == FREE:
        return m, np.nan, top
    amount[m] = scale
    first[m] = node
    last[m] = end_of(kind, count, arities, node)
    return m + 1, constant, top


@jit
def add_up(
    kind: Ints, count: Ints, value: Floats, arities: Arities, left: int, right: int, sign: float,
    amount: Floats, first: Ints, last: Ints, top: int,
) -> tuple[int, int]:  # fmt: skip
    """Write left + sign·right at the top; where it begins and ends, or -1 when it overflows."""
    m, constant, top = add_terms(kind, count, value, arities, left, 1.0, amount, first, last, ZERO, 0.0, top)
    if np.isinf(constant):
        return NONE, top
    m, constant, top = add_terms(kind, count, value, arities, right, sign, amount, first, last, m, constant, top)
    if np.isinf(constant) or has_lost_amounts(amount, m):  # before inf - inf can pass for a free constant
        return NONE, top
    m = merge(kind, count, value, amount, first, last, m, np.isnan(constant))
    if has_lost_amounts(amount, m):
        return NONE, top
    start = top
    if m == 0:
        if np.isnan(constant):
            return start, put(kind, count, value, top, FREE, ZERO, 0.0)
        return start, put(kind, count, value, top, NUMBER, ZERO, constant)
    if m == 1 and constant == 0.0:
        return scaled(kind, count, value, amount[0], first[0], last[0], top)
    factor = common_factor(amount, m, constant)
    if factor != 1.0:
        top = put(kind, count, value, top, PRODUCT, ONE, factor)
        top = put(kind, count, value, top, PART, ZERO, 1.0)
    top = put(kind, count, value, top, SUM, m, constant / factor)
    for i in range(m):
        top = put(kind, count, value, top, PART, ZERO, amount[i] / factor)
        top = copy(kind, count, value, first[i], last[i], top)
    return start, top


@jit
def has_lost_amounts(amount: Floats, m: int) -> bool:
    """Whether one of the first m amounts has overflowed, or has underflowed to zero."""
    for i in range(m):  # noqa: SIM110 -- compiled code
        if np.isinf(amount[i]) or amount[i] == 0.0:
            return True
    return False


@jit
def common_factor(amount: Floats, m: int, constant: float) -> float:
    """What can be taken out of a sum exactly, with the sign of its first amount that has one.

    For whole numbers their greatest common divisor; otherwise the size that all share, if
    they do; otherwise 1.
    """
    size = abs(amount[0])
    shared = constant == 0.0 or abs(constant) == size
    divisor = abs(constant) if is_whole(constant) else -1.0
    sign = 0.0
    for i in range(m):
        a = abs(amount[i])
        shared = shared and a == size
        if divisor >= 0.0:
            divisor = greatest_common_divisor(divisor, a) if is_whole(a) else -1.0
        if sign == 0.0 and not np.isnan(a):
            sign = 1.0 if amount[i] > 0 else -1.0
    if sign == 0.0:
        sign = 1.0
    if divisor > 0.0:
        return sign * divisor
    return sign * size if shared else sign


@jit
def is_whole(a: float) -> bool:
    """Whether a is a whole number that a double holds exactly."""
    return abs(a) < 9e15 and a == np.floor(a)


@jit
def greatest_common_divisor(a: float, b: float) -> float:
    """Euclid's, on whole numbers held as doubles."""
    while b != 0.0:
        a, b = b, a % b
    return a


@jit
def scaled(kind: Ints, count: Ints, value: Floats, factor: float, start: int, end: int, top: int) -> tuple[int, int]:
    """Write factor·subtree at the top; the subtree is no number and has no factor of its own."""
    begin = top
    if factor == 1.0:
        return begin, copy(kind, count, value, start, end, top)
    if kind[start] == PRODUCT:
        top = copy(kind, count, value, start, end, top)
        value[begin] = factor
        return begin, top
    top = put(kind, count, value, top, PRODUCT, ONE, factor)
    top = put(kind, count, value, top, PART, ZERO, 1.0)
    return begin, copy(kind, count, value, start, end, top)


@jit
def add_factors(
    kind: Ints, count: Ints, value: Floats, arities: Arities, node: int, exponent: float,
    amount: Floats, first: Ints, last: Ints, m: int, factor: float, top: int,
) -> tuple[int, float, int]:  # fmt: skip
    """Append node^exponent to the factors of a product; their number, its factor, the top."""
    free_factor = kind[node] == FREE or (kind[node] == PRODUCT and np.isnan(value[node]))
    if free_factor and exponent % 2 == 0:  # an even power of a constant is not any number: it stays
        first[m] = top
        top = put(kind, count, value, top, FREE, ZERO, 0.0)
        last[m] = top
        amount[m] = exponent
        m += 1
    elif free_factor:
        factor = np.nan
    elif kind[node] == NUMBER or kind[node] == PRODUCT:
        factor *= value[node] ** exponent
    if kind[node] == NUMBER or kind[node] == FREE:
        return m, factor, top
    if kind[node] == PRODUCT:
        i = node + 1
        for _ in range(count[node]):
            amount[m] = exponent * value[i]
            first[m] = i + 1
            i = end_of(kind, count, arities, i + 1)
            last[m] = i
            m += 1
        return m, factor, top
    amount[m] = exponent
    first[m] = node
    last[m] = end_of(kind, count, arities, node)
    return m + 1, factor, top


@jit
def is_zero(kind: Ints, value: Floats, node: int) -> bool:
    """Whether there is a node and it is the number zero."""
    return node >= 0 and kind[node] == NUMBER and value[node] == 0.0


@jit
def multiply(
    kind: Ints, count: Ints, value: Floats, arities: Arities, left: int, left_exponent: float,
    right: int, right_exponent: float, amount: Floats, first: Ints, last: Ints, top: int,
) -> tuple[int, int]:  # fmt: skip
    """Write left^p·right^q (right may be -1: none) at the top; its bounds, or -1 on overflow."""
    start = top
    if is_zero(kind, value, left) or is_zero(kind, value, right):
        return start, put(kind, count, value, top, NUMBER, ZERO, 0.0)
    m, factor, top = add_factors(kind, count, value, arities, left, left_exponent, amount, first, last, ZERO, 1.0, top)
    if right >= 0:
        m, factor, top = add_factors(
            kind, count, value, arities, right, right_exponent, amount, first, last, m, factor, top
        )
    if np.isinf(factor) or factor == 0.0:  # overflow or underflow
        return NONE, top
    start = top
    m = merge(kind, count, value, amount, first, last, m, np.isnan(factor))
    for i in range(m):
        if not is_whole(amount[i]):
            return NONE, top
    if m == 0:
        if np.isnan(factor):
            return start, put(kind, count, value, top, FREE, ZERO, 0.0)
        return start, put(kind, count, value, top, NUMBER, ZERO, factor)
    if m == 1 and amount[0] == 1.0:
        if np.isnan(factor) and kind[first[0]] == SUM and np.isnan(value[first[0]]):
            return free_times_sum(kind, count, value, first[0], last[0], top)
        return scaled(kind, count, value, factor, first[0], last[0], top)
    top = put(kind, count, value, top, PRODUCT, m, factor)
    for i in range(m):
        top = put(kind, count, value, top, PART, ZERO, amount[i])
        top = copy(kind, count, value, first[i], last[i], top)
    return start, top


@jit
def free_times_sum(kind: Ints, count: Ints, value: Floats, start: int, end: int, top: int) -> tuple[int, int]:
    """Write c·(c + t) as c + c·t, its one form."""
    begin = top
    top = put(kind, count, value, top, SUM, ONE, np.nan)
    top = put(kind, count, value, top, PART, ZERO, np.nan)
    if count[start] == 1:
        return begin, copy(kind, count, value, start + 2, end, top)
    inner = top
    top = copy(kind, count, value, start, end, top)
    value[inner] = 0.0
    return begin, top
