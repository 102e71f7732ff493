"""The arena in which expressions are brought to normal form, and the operations that sums and products share.

A subtree is a run of entries (kind, count, value) in prefix order:

    NUMBER            value is the number
    FREE              an unfitted constant
    VARIABLE          count is the token id
    FUNCTION          count is the token id; its operands follow
    POWER             base and exponent follow; for exponents that are not whole numbers (as `is_whole` has it)
    PRODUCT  n, k     k·Π bᵢ^eᵢ: n pairs (PART with value eᵢ, bᵢ), bᵢ no product and no number
    SUM      n, k     k + Σ aᵢ·tᵢ: n pairs (PART with value aᵢ, tᵢ), tᵢ without a factor of its own

NaN as k or aᵢ is a free constant, so that plain arithmetic merges constants: NaN + 2 is NaN, and so is NaN·NaN. Free
constants are independent of one another: two subtrees that hold one are never taken for equal, whatever they look like.

The common factor of the amounts of a sum stands before it. Free amounts do not count for that, and if all are free,
the first is taken out: c·x + c is c·(x + c), so that in any product of such sums all free factors meet in one. The
writer multiplies it out again.
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
    """Return the end of the subtree at `start`."""
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
    """Compare subtrees by a total order: -1, 0 or 1; 0 only for the same run of entries."""
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
    """Return True where the run holds a free constant."""
    for i in range(start, end):  # noqa: SIM110 -- compiled code
        if kind[i] == FREE or np.isnan(value[i]):
            return True
    return False


@jit
def holds_variable(kind: Ints, start: int, end: int) -> bool:
    """Return True where the run holds a variable."""
    for i in range(start, end):  # noqa: SIM110 -- compiled code
        if kind[i] == VARIABLE:
            return True
    return False


@jit
def put(kind: Ints, count: Ints, value: Floats, top: int, k: int, n: int, v: float) -> int:
    """Write one entry; return the new top."""
    kind[top] = k
    count[top] = n
    value[top] = v
    return top + 1


@jit
def copy(kind: Ints, count: Ints, value: Floats, start: int, end: int, top: int) -> int:
    """Copy a run to `top` (which may lie inside or before it); return the new top."""
    for i in range(start, end):
        kind[top] = kind[i]
        count[top] = count[i]
        value[top] = value[i]
        top += 1
    return top


@jit
def sort_parts(kind: Ints, count: Ints, value: Floats, amount: Floats, first: Ints, last: Ints, m: int) -> None:
    """Sort m parts; of equal ones those with a free amount come first, then the larger."""
    for i in range(1, m):
        a, f, e = amount[i], first[i], last[i]
        j = i - 1
        while j >= 0:
            ranked = order(kind, count, value, first[j], last[j], f, e)
            if ranked < 0 or (ranked == 0 and not (a > amount[j] or np.isnan(a))):
                break
            amount[j + 1], first[j + 1], last[j + 1] = amount[j], first[j], last[j]
            j -= 1
        amount[j + 1], first[j + 1], last[j + 1] = a, f, e


@jit
def merge(
    kind: Ints, count: Ints, value: Floats, amount: Floats, first: Ints, last: Ints, m: int, constants_absorb: bool
) -> int:
    """Sort m parts, add up the amounts of equal ones, drop the empty; return how many are left.

    With `constants_absorb` parts without a variable go too: the free constant beside them takes any value that they do.
    """
    sort_parts(kind, count, value, amount, first, last, m)
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
def is_zero(kind: Ints, value: Floats, node: int) -> bool:
    """Return True for a node that is the number zero."""
    return node >= 0 and kind[node] == NUMBER and value[node] == 0.0


@jit
def is_whole(a: float) -> bool:
    """Return True for a whole number that a double holds exactly."""
    return abs(a) < 9e15 and a == np.floor(a)


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
