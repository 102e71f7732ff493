"""From the normal form back to prefix tokens, and the loop over a whole forest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from edhie.expr.canonical.arena import (
    ENTRY,
    FREE,
    NONE,
    NUMBER,
    ONE,
    PART_OF,
    POWER,
    PRODUCT,
    SUM,
    VARIABLE,
    ZERO,
    Arena,
    Floats,
    Ints,
    end_of,
)
from edhie.expr.canonical.rules import normal_form
from edhie.expr.canonical.sums import count_fixed, has_free_amount
from edhie.expr.jit import copy_to, jit, jit_inner, typed

# what waits to be written: a subtree, a number, base^e, a·t, -(base^e), a divisor, a sum to be multiplied out
NODE, VALUE, RAISED, TERM, NEGATED, DIVISOR, SPREAD = (typed(i) for i in range(7))
# places in the table of token ids that the writer needs
ADD, SUB, MUL, DIV, POW, NEG, ANY_NUMBER, CONSTANT, POW2 = 0, 1, 2, 3, 4, 5, 6, 7, 8
ARENA_PER_TOKEN = 64
MAX_PASSES = 8
Tokens = NDArray[np.int16]


ITEM = np.dtype([("what", np.int64), ("where", np.int64), ("extra", np.float64)])


class Item:
    """An item that is left to write, an element of an array of `ITEM`, for the type checker."""

    what: int
    where: int
    """Its subtree."""
    extra: float
    """Its number."""


Work = list[Item]
"""A stack of what is left to write, an array of `ITEM`."""


@jit_inner
def push(work: Work, n: int, item: int, start: int, x: float) -> int:
    """Put an item on the work stack; return its new depth."""
    work[n].what, work[n].where, work[n].extra = item, start, x
    return n + 1


@jit_inner
def write_sum(
    arena: Arena, node: int, scale: float, ids: Ints, work: Work, n: int, out: Tokens, at: int
) -> tuple[int, int]:
    """Write the operators of scale·(a sum) and push its operands; terms with a plus come first."""
    terms = arena[node].operands
    parts = np.empty(terms + 1, np.int64)
    amounts = np.empty(terms + 1, np.float64)
    m = 0
    for wanted in range(2):  # first those without a minus sign
        i = node + 1
        for _ in range(terms):
            a = scale * arena[i].value
            if (a < 0.0) == (wanted == 1):
                parts[m], amounts[m] = i + 1, a
                m += 1
            i = end_of(arena, i + 1)
    constant = scale * arena[node].value if arena[node].value != 0.0 else 0.0
    if constant != 0.0:
        parts[m], amounts[m] = NONE, constant
        if amounts[0] < 0.0 and not constant < 0.0:  # x is better off behind: 1 - x, not -x + 1
            for j in range(m, 0, -1):
                parts[j], amounts[j] = parts[j - 1], amounts[j - 1]
            parts[0], amounts[0] = NONE, constant
        m += 1
    for j in range(m - 1, 0, -1):
        out[at] = ids[SUB] if amounts[j] < 0.0 else ids[ADD]
        at += 1
    for j in range(m - 1, -1, -1):
        a = abs(amounts[j]) if j > 0 else amounts[j]
        n = push(work, n, VALUE if parts[j] < 0 else TERM, parts[j], a)
    return n, at


@jit_inner
def push_factors(arena: Arena, node: int, sign: float, work: Work, n: int) -> int:
    """Push the factors with positive or with negative exponents, the first on top; return the new depth."""
    bottom = n
    i = node + 1
    for _ in range(arena[node].operands):
        if sign * arena[i].value > 0:
            n = push(work, n, RAISED, i + 1, abs(arena[i].value))
        i = end_of(arena, i + 1)
    for j in range((n - bottom) // 2):
        a, b = bottom + j, n - 1 - j
        work[a].where, work[b].where = work[b].where, work[a].where
        work[a].extra, work[b].extra = work[b].extra, work[a].extra
    return n


@jit_inner
def write_product(
    arena: Arena, node: int, factor: float, ids: Ints, work: Work, n: int, out: Tokens, at: int
) -> tuple[int, int]:
    """Write the operators of a product and push its operands; negative powers go into the divisor."""
    if arena[node].operands == 1 and arena[node + 1].value == 1.0 and arena[node + 2].kind == SUM:
        whole = node + 2  # a factor before a sum is multiplied out where all but one amount are free, as in 2*x + c
        if factor == -1.0 or (has_free_amount(arena, whole) and count_fixed(arena, whole) == 1):
            return push(work, n, SPREAD, whole, factor), at
    above = 0
    i = node + 1
    for _ in range(arena[node].operands):
        above += arena[i].value > 0
        i = end_of(arena, i + 1)
    size = abs(factor)
    divisor = 1.0
    if size < 1.0 and 1.0 / size == np.floor(1.0 / size) and 1.0 / (1.0 / size) == size:
        divisor = 1.0 / size
        size = 1.0
        factor = 1.0 if factor > 0 else -1.0
    if above < arena[node].operands or divisor != 1.0:
        out[at] = ids[DIV]
        at += 1
        n = push(work, n, DIVISOR, node, divisor)
    shows_number = size != 1.0 or above == 0
    for _ in range(above + shows_number - 1):
        out[at] = ids[MUL]
        at += 1
    n = push_factors(arena, node, 1.0, work, n)
    if shows_number:
        n = push(work, n, VALUE, NONE, factor)
    elif factor < 0.0:
        work[n - 1].what = NEGATED
    return n, at


@jit_inner
def write_divisor(
    arena: Arena, node: int, divisor: float, ids: Ints, work: Work, n: int, out: Tokens, at: int
) -> tuple[int, int]:
    """Write the divisor of a product."""
    bottom = n
    n = push_factors(arena, node, -1.0, work, n)
    if divisor != 1.0:
        n = push(work, n, VALUE, NONE, divisor)
    for _ in range(n - bottom - 1):
        out[at] = ids[MUL]
        at += 1
    return n, at


@jit_inner
def write(
    arena: Arena, ids: Ints, literals: Floats, work: Work, out: Tokens, at: int, out_values: Floats, slot: int
) -> tuple[int, int]:
    """Write the expression at the arena's bottom as tokens; return the new ends, or -1 when there is no room."""
    n = push(work, ZERO, NODE, ZERO, 0.0)
    while n > 0:
        if at + 2 * n + 16 > len(out) or slot + 1 > len(out_values) or 2 * n + 64 > len(work):
            return NONE, slot
        n -= 1
        item, node, x = work[n].what, work[n].where, work[n].extra
        if item == NEGATED:
            out[at] = ids[NEG] if ids[NEG] >= 0 else ids[MUL]
            at += 1
            if ids[NEG] < 0:  # a variable has that name: -1·x
                n = push(work, n, RAISED, node, x)
                item, node, x = VALUE, NONE, -1.0
            else:
                item = RAISED
        if item == RAISED:
            if x != 1.0:
                whole = int(x)
                if whole <= 5 and ids[POW2 + whole - 2] >= 0:
                    out[at] = ids[POW2 + whole - 2]
                else:
                    out[at] = ids[POW]
                    n = push(work, n, VALUE, NONE, x)
                at += 1
            item = NODE
        if item == TERM:
            if x == 1.0:
                item = NODE
            elif arena[node].kind == PRODUCT:
                n, at = write_product(arena, node, x, ids, work, n, out, at)
                continue
            elif x == -1.0 and ids[NEG] >= 0:
                out[at] = ids[NEG]
                at += 1
                item = NODE
            else:
                inverse = 1.0 / x
                if abs(x) < 1.0 and inverse == np.floor(inverse) and 1.0 / inverse == x and x > 0.0:
                    out[at] = ids[DIV]
                    n = push(work, n, VALUE, NONE, inverse)
                    n = push(work, n, NODE, node, 0.0)
                else:
                    out[at] = ids[MUL]
                    n = push(work, n, NODE, node, 0.0)
                    n = push(work, n, VALUE, NONE, x)
                at += 1
                continue
        if item == DIVISOR:
            n, at = write_divisor(arena, node, x, ids, work, n, out, at)
        elif item == SPREAD:
            n, at = write_sum(arena, node, x, ids, work, n, out, at)
        elif item == VALUE or arena[node].kind == NUMBER or arena[node].kind == FREE:
            number = x if item == VALUE else arena[node].value
            is_free = np.isnan(number) or (item == NODE and arena[node].kind == FREE)
            out[at] = ids[CONSTANT] if is_free else ids[ANY_NUMBER]
            if is_free:
                number = np.nan
            else:
                for j in range(len(literals)):
                    if literals[j] == number:
                        out[at] = j
            if out[at] == ids[CONSTANT] or out[at] == ids[ANY_NUMBER]:
                out_values[slot] = number
                slot += 1
            at += 1
        elif arena[node].kind == VARIABLE:
            out[at] = arena[node].token
            at += 1
        elif arena[node].kind == SUM:
            n, at = write_sum(arena, node, 1.0, ids, work, n, out, at)
        elif arena[node].kind == PRODUCT:
            n, at = write_product(arena, node, arena[node].value, ids, work, n, out, at)
        else:
            out[at] = ids[POW] if arena[node].kind == POWER else arena[node].token
            at += 1
            second = end_of(arena, node + 1)
            if arena[node].operands == 2:
                n = push(work, n, NODE, second, 0.0)
            n = push(work, n, NODE, node + 1, 0.0)
    return at, slot


@jit_inner
def holds_nan(values: Floats) -> bool:
    """Return whether a value is NaN, as that of a free constant is."""
    for value in values:  # noqa: SIM110 -- compiled code
        if np.isnan(value):
            return True
    return False


@jit_inner
def is_same(a: Tokens, b: Tokens) -> bool:
    """Return whether two runs of tokens are the same."""
    if len(a) != len(b):
        return False
    for i in range(len(a)):  # noqa: SIM110 -- compiled code
        if a[i] != b[i]:
            return False
    return True


@jit
def canonical_arrays(
    tokens: Tokens, offsets: Ints, values: Floats, slots: Ints,
    arities: NDArray[np.int8], opcodes: NDArray[np.int16], literals: Floats, has_slot: NDArray[np.bool_], ids: Ints,
) -> tuple[Tokens, Ints, Floats]:  # fmt: skip
    """Return the canonical form of each expression; one that cannot be folded safely stays as it is."""
    total = len(offsets) - 1
    longest = ONE
    for k in range(total):
        longest = max(longest, offsets[k + 1] - offsets[k])
    room = ARENA_PER_TOKEN * (longest + 4)
    arena: Any = np.empty(room, ENTRY)
    parts: Any = np.empty(room, PART_OF)
    work: Any = np.empty(room, ITEM)
    stack = np.empty(longest + 1, np.int64)
    out = np.empty(2 * len(tokens) + 2 * room, np.int16)
    out_values = np.empty(2 * len(values) + 2 * room, np.float64)
    out_offsets = np.zeros(total + 1, np.int64)
    at, slot = ZERO, ZERO
    for k in range(total):
        if at + room > len(out):
            bigger = np.empty(2 * len(out) + room, np.int16)
            copy_to(bigger, out[:at])
            out = bigger
        if slot + room > len(out_values):
            bigger_values = np.empty(2 * len(out_values) + room, np.float64)
            copy_to(bigger_values, out_values[:slot])
            out_values = bigger_values
        piece = tokens[offsets[k] : offsets[k + 1]].copy()
        known = values[slots[k] : slots[k + 1]].copy()
        for _ in range(MAX_PASSES):
            end, slot_end = NONE, NONE
            if normal_form(
                piece.ctypes, len(piece), known.ctypes, len(known), arities.ctypes, opcodes.ctypes, literals.ctypes,
                has_slot.ctypes, arena.ctypes, room, parts.ctypes, stack.ctypes,
            ) == 1:  # fmt: skip
                end, slot_end = write(arena, ids, literals, work, out, at, out_values, slot)
            if end < 0:
                end, slot_end = at + len(piece), slot + len(known)
                copy_to(out[at:], piece)
                copy_to(out_values[slot:], known)
                break
            # free constants that merge may bring others together, which the next pass sees
            if not holds_nan(known) or is_same(piece, out[at:end]):
                break
            piece, known = out[at:end].copy(), out_values[slot:slot_end].copy()
        at, slot = end, slot_end
        out_offsets[k + 1] = at
    return out[:at].copy(), out_offsets, out_values[:slot].copy()
