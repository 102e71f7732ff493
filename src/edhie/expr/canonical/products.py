"""Products in the arena: factors collected, their exponents added up."""

from __future__ import annotations

import numpy as np

from edhie.expr.canonical.arena import (
    FREE,
    NONE,
    NUMBER,
    PART,
    PRODUCT,
    ZERO,
    Arities,
    Floats,
    Ints,
    copy,
    end_of,
    is_whole,
    is_zero,
    merge,
    put,
    scaled,
)
from edhie.expr.jit import jit


@jit
def add_factors(
    kind: Ints, count: Ints, value: Floats, arities: Arities, node: int, exponent: float,
    amount: Floats, first: Ints, last: Ints, m: int, factor: float, top: int,
) -> tuple[int, float, int]:  # fmt: skip
    """Append node^exponent to the factors of a product; return their number, its factor and the top."""
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
def multiply(
    kind: Ints, count: Ints, value: Floats, arities: Arities, left: int, left_exponent: float,
    right: int, right_exponent: float, amount: Floats, first: Ints, last: Ints, top: int,
) -> tuple[int, int]:  # fmt: skip
    """Write left^p·right^q (right may be -1: none) at the top; return its bounds, or -1 on overflow."""
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
        return scaled(kind, count, value, factor, first[0], last[0], top)
    top = put(kind, count, value, top, PRODUCT, m, factor)
    for i in range(m):
        top = put(kind, count, value, top, PART, ZERO, amount[i])
        top = copy(kind, count, value, first[i], last[i], top)
    return start, top
