"""From prefix tokens to the normal form: the rule of each operator."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import carray, from_dtype, types
from numpy.typing import NDArray

from edhie.expr.canonical.arena import (
    ENTRY,
    FREE,
    FUNCTION,
    NONE,
    NUMBER,
    ONE,
    PART,
    PART_OF,
    POWER,
    PRODUCT,
    TWO,
    VARIABLE,
    ZERO,
    Arena,
    Parts,
    append,
    append_all,
    copy,
    end_of,
    holds_free,
    is_whole,
    is_zero,
    merge,
    order,
    put,
    put_number,
    put_token,
    scaled,
)
from edhie.expr.canonical.sums import add_up
from edhie.expr.jit import jit_inner, jit_once
from edhie.expr.symbols import FUNCTIONS, Opcode

# numba takes enum members for objects; plain integers compile to constants
_NUMBER, _CUSTOM = int(Opcode.NUMBER), int(Opcode.CUSTOM)
_ADD, _SUB, _MUL, _DIV, _POW = (int(Opcode[n]) for n in ("ADD", "SUB", "MUL", "DIV", "POW"))
_NEG, _INV, _POW2, _POW5 = (int(Opcode[n]) for n in ("NEG", "INV", "POW2", "POW5"))
_SQRT, _CBRT, _EXP, _LOG, _LOG10 = (int(Opcode[n]) for n in ("SQRT", "CBRT", "EXP", "LOG", "LOG10"))
_ABS, _SIGN, _MIN, _MAX = (int(Opcode[n]) for n in ("ABS", "SIGN", "MIN", "MAX"))
_SIN, _COS, _TAN = (int(Opcode[n]) for n in ("SIN", "COS", "TAN"))
_ASIN, _ACOS, _ATAN = (int(Opcode[n]) for n in ("ASIN", "ACOS", "ATAN"))
_SINH, _COSH, _TANH = (int(Opcode[n]) for n in ("SINH", "COSH", "TANH"))
EVEN = tuple(int(symbol.opcode) for symbol in FUNCTIONS.values() if symbol.parity == "even")  # f(-a) = f(a)
ODD = tuple(int(symbol.opcode) for symbol in FUNCTIONS.values() if symbol.parity == "odd")  # f(-a) = -f(a)
Opcodes = NDArray[np.int16]
ONTO = tuple(int(symbol.opcode) for symbol in FUNCTIONS.values() if symbol.is_onto)  # f(c), for a free c, is any number


@jit_inner
def value_of(opcode: int, a: float) -> float:
    """Return a function of one number, NaN where it is not defined."""
    if opcode == _SQRT:
        return math.sqrt(a) if a >= 0 else np.nan
    if opcode == _CBRT:
        return float(np.cbrt(a))
    if opcode == _EXP:
        return float(np.exp(a))
    if opcode == _LOG:
        return math.log(a) if a > 0 else np.nan
    if opcode == _LOG10:
        return math.log10(a) if a > 0 else np.nan
    if opcode == _ABS:
        return abs(a)
    if opcode == _SIGN:
        return float(np.sign(a))
    if opcode == _SIN:
        return math.sin(a)
    if opcode == _COS:
        return math.cos(a)
    if opcode == _TAN:
        return math.tan(a)
    if opcode == _ASIN:
        return math.asin(a) if abs(a) <= 1 else np.nan
    if opcode == _ACOS:
        return math.acos(a) if abs(a) <= 1 else np.nan
    if opcode == _ATAN:
        return math.atan(a)
    if opcode == _SINH:
        return float(np.sinh(a))
    if opcode == _COSH:
        return float(np.cosh(a))
    if opcode == _TANH:
        return math.tanh(a)
    return np.nan


@jit_inner
def absorbs_power(arena: Arena, opcodes: Opcodes, node: int) -> bool:
    """Return True where any power has the same form: `x^c` and `exp(c*x)`, whose free constant takes the exponent."""
    if arena[node].kind == POWER:
        exponent = end_of(arena, node + 1)
    elif arena[node].kind == FUNCTION and opcodes[arena[node].token] == _EXP:
        exponent = node + 1
    else:
        return False
    return arena[exponent].kind == FREE or (arena[exponent].kind == PRODUCT and np.isnan(arena[exponent].value))


@jit_inner
def add_factors(
    arena: Arena, opcodes: Opcodes, node: int, exponent: float, parts: Parts, m: int, factor: float, top: int
) -> tuple[int, float, int]:
    """Append node^exponent to the factors of a product; return their number, its factor and the top."""
    kind, value = arena[node].kind, arena[node].value
    is_free = kind == FREE or (kind == PRODUCT and np.isnan(value))
    if is_free and exponent % 2 == 0:  # an even power of a constant is not any number: it stays
        m = append(parts, m, exponent, top, top + 1)
        top = put(arena, top, FREE, ZERO, 0.0)
    elif is_free:
        factor = np.nan
    elif kind in (NUMBER, PRODUCT):
        factor *= value**exponent
    if kind == PRODUCT:
        first, m = m, append_all(arena, parts, m, exponent, node)
        for i in range(first, m):
            if absorbs_power(arena, opcodes, parts[i].first):
                parts[i].amount = 1.0
    elif kind not in (NUMBER, FREE):
        m = append(parts, m, 1.0 if absorbs_power(arena, opcodes, node) else exponent, node, end_of(arena, node))
    return m, factor, top


@jit_inner
def multiply(
    arena: Arena, opcodes: Opcodes, left: int, left_exponent: float, right: int, right_exponent: float,
    parts: Parts, top: int,
) -> tuple[int, int]:  # fmt: skip
    """Write left^p·right^q (right may be -1: none) at the top; return its bounds, or -1 on overflow."""
    if is_zero(arena, left) or is_zero(arena, right):
        return top, put(arena, top, NUMBER, ZERO, 0.0)
    m, factor, top = add_factors(arena, opcodes, left, left_exponent, parts, ZERO, 1.0, top)
    if right >= 0:
        m, factor, top = add_factors(arena, opcodes, right, right_exponent, parts, m, factor, top)
    if np.isinf(factor) or factor == 0.0:  # overflow or underflow
        return NONE, top
    m = merge(arena, parts, m, np.isnan(factor))
    for i in range(m):
        if not is_whole(parts[i].amount):
            return NONE, top
    if m == 0:
        return top, put_number(arena, top, factor)
    if m == 1 and parts[0].amount == 1.0:
        return scaled(arena, factor, parts[0].first, parts[0].last, top)
    start = top
    top = put(arena, top, PRODUCT, m, factor)
    for i in range(m):
        top = put(arena, top, PART, ONE, parts[i].amount)
        top = copy(arena, parts[i].first, parts[i].last, top)
    return start, top


@jit_inner
def unary(arena: Arena, opcodes: Opcodes, token: int, a: int, parts: Parts, top: int) -> tuple[int, int]:
    """Write f(a) at the top; return its bounds, or NONE where folding leaves the finite numbers."""
    opcode = opcodes[token]
    if opcode == _NEG:
        return multiply(arena, opcodes, top, 1.0, a, 1.0, parts, put(arena, top, NUMBER, ZERO, -1.0))
    if opcode == _INV:
        if is_zero(arena, a):
            return NONE, top
        return multiply(arena, opcodes, a, -1.0, NONE, 0.0, parts, top)
    if _POW2 <= opcode <= _POW5:
        return multiply(arena, opcodes, a, float(opcode - _POW2 + 2), NONE, 0.0, parts, top)
    if opcode != _CUSTOM:
        if arena[a].kind == NUMBER:
            folded = value_of(opcode, arena[a].value)
            if not np.isfinite(folded) or (opcode == _EXP and folded == 0.0):  # exp underflows
                return NONE, top
            return top, put(arena, top, NUMBER, ZERO, folded)
        if arena[a].kind == FREE and opcode in ONTO:
            return top, put(arena, top, FREE, ZERO, 0.0)
        if arena[a].kind == FUNCTION:
            inner = opcodes[arena[a].token]
            if (opcode == _EXP and inner == _LOG) or (opcode == _LOG and inner == _EXP):
                return top, copy(arena, a + 1, end_of(arena, a), top)
        if arena[a].kind == PRODUCT and arena[a].value < 0.0 and (opcode in EVEN or opcode in ODD):
            return signed(arena, token, a, opcode in ODD, top)
    return top, copy(arena, a, end_of(arena, a), put_token(arena, top, FUNCTION, token, ONE))


@jit_inner
def signed(arena: Arena, token: int, a: int, is_odd_function: bool, top: int) -> tuple[int, int]:
    """Write f(-b) as f(b) or -f(b), for an operand with a negative factor."""
    start = top
    if is_odd_function:
        top = put(arena, top, PRODUCT, ONE, -1.0)
        top = put(arena, top, PART, ONE, 1.0)
    top = put_token(arena, top, FUNCTION, token, ONE)
    end = end_of(arena, a)
    if arena[a].value == -1.0 and arena[a].operands == 1 and arena[a + 1].value == 1.0:
        return start, copy(arena, a + 2, end, top)
    operand = top
    top = copy(arena, a, end, top)
    arena[operand].value = -arena[a].value
    return start, top


@jit_inner
def power(arena: Arena, opcodes: Opcodes, a: int, b: int, parts: Parts, top: int) -> tuple[int, int]:
    """Write a^b at the top; return its bounds, or NONE where folding leaves the finite numbers."""
    if arena[b].kind == NUMBER:
        exponent = arena[b].value
        if exponent == 0.0:
            return top, put(arena, top, NUMBER, ZERO, 1.0)
        if is_whole(exponent):
            if is_zero(arena, a) and exponent < 0:
                return NONE, top
            return multiply(arena, opcodes, a, exponent, NONE, 0.0, parts, top)
        if arena[a].kind == NUMBER:
            folded = arena[a].value ** exponent if arena[a].value >= 0 else np.nan
            if not np.isfinite(folded) or (folded == 0.0 and arena[a].value != 0.0):
                return NONE, top
            return top, put(arena, top, NUMBER, ZERO, folded)
    if arena[a].kind == FREE and arena[b].kind == FREE:
        return top, put(arena, top, FREE, ZERO, 0.0)
    if arena[a].kind == NUMBER and arena[a].value == 1.0:
        return top, put(arena, top, NUMBER, ZERO, 1.0)
    end = copy(arena, a, end_of(arena, a), put(arena, top, POWER, TWO, 0.0))
    return top, copy(arena, b, end_of(arena, b), end)


@jit_inner
def binary(arena: Arena, opcodes: Opcodes, token: int, a: int, b: int, parts: Parts, top: int) -> tuple[int, int]:
    """Write the operator's result for operands a and b at the top; return its bounds, or NONE."""
    opcode = opcodes[token]
    if opcode in (_ADD, _SUB):
        return add_up(arena, a, b, 1.0 if opcode == _ADD else -1.0, parts, top)
    if opcode == _MUL:
        return multiply(arena, opcodes, a, 1.0, b, 1.0, parts, top)
    if opcode == _DIV:
        if is_zero(arena, b):
            return NONE, top
        return multiply(arena, opcodes, a, 1.0, b, -1.0, parts, top)
    if opcode == _POW:
        return power(arena, opcodes, a, b, parts, top)
    a_end, b_end = end_of(arena, a), end_of(arena, b)
    if opcode in (_MIN, _MAX):
        ranked = order(arena, a, a_end, b, b_end)
        both_free = arena[a].kind == FREE and arena[b].kind == FREE
        if ranked == 0 and (both_free or not holds_free(arena, a, a_end)):
            return top, copy(arena, a, a_end, top)
        if arena[a].kind == NUMBER and arena[b].kind == NUMBER:
            folded = min(arena[a].value, arena[b].value) if opcode == _MIN else max(arena[a].value, arena[b].value)
            return top, put(arena, top, NUMBER, ZERO, folded)
        if ranked > 0:
            a, a_end, b, b_end = b, b_end, a, a_end
    end = copy(arena, a, a_end, put_token(arena, top, FUNCTION, token, TWO))
    return top, copy(arena, b, b_end, end)


@jit_once(
    types.int64(
        *(types.CPointer(types.int16), types.int64, types.CPointer(types.float64), types.int64),
        *(types.CPointer(kind) for kind in (types.int8, types.int16, types.float64, types.boolean)),
        *(types.CPointer(from_dtype(ENTRY)), types.int64, types.CPointer(from_dtype(PART_OF))),
        types.CPointer(types.int64),
    )
)
def normal_form(
    tokens_at: Any, n_tokens: int, values_at: Any, n_values: int, arities_at: Any, opcodes_at: Any, literals_at: Any,
    has_slot_at: Any, arena_at: Any, room: int, parts_at: Any, stack_at: Any,
) -> int:  # fmt: skip
    """Bring one expression to normal form at the arena's bottom; return 0 where that is not possible, else 1.

    Pointers are to the arrays of the expression, of its library's symbols, and to the `room` of the arena.

    The operands of a node always lie at the top of the arena, the left one uppermost; its result is built above and
    moved down.
    """
    tokens, values = carray(tokens_at, (n_tokens,)), carray(values_at, (n_values,))
    arities, opcodes = carray(arities_at, (room,)), carray(opcodes_at, (room,))
    literals, has_slot = carray(literals_at, (room,)), carray(has_slot_at, (room,))
    arena, parts, stack = carray(arena_at, (room,)), carray(parts_at, (room,)), carray(stack_at, (room,))
    top, depth, slot = ZERO, ZERO, n_values
    for i in range(n_tokens - 1, -1, -1):
        token = int(tokens[i])
        if 2 * (top + 8) * 3 > room:
            return 0
        if arities[token] == 0:
            stack[depth] = top
            depth += 1
            if has_slot[token]:
                slot -= 1
                if np.isinf(values[slot]):
                    return 0
                top = put_number(arena, top, values[slot])
            elif opcodes[token] == _NUMBER:
                top = put(arena, top, NUMBER, ZERO, literals[token])
            else:
                top = put_token(arena, top, VARIABLE, token, ZERO)
            continue
        a = stack[depth - 1]
        depth -= arities[token]
        begin = stack[depth]  # the last operand lies lowest
        if arities[token] == 1:
            start, end = unary(arena, opcodes, token, a, parts, top)
        else:
            start, end = binary(arena, opcodes, token, a, begin, parts, top)
        if start == NONE:
            return 0
        top = copy(arena, start, end, begin)
        stack[depth] = begin
        depth += 1
    return 1
