"""Sums in the arena: like terms collected, common factors taken out."""

from __future__ import annotations

import math

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
    Arena,
    Parts,
    append,
    append_all,
    copy,
    end_of,
    holds_variable,
    is_whole,
    merge,
    order,
    put,
    put_number,
    scaled,
    sort_parts,
)
from edhie.expr.jit import jit_inner


@jit_inner
def count_fixed(arena: Arena, node: int) -> int:
    """Return how many amounts of a sum, its constant included, are numbers."""
    fixed = ZERO
    if arena[node].value != 0.0 and not np.isnan(arena[node].value):
        fixed += 1
    i = node + 1
    for _ in range(arena[node].operands):
        if not np.isnan(arena[i].value):
            fixed += 1
        i = end_of(arena, i + 1)
    return fixed


@jit_inner
def has_free_amount(arena: Arena, node: int) -> bool:
    """Return True where an amount of a sum, or its constant, is free."""
    amounts = arena[node].operands + (arena[node].value != 0.0)
    return bool(count_fixed(arena, node) < amounts)


@jit_inner
def without_constants(arena: Arena, start: int, top: int) -> tuple[int, int, int]:
    """Drop a term's factors without variables, as a free constant absorbs them; return its bounds and the top."""
    if arena[start].kind != PRODUCT:
        return start, end_of(arena, start), top
    begin, kept = top, ZERO
    top = put(arena, top, PRODUCT, ZERO, 1.0)
    i = start + 1
    for _ in range(arena[start].operands):
        after = end_of(arena, i + 1)
        if holds_variable(arena, i, after):
            top = copy(arena, i, after, top)
            kept += 1
        i = after
    arena[begin].operands = kept
    if kept == 1 and arena[begin + 1].value == 1.0:
        begin += 2
    return begin, top, top


@jit_inner
def open_free(arena: Arena, node: int, parts: Parts, m: int, constant: float, top: int) -> tuple[int, float, int]:
    """Append c·(a sum with free amounts) to the terms of another; its fixed amounts share one constant."""
    fixed, own = count_fixed(arena, node), arena[node].value
    if np.isnan(own) or (own != 0.0 and fixed == 1):
        constant = np.nan
    shared, shared_count = top, ZERO
    if fixed > 1:
        top = put(arena, top, SUM, ZERO, 0.0 if np.isnan(own) else own)
        i = node + 1
        for _ in range(arena[node].operands):
            after = end_of(arena, i + 1)
            if not np.isnan(arena[i].value):
                top = copy(arena, i, after, top)
                shared_count += 1
            i = after
        arena[shared].operands = shared_count
        m = append(parts, m, np.nan, shared, top)
    i = node + 1
    for _ in range(arena[node].operands):
        after = end_of(arena, i + 1)
        if np.isnan(arena[i].value):
            m = append(parts, m, np.nan, i + 1, after)
        elif fixed == 1 and holds_variable(arena, i + 1, after):
            first, last, top = without_constants(arena, i + 1, top)
            m = append(parts, m, np.nan, first, last)
        elif fixed == 1:
            constant = np.nan
        i = after
    return m, constant, top


@jit_inner
def add_terms(
    arena: Arena, node: int, scale: float, parts: Parts, m: int, constant: float, top: int
) -> tuple[int, float, int]:
    """Append scale·node to the terms of a sum; return the number of terms, its constant and the top."""
    if arena[node].kind == PRODUCT:
        scale *= arena[node].value
        if arena[node].operands != 1 or arena[node + 1].value != 1.0:
            end = copy(arena, node, end_of(arena, node), top)
            arena[top].value = 1.0
            return append(parts, m, scale, top, end), constant, end
        node += 2
    if arena[node].kind == SUM and not np.isnan(scale):  # a nested sum opens into this one
        return append_all(arena, parts, m, scale, node), constant + scale * arena[node].value, top
    if arena[node].kind == SUM and has_free_amount(arena, node):
        return open_free(arena, node, parts, m, constant, top)
    if arena[node].kind == NUMBER:
        return m, constant + scale * arena[node].value, top
    if arena[node].kind == FREE:
        return m, np.nan, top
    return append(parts, m, scale, node, end_of(arena, node)), constant, top


@jit_inner
def add_up(arena: Arena, left: int, right: int, sign: float, parts: Parts, top: int) -> tuple[int, int]:
    """Write left + sign·right at the top; return its bounds, or -1 when it overflows."""
    m, constant, top = add_terms(arena, left, 1.0, parts, ZERO, 0.0, top)
    if np.isinf(constant):
        return NONE, top
    m, constant, top = add_terms(arena, right, sign, parts, m, constant, top)
    if np.isinf(constant) or has_lost_amounts(parts, m):  # before inf - inf can pass for a free constant
        return NONE, top
    if np.isnan(constant):
        top = strip_groups(arena, parts, m, top)
    m = merge(arena, parts, m, np.isnan(constant))
    if has_lost_amounts(parts, m):
        return NONE, top
    return finish(arena, parts, m, constant, top)


@jit_inner
def strip_groups(arena: Arena, parts: Parts, m: int, top: int) -> int:
    """Drop terms without variables from each c·(a sum) beside a free constant; return the top."""
    for i in range(m):
        group = parts[i].first
        if not np.isnan(parts[i].amount) or arena[group].kind != SUM:
            continue
        kept = parts[m:]
        n = ZERO
        j = group + 1
        for _ in range(arena[group].operands):
            after = end_of(arena, j + 1)
            if holds_variable(arena, j + 1, after):
                n = append(kept, n, arena[j].value, j + 1, after)
            j = after
        if n == arena[group].operands and arena[group].value == 0.0:
            continue
        first, top = finish(arena, kept, n, 0.0, top)
        if arena[first].kind == PRODUCT:  # its factor goes into the free constant before it
            arena[first].value = 1.0
            first, _, top = without_constants(arena, first, top)
        append(parts, i, parts[i].amount, first, top)
    return top


@jit_inner
def finish(arena: Arena, parts: Parts, m: int, constant: float, top: int) -> tuple[int, int]:
    """Write a sum of m merged parts, with their common factor taken out."""
    start = top
    if m == 0:
        return start, put_number(arena, top, constant)
    if m == 1 and constant == 0.0:
        return scaled(arena, parts[0].amount, parts[0].first, parts[0].last, top)
    factor = common_factor(arena, parts, m, constant)
    if factor != 1.0:
        top = put(arena, top, PRODUCT, ONE, factor)
        top = put(arena, top, PART, ONE, 1.0)
    if np.isnan(factor):
        parts[0].amount = 1.0
    else:
        constant /= factor
        for i in range(m):
            parts[i].amount /= factor
        sort_parts(arena, parts, m)  # a change of sign turns equal parts round
    return start, write_terms(arena, parts, m, constant, top)


@jit_inner
def write_terms(arena: Arena, parts: Parts, m: int, constant: float, top: int) -> int:
    """Write a sum at the top; return the new top."""
    begin = top
    top = put(arena, top, SUM, m, constant)
    for i in range(m):
        first = parts[i].first
        if parts[i].amount == 1.0 and arena[first].kind == SUM:  # a free factor was taken out: the sum behind it opens
            arena[begin].value += arena[first].value
            arena[begin].operands += arena[first].operands - 1
            first += 1
        else:
            top = put(arena, top, PART, ONE, parts[i].amount)
        top = copy(arena, first, parts[i].last, top)
    return top


@jit_inner
def has_lost_amounts(parts: Parts, m: int) -> bool:
    """Return True where one of the first m amounts has overflowed, or has underflowed to zero."""
    for i in range(m):  # noqa: SIM110 -- compiled code
        if np.isinf(parts[i].amount) or parts[i].amount == 0.0:
            return True
    return False


@jit_inner
def common_factor(arena: Arena, parts: Parts, m: int, constant: float) -> float:
    """Return the factor that can be taken out of a sum exactly, so that its first fixed amount becomes positive.

    For whole numbers their greatest common divisor; otherwise the size that all share, if
    they do; otherwise 1. NaN, a free constant, where all amounts are free.
    """
    size, divisor = 0.0, 0.0
    is_shared, are_whole = True, True
    for i in range(m + 1):
        a = abs(parts[i].amount if i < m else constant)
        if a == 0.0 or np.isnan(a):
            continue
        if size == 0.0:
            size = a
        is_shared = is_shared and a == size
        are_whole = are_whole and is_whole(a)
        if are_whole:
            divisor = float(math.gcd(int(divisor), int(a)))
    if size == 0.0:
        return np.nan
    sign = leading_sign(arena, parts, m, constant)
    if are_whole:
        return sign * divisor
    return sign * size if is_shared else sign


@jit_inner
def leading_sign(arena: Arena, parts: Parts, m: int, constant: float) -> float:
    """Return the sign of the first amount that is a number; equal parts (with free constants) count together."""
    total = 0.0
    for i in range(m):
        if total != 0.0 and order(arena, parts[i - 1].first, parts[i - 1].last, parts[i].first, parts[i].last) != 0:
            break
        if not np.isnan(parts[i].amount):
            total += parts[i].amount
    if total == 0.0 and not np.isnan(constant):
        total = constant
    return -1.0 if total < 0.0 else 1.0
