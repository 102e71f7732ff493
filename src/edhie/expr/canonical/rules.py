"""From prefix tokens to the normal form: the rule of each operator."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from edhie.expr.canonical.arena import (
    FREE,
    FUNCTION,
    NONE,
    NUMBER,
    ONE,
    PART,
    POWER,
    PRODUCT,
    VARIABLE,
    ZERO,
    Arities,
    Floats,
    Ints,
    copy,
    end_of,
    holds_free,
    is_whole,
    is_zero,
    order,
    put,
)
from edhie.expr.canonical.products import multiply
from edhie.expr.canonical.sums import add_up
from edhie.expr.jit import jit
from edhie.expr.symbols import FUNCTIONS, Opcode

# numba takes enum members for objects; plain integers compile to constants
_VARIABLE, _CONSTANT, _NUMBER, _CUSTOM = (int(Opcode[n]) for n in ("VARIABLE", "CONSTANT", "NUMBER", "CUSTOM"))
_ADD, _SUB, _MUL, _DIV, _POW = (int(Opcode[n]) for n in ("ADD", "SUB", "MUL", "DIV", "POW"))
_NEG, _INV, _POW2, _POW5 = (int(Opcode[n]) for n in ("NEG", "INV", "POW2", "POW5"))
_SQRT, _CBRT, _EXP, _LOG, _LOG10 = (int(Opcode[n]) for n in ("SQRT", "CBRT", "EXP", "LOG", "LOG10"))
_ABS, _SIGN, _MIN, _MAX = (int(Opcode[n]) for n in ("ABS", "SIGN", "MIN", "MAX"))
_SIN, _COS, _TAN = (int(Opcode[n]) for n in ("SIN", "COS", "TAN"))
_ASIN, _ACOS, _ATAN = (int(Opcode[n]) for n in ("ASIN", "ACOS", "ATAN"))
_SINH, _COSH, _TANH = (int(Opcode[n]) for n in ("SINH", "COSH", "TANH"))


@jit
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


EVEN = tuple(int(symbol.opcode) for symbol in FUNCTIONS.values() if symbol.parity == "even")  # f(-a) = f(a)
ODD = tuple(int(symbol.opcode) for symbol in FUNCTIONS.values() if symbol.parity == "odd")  # f(-a) = -f(a)
ONTO = tuple(int(symbol.opcode) for symbol in FUNCTIONS.values() if symbol.is_onto)  # f(c), for a free c, is any number


@jit
def unary(
    kind: Ints, count: Ints, value: Floats, arities: Arities, opcodes: NDArray[np.int16], token: int, a: int,
    amount: Floats, first: Ints, last: Ints, top: int,
) -> tuple[int, int]:  # fmt: skip
    """Write f(a) at the top; its bounds, or NONE where folding leaves the finite numbers."""
    opcode = opcodes[token]
    if opcode == _NEG:
        minus = top
        top = put(kind, count, value, top, NUMBER, ZERO, -1.0)
        return multiply(kind, count, value, arities, minus, 1.0, a, 1.0, amount, first, last, top)
    if opcode == _INV:
        if is_zero(kind, value, a):
            return NONE, top
        return multiply(kind, count, value, arities, a, -1.0, NONE, 0.0, amount, first, last, top)
    if _POW2 <= opcode <= _POW5:
        exponent = float(opcode - _POW2 + 2)
        return multiply(kind, count, value, arities, a, exponent, NONE, 0.0, amount, first, last, top)
    start = top
    if opcode != _CUSTOM:
        if kind[a] == NUMBER:
            folded = value_of(opcode, value[a])
            if not np.isfinite(folded) or (opcode == _EXP and folded == 0.0):  # exp underflows
                return NONE, top
            return start, put(kind, count, value, top, NUMBER, ZERO, folded)
        if kind[a] == FREE and opcode in ONTO:
            return start, put(kind, count, value, top, FREE, ZERO, 0.0)
        if kind[a] == FUNCTION:
            inner = opcodes[count[a]]
            if (opcode == _EXP and inner == _LOG) or (opcode == _LOG and inner == _EXP):
                return start, copy(kind, count, value, a + 1, end_of(kind, count, arities, a), top)
        if kind[a] == PRODUCT and value[a] < 0.0 and (opcode in EVEN or opcode in ODD):
            return signed(kind, count, value, arities, token, a, opcode in ODD, top)
    top = put(kind, count, value, top, FUNCTION, token, 0.0)
    return start, copy(kind, count, value, a, end_of(kind, count, arities, a), top)


@jit
def signed(
    kind: Ints, count: Ints, value: Floats, arities: Arities, token: int, a: int, is_odd_function: bool, top: int
) -> tuple[int, int]:
    """Write f(-b) as f(b) or -f(b), for an operand with a negative factor."""
    start = top
    if is_odd_function:
        top = put(kind, count, value, top, PRODUCT, ONE, -1.0)
        top = put(kind, count, value, top, PART, ZERO, 1.0)
    top = put(kind, count, value, top, FUNCTION, token, 0.0)
    end = end_of(kind, count, arities, a)
    if value[a] == -1.0 and count[a] == 1 and value[a + 1] == 1.0:
        return start, copy(kind, count, value, a + 2, end, top)
    operand = top
    top = copy(kind, count, value, a, end, top)
    value[operand] = -value[a]
    return start, top


@jit
def power(
    kind: Ints, count: Ints, value: Floats, arities: Arities, a: int, b: int,
    amount: Floats, first: Ints, last: Ints, top: int,
) -> tuple[int, int]:  # fmt: skip
    """Write a^b at the top."""
    start = top
    if kind[b] == NUMBER:
        exponent = value[b]
        if exponent == 0.0:
            return start, put(kind, count, value, top, NUMBER, ZERO, 1.0)
        if is_whole(exponent):
            if is_zero(kind, value, a) and exponent < 0:
                return NONE, top
            return multiply(kind, count, value, arities, a, exponent, NONE, 0.0, amount, first, last, top)
        if kind[a] == NUMBER:
            folded = value[a] ** exponent if value[a] >= 0 else np.nan
            if not np.isfinite(folded) or (folded == 0.0 and value[a] != 0.0):
                return NONE, top
            return start, put(kind, count, value, top, NUMBER, ZERO, folded)
    if kind[a] == FREE and kind[b] == FREE:
        return start, put(kind, count, value, top, FREE, ZERO, 0.0)
    if kind[a] == NUMBER and value[a] == 1.0:
        return start, put(kind, count, value, top, NUMBER, ZERO, 1.0)
    top = put(kind, count, value, top, POWER, ZERO, 0.0)
    top = copy(kind, count, value, a, end_of(kind, count, arities, a), top)
    return start, copy(kind, count, value, b, end_of(kind, count, arities, b), top)


@jit
def binary(
    kind: Ints, count: Ints, value: Floats, arities: Arities, opcodes: NDArray[np.int16], token: int, a: int, b: int,
    amount: Floats, first: Ints, last: Ints, top: int,
) -> tuple[int, int]:  # fmt: skip
    """Write the operator's result for operands a and b at the top."""
    opcode = opcodes[token]
    if opcode == _ADD:
        return add_up(kind, count, value, arities, a, b, 1.0, amount, first, last, top)
    if opcode == _SUB:
        return add_up(kind, count, value, arities, a, b, -1.0, amount, first, last, top)
    if opcode == _MUL:
        return multiply(kind, count, value, arities, a, 1.0, b, 1.0, amount, first, last, top)
    if opcode == _DIV:
        if is_zero(kind, value, b):
            return NONE, top
        return multiply(kind, count, value, arities, a, 1.0, b, -1.0, amount, first, last, top)
    if opcode == _POW:
        return power(kind, count, value, arities, a, b, amount, first, last, top)
    start = top
    a_end, b_end = end_of(kind, count, arities, a), end_of(kind, count, arities, b)
    if opcode in (_MIN, _MAX):
        ranked = order(kind, count, value, a, a_end, b, b_end)
        both_free = kind[a] == FREE and kind[b] == FREE
        if ranked == 0 and (both_free or not holds_free(kind, value, a, a_end)):
            return start, copy(kind, count, value, a, a_end, top)
        if kind[a] == NUMBER and kind[b] == NUMBER:
            folded = min(value[a], value[b]) if opcode == _MIN else max(value[a], value[b])
            return start, put(kind, count, value, top, NUMBER, ZERO, folded)
        if ranked > 0:
            a, a_end, b, b_end = b, b_end, a, a_end
    top = put(kind, count, value, top, FUNCTION, token, 0.0)
    top = copy(kind, count, value, a, a_end, top)
    return start, copy(kind, count, value, b, b_end, top)


@jit
def normal_form(
    tokens: NDArray[np.int16], values: Floats, slot: int,
    arities: Arities, opcodes: NDArray[np.int16], literals: Floats, has_slot: NDArray[np.bool_],
    kind: Ints, count: Ints, value: Floats, stack: Ints, amount: Floats, first: Ints, last: Ints,
) -> bool:  # fmt: skip
    """Bring one expression to normal form at the arena's bottom; False where that is not possible.

    `slot` is where the expression's values end. The operands of a node always lie at the
    top of the arena, the left one uppermost; its result is built above and moved down.
    """
    top, depth = ZERO, ZERO
    for i in range(len(tokens) - 1, -1, -1):
        token = int(tokens[i])
        if 2 * (top + 8) * 3 > len(kind):
            return False
        if arities[token] == 0:
            stack[depth] = top
            depth += 1
            opcode = opcodes[token]
            if has_slot[token]:
                slot -= 1
                known = values[slot]
                if np.isinf(known):
                    return False
                top = put(kind, count, value, top, FREE if np.isnan(known) else NUMBER, ZERO, 0.0)
                if not np.isnan(known):
                    value[top - 1] = known
            elif opcode == _NUMBER:
                top = put(kind, count, value, top, NUMBER, ZERO, literals[token])
            else:
                top = put(kind, count, value, top, VARIABLE, token, 0.0)
            continue
        a = stack[depth - 1]
        if arities[token] == 1:
            depth -= 1
            begin = a
            start, end = unary(kind, count, value, arities, opcodes, token, a, amount, first, last, top)
        else:
            b = stack[depth - 2]
            depth -= 2
            begin = b
            start, end = binary(kind, count, value, arities, opcodes, token, a, b, amount, first, last, top)
        if start == NONE:
            return False
        top = copy(kind, count, value, start, end, begin)
        stack[depth] = begin
        depth += 1
    return True
