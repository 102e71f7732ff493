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
    Arena,
    Parts,
    append,
    append_all,
    copy,
    end_of,
    is_whole,
    is_zero,
    merge,
    put,
    put_number,
    scaled,
)
from edhie.expr.jit import jit


@jit
def add_factors(
    arena: Arena, node: int, exponent: float, parts: Parts, m: int, factor: float, top: int
) -> tuple[int, float, int]:
    """Append node^exponent to the factors of a product; return their number, its factor and the top."""
    kind, value = arena.kind[node], arena.value[node]
    is_free = kind == FREE or (kind == PRODUCT and np.isnan(value))
    if is_free and exponent % 2 == 0:  # an even power of a constant is not any number: it stays
        m = append(parts, m, exponent, top, top + 1)
        top = put(arena, top, FREE, ZERO, 0.0)
    elif is_free:
        factor = np.nan
    elif kind in (NUMBER, PRODUCT):
        factor *= value**exponent
    if kind == PRODUCT:
        m = append_all(arena, parts, m, exponent, node)
    elif kind not in (NUMBER, FREE):
        m = append(parts, m, exponent, node, end_of(arena, node))
    return m, factor, top


@jit
def multiply(
    arena: Arena, left: int, left_exponent: float, right: int, right_exponent: float, parts: Parts, top: int
) -> tuple[int, int]:
    """Write left^p·right^q (right may be -1: none) at the top; return its bounds, or -1 on overflow."""
    if is_zero(arena, left) or is_zero(arena, right):
        return top, put(arena, top, NUMBER, ZERO, 0.0)
    m, factor, top = add_factors(arena, left, left_exponent, parts, ZERO, 1.0, top)
    if right >= 0:
        m, factor, top = add_factors(arena, right, right_exponent, parts, m, factor, top)
    if np.isinf(factor) or factor == 0.0:  # overflow or underflow
        return NONE, top
    m = merge(arena, parts, m, np.isnan(factor))
    for i in range(m):
        if not is_whole(parts.amount[i]):
            return NONE, top
    if m == 0:
        return top, put_number(arena, top, factor)
    if m == 1 and parts.amount[0] == 1.0:
        return scaled(arena, factor, parts.first[0], parts.last[0], top)
    start = top
    top = put(arena, top, PRODUCT, m, factor)
    for i in range(m):
        top = put(arena, top, PART, ZERO, parts.amount[i])
        top = copy(arena, parts.first[i], parts.last[i], top)
    return start, top
