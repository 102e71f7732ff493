"""Sums in the arena: like terms collected, common factors taken out."""

from __future__ import annotations

import numpy as np

from edhie.expr.canonical.arena import (
    FREE,
    NONE,
    NUMBER,
    ONE,
    PART,
    PRODUCT,
    SUM,
    ZERO,
    Arities,
    Floats,
    Ints,
    copy,
    end_of,
    holds_variable,
    is_whole,
    merge,
    order,
    put,
    scaled,
    sort_parts,
)
from edhie.expr.jit import jit


@jit
def count_fixed(kind: Ints, count: Ints, value: Floats, arities: Arities, node: int) -> int:
    """Return how many amounts of a sum, its constant included, are numbers."""
    fixed = ZERO
    if value[node] != 0.0 and not np.isnan(value[node]):
        fixed += 1
    i = node + 1
    for _ in range(count[node]):
        if not np.isnan(value[i]):
            fixed += 1
        i = end_of(kind, count, arities, i + 1)
    return fixed


@jit
def is_soft(kind: Ints, count: Ints, value: Floats, arities: Arities, node: int) -> bool:
    """Return True where an amount of a sum, or its constant, is free."""
    amounts = count[node] + (value[node] != 0.0)
    return bool(count_fixed(kind, count, value, arities, node) < amounts)


@jit
def without_constants(
    kind: Ints, count: Ints, value: Floats, arities: Arities, start: int, top: int
) -> tuple[int, int, int]:
    """Drop a term's factors without variables, as a free constant absorbs them; return its bounds and the top."""
    end = end_of(kind, count, arities, start)
    if kind[start] != PRODUCT:
        return start, end, top
    begin = top
    kept = ZERO
    top = put(kind, count, value, top, PRODUCT, ZERO, 1.0)
    i = start + 1
    for _ in range(count[start]):
        after = end_of(kind, count, arities, i + 1)
        if holds_variable(kind, i, after):
            top = copy(kind, count, value, i, after, top)
            kept += 1
        i = after
    count[begin] = kept
    if kept == 1 and value[begin + 1] == 1.0:
        begin += 2
    return begin, top, top


@jit
def open_free(
    kind: Ints, count: Ints, value: Floats, arities: Arities, node: int,
    amount: Floats, first: Ints, last: Ints, m: int, constant: float, top: int,
) -> tuple[int, float, int]:  # fmt: skip
    """Append c·(a sum with free amounts) to the terms of another; its fixed amounts share one constant."""
    fixed = count_fixed(kind, count, value, arities, node)
    if np.isnan(value[node]) or (value[node] != 0.0 and fixed == 1):
        constant = np.nan
    shared, shared_count = top, ZERO
    if fixed > 1:
        top = put(kind, count, value, top, SUM, ZERO, 0.0 if np.isnan(value[node]) else value[node])
        i = node + 1
        for _ in range(count[node]):
            after = end_of(kind, count, arities, i + 1)
            if not np.isnan(value[i]):
                top = copy(kind, count, value, i, after, top)
                shared_count += 1
            i = after
        count[shared] = shared_count
        amount[m], first[m], last[m] = np.nan, shared, top
        m += 1
    i = node + 1
    for _ in range(count[node]):
        after = end_of(kind, count, arities, i + 1)
        if np.isnan(value[i]):
            amount[m], first[m], last[m] = np.nan, i + 1, after
            m += 1
        elif fixed == 1:
            if holds_variable(kind, i + 1, after):
                amount[m] = np.nan
                first[m], last[m], top = without_constants(kind, count, value, arities, i + 1, top)
                m += 1
            else:
                constant = np.nan
        i = after
    return m, constant, top


@jit
def add_terms(
    kind: Ints, count: Ints, value: Floats, arities: Arities, node: int, scale: float,
    amount: Floats, first: Ints, last: Ints, m: int, constant: float, top: int,
) -> tuple[int, float, int]:  # fmt: skip
    """Append scale·node to the terms of a sum; return the number of terms, its constant and the top."""
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
    if kind[node] == SUM and is_soft(kind, count, value, arities, node):
        return open_free(kind, count, value, arities, node, amount, first, last, m, constant, top)
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
    """Write left + sign·right at the top; return its bounds, or -1 when it overflows."""
    m, constant, top = add_terms(kind, count, value, arities, left, 1.0, amount, first, last, ZERO, 0.0, top)
    if np.isinf(constant):
        return NONE, top
    m, constant, top = add_terms(kind, count, value, arities, right, sign, amount, first, last, m, constant, top)
    if np.isinf(constant) or has_lost_amounts(amount, m):  # before inf - inf can pass for a free constant
        return NONE, top
    if np.isnan(constant):
        top = strip_groups(kind, count, value, arities, amount, first, last, m, top)
    m = merge(kind, count, value, amount, first, last, m, np.isnan(constant))
    if has_lost_amounts(amount, m):
        return NONE, top
    return finish(kind, count, value, amount, first, last, m, constant, top)


@jit
def strip_groups(
    kind: Ints, count: Ints, value: Floats, arities: Arities,
    amount: Floats, first: Ints, last: Ints, m: int, top: int,
) -> int:  # fmt: skip
    """Drop terms without variables from each c·(a sum) beside a free constant; return the top."""
    for i in range(m):
        if not np.isnan(amount[i]) or kind[first[i]] != SUM:
            continue
        n = ZERO
        j = first[i] + 1
        for _ in range(count[first[i]]):
            after = end_of(kind, count, arities, j + 1)
            if holds_variable(kind, j + 1, after):
                amount[m + n], first[m + n], last[m + n] = value[j], j + 1, after
                n += 1
            j = after
        if n == count[first[i]] and value[first[i]] == 0.0:
            continue
        first[i], top = finish(kind, count, value, amount[m:], first[m:], last[m:], n, 0.0, top)
        if kind[first[i]] == PRODUCT:  # its factor goes into the free constant before it
            value[first[i]] = 1.0
            first[i], last[i], top = without_constants(kind, count, value, arities, first[i], top)
        last[i] = top
    return top


@jit
def finish(
    kind: Ints, count: Ints, value: Floats, amount: Floats, first: Ints, last: Ints, m: int, constant: float, top: int
) -> tuple[int, int]:
    """Write a sum of m merged parts, with their common factor taken out."""
    start = top
    if m == 0:
        if np.isnan(constant):
            return start, put(kind, count, value, top, FREE, ZERO, 0.0)
        return start, put(kind, count, value, top, NUMBER, ZERO, constant)
    if m == 1 and constant == 0.0:
        return scaled(kind, count, value, amount[0], first[0], last[0], top)
    factor = common_factor(kind, count, value, amount, first, last, m, constant)
    if factor != 1.0:
        top = put(kind, count, value, top, PRODUCT, ONE, factor)
        top = put(kind, count, value, top, PART, ZERO, 1.0)
    if np.isnan(factor):
        amount[0] = 1.0
    else:
        constant /= factor
        for i in range(m):
            amount[i] /= factor
        sort_parts(kind, count, value, amount, first, last, m)  # a change of sign turns equal parts round
    return start, write_terms(kind, count, value, amount, first, last, m, constant, top)


@jit
def write_terms(
    kind: Ints, count: Ints, value: Floats, amount: Floats, first: Ints, last: Ints, m: int, constant: float, top: int
) -> int:
    """Write a sum at the top; return the new top."""
    begin = top
    top = put(kind, count, value, top, SUM, m, constant)
    for i in range(m):
        if amount[i] == 1.0 and kind[first[i]] == SUM:  # a free factor was taken out: the sum behind it opens
            value[begin] += value[first[i]]
            count[begin] += count[first[i]] - 1
            top = copy(kind, count, value, first[i] + 1, last[i], top)
            continue
        top = put(kind, count, value, top, PART, ZERO, amount[i])
        top = copy(kind, count, value, first[i], last[i], top)
    return top


@jit
def has_lost_amounts(amount: Floats, m: int) -> bool:
    """Return True where one of the first m amounts has overflowed, or has underflowed to zero."""
    for i in range(m):  # noqa: SIM110 -- compiled code
        if np.isinf(amount[i]) or amount[i] == 0.0:
            return True
    return False


@jit
def common_factor(
    kind: Ints, count: Ints, value: Floats, amount: Floats, first: Ints, last: Ints, m: int, constant: float
) -> float:
    """Return the factor that can be taken out of a sum exactly, so that its first fixed amount becomes positive.

    For whole numbers their greatest common divisor; otherwise the size that all share, if
    they do; otherwise 1. NaN, a free constant, where all amounts are free.
    """
    size, divisor = 0.0, 0.0
    is_shared, are_whole = True, True
    for i in range(m + 1):
        a = abs(amount[i] if i < m else constant)
        if a == 0.0 or np.isnan(a):
            continue
        if size == 0.0:
            size = a
        is_shared = is_shared and a == size
        are_whole = are_whole and is_whole(a)
        if are_whole:
            divisor = greatest_common_divisor(divisor, a)
    if size == 0.0:
        return np.nan
    sign = leading_sign(kind, count, value, amount, first, last, m, constant)
    if are_whole:
        return sign * divisor
    return sign * size if is_shared else sign


@jit
def leading_sign(
    kind: Ints, count: Ints, value: Floats, amount: Floats, first: Ints, last: Ints, m: int, constant: float
) -> float:
    """Return the sign of the first amount that is a number; equal parts (with free constants) count together."""
    total = 0.0
    for i in range(m):
        if i > 0 and total != 0.0 and order(kind, count, value, first[i - 1], last[i - 1], first[i], last[i]) != 0:
            break
        if not np.isnan(amount[i]):
            total += amount[i]
    if total == 0.0 and not np.isnan(constant):
        total = constant
    return -1.0 if total < 0.0 else 1.0


@jit
def greatest_common_divisor(a: float, b: float) -> float:
    """Return the greatest common divisor of whole numbers held as doubles."""
    while b != 0.0:
        a, b = b, a % b
    return a
