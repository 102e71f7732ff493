"""The arena in which expressions are brought to normal form, and the operations that sums and products share.

A subtree is a run of entries in prefix order, each with a kind and the number of its operands:

    NUMBER            value is the number
    FREE              an unfitted constant
    VARIABLE          token is its id
    FUNCTION          token is its id; its operands follow
    POWER             base and exponent follow; for exponents that are not whole numbers (as `is_whole` has it)
    PRODUCT  n, k     k·Π bᵢ^eᵢ: n pairs (PART with value eᵢ, bᵢ), bᵢ no product and no number
    SUM      n, k     k + Σ aᵢ·tᵢ: n pairs (PART with value aᵢ, tᵢ), tᵢ without a factor of its own

NaN as k or aᵢ is a free constant, so that plain arithmetic merges constants: NaN + 2 is NaN, and so is NaN·NaN. Free
constants are independent of one another, so two subtrees with a free constant are never equal, even if they look alike.

The common factor of the fixed amounts of a sum is taken out of it. If all amounts are free, the first is taken out:
c·x + c is c·(x + c), so that the free factors of a product of such sums merge into one. The writer multiplies it out
again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.expr.jit import jit_inner, typed

NUMBER, FREE, VARIABLE, FUNCTION, POWER, PRODUCT, SUM, PART = (typed(i) for i in range(8))
NONE, ZERO, ONE, TWO = (typed(i) for i in range(-1, 3))

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


ENTRY = np.dtype([("kind", np.int64), ("token", np.int64), ("operands", np.int64), ("value", np.float64)])
PART_OF = np.dtype([("amount", np.float64), ("first", np.int64), ("last", np.int64)])


class Entry:
    """An element of an array of `ENTRY`, for the type checker."""

    kind: int
    token: int
    operands: int
    value: float


class Part:
    """A term or a factor that is being collected, an element of an array of `PART_OF`, for the type checker."""

    amount: float
    first: int
    """The start of its subtree."""
    last: int
    """The end of its subtree."""


Arena = list[Entry]
"""An array of `ENTRY`, with room for more entries: one array, since each costs time at every call of a kernel."""
Parts = list[Part]
"""An array of `PART_OF`."""


@jit_inner
def end_of(arena: Arena, start: int) -> int:
    """Return the end of the subtree at `start`."""
    missing = 1
    i = start
    while missing > 0:
        missing += arena[i].operands - 1
        i += 1
    return i


@jit_inner
def order(arena: Arena, a: int, a_end: int, b: int, b_end: int) -> int:
    """Compare subtrees by a total order: -1, 0 or 1; 0 only for the same run of entries."""
    for d in range(min(a_end - a, b_end - b)):
        i, j = a + d, b + d
        if arena[i].kind != arena[j].kind:
            return -1 if arena[i].kind < arena[j].kind else 1
        if arena[i].token != arena[j].token:
            return -1 if arena[i].token < arena[j].token else 1
        if arena[i].operands != arena[j].operands:
            return -1 if arena[i].operands < arena[j].operands else 1
        if arena[i].value != arena[j].value:
            i_free, j_free = np.isnan(arena[i].value), np.isnan(arena[j].value)
            if i_free != j_free:
                return -1 if i_free else 1
            if not i_free:
                return -1 if arena[i].value < arena[j].value else 1
    if a_end - a == b_end - b:
        return 0
    return -1 if a_end - a < b_end - b else 1


@jit_inner
def holds_free(arena: Arena, start: int, end: int) -> bool:
    """Return True where the run holds a free constant."""
    for i in range(start, end):  # noqa: SIM110 -- compiled code
        if arena[i].kind == FREE or np.isnan(arena[i].value):
            return True
    return False


@jit_inner
def holds_variable(arena: Arena, start: int, end: int) -> bool:
    """Return True where the run holds a variable."""
    for i in range(start, end):  # noqa: SIM110 -- compiled code
        if arena[i].kind == VARIABLE:
            return True
    return False


@jit_inner
def put(arena: Arena, top: int, kind: int, operands: int, value: float) -> int:
    """Write one entry; return the new top."""
    arena[top].kind, arena[top].token, arena[top].operands, arena[top].value = kind, ZERO, operands, value
    return top + 1


@jit_inner
def put_token(arena: Arena, top: int, kind: int, token: int, operands: int) -> int:
    """Write a variable or a function; return the new top."""
    arena[top].kind, arena[top].token, arena[top].operands, arena[top].value = kind, token, operands, 0.0
    return top + 1


@jit_inner
def put_number(arena: Arena, top: int, number: float) -> int:
    """Write a number, or a free constant for NaN; return the new top."""
    if np.isnan(number):
        return put(arena, top, FREE, ZERO, 0.0)
    return put(arena, top, NUMBER, ZERO, number)


@jit_inner
def copy(arena: Arena, start: int, end: int, top: int) -> int:
    """Copy a run to `top` (which may lie inside or before it); return the new top."""
    for i in range(start, end):
        arena[top] = arena[i]
        top += 1
    return top


@jit_inner
def sort_parts(arena: Arena, parts: Parts, m: int) -> None:
    """Sort m parts; of equal ones those with a free amount come first, then the larger."""
    for i in range(1, m):
        a, f, e = parts[i].amount, parts[i].first, parts[i].last
        j = i - 1
        while j >= 0:
            ranked = order(arena, parts[j].first, parts[j].last, f, e)
            if ranked < 0 or (ranked == 0 and not (a > parts[j].amount or np.isnan(a))):
                break
            parts[j + 1] = parts[j]
            j -= 1
        append(parts, j + 1, a, f, e)


@jit_inner
def append(parts: Parts, m: int, amount: float, first: int, last: int) -> int:
    """Write one part at place m; return the new number of parts."""
    parts[m].amount, parts[m].first, parts[m].last = amount, first, last
    return m + 1


@jit_inner
def append_all(arena: Arena, parts: Parts, m: int, factor: float, node: int) -> int:
    """Append the parts of a sum or a product, their amounts times `factor`; return the new number of parts."""
    i = node + 1
    for _ in range(arena[node].operands):
        end = end_of(arena, i + 1)
        m = append(parts, m, factor * arena[i].value, i + 1, end)
        i = end
    return m


@jit_inner
def merge(arena: Arena, parts: Parts, m: int, constants_absorb: bool) -> int:
    """Sort m parts, add up the amounts of equal ones, drop the empty; return how many are left.

    With `constants_absorb`, parts without a variable are dropped: the free constant beside them can take their value.
    """
    sort_parts(arena, parts, m)
    n = 0
    for i in range(m):
        if constants_absorb and not holds_variable(arena, parts[i].first, parts[i].last):
            continue
        if (
            n > 0
            and order(arena, parts[n - 1].first, parts[n - 1].last, parts[i].first, parts[i].last) == 0
            and not holds_free(arena, parts[i].first, parts[i].last)
        ):
            parts[n - 1].amount += parts[i].amount
            if parts[n - 1].amount == 0.0:
                n -= 1
            continue
        parts[n] = parts[i]
        n += 1
    return n


@jit_inner
def is_zero(arena: Arena, node: int) -> bool:
    """Return True for a node that is the number zero."""
    return node >= 0 and arena[node].kind == NUMBER and arena[node].value == 0.0


@jit_inner
def is_whole(a: float) -> bool:
    """Return True for a whole number that a double holds exactly."""
    return abs(a) < 9e15 and a == np.floor(a)


@jit_inner
def scaled(arena: Arena, factor: float, start: int, end: int, top: int) -> tuple[int, int]:
    """Write factor·subtree at the top; the subtree is no number and has no factor of its own."""
    begin = top
    if factor == 1.0:
        return begin, copy(arena, start, end, top)
    if arena[start].kind == PRODUCT:
        top = copy(arena, start, end, top)
        arena[begin].value = factor
        return begin, top
    top = put(arena, top, PRODUCT, ONE, factor)
    top = put(arena, top, PART, ONE, 1.0)
    return begin, copy(arena, start, end, top)
