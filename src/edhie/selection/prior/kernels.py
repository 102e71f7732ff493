"""Code lengths of the structures of a forest: for each expression, one pass from the root down and one back up.

Sums and products are flattened on the way down: an operand of an addition inside of a sum belongs to that sum, and an
operand of a multiplication inside of a product to that product. The shape of a sum or product is coded on the way back,
when its operands are counted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.arrays import Indices, Numbers
from edhie.expr.jit import copy_to, jit, jit_inner

VARIABLE, CONSTANT, NUMBER, SUM, PRODUCT = 0, 1, 2, 3, 4  # classes; those of other operators follow
ADD, SUB, NEG, MUL, DIV, INV = -1, -2, -3, -4, -5, -6  # operators of sums and products
ROOT, TERM, ABOVE, BELOW, OPERANDS = 0, 1, 2, 3, 4  # contexts; those of operands follow, two for an operator

CONTEXT, OUTER, GROUP, HEAD, SIDE, SIGN, SKIPPED = 0, 1, 2, 3, 4, 5, 6  # columns of `state`, by node:
# its context and the context above it; whether it is an operand of a sum or a product (SUM or PRODUCT, else 0), and the
# node that heads it; 1 below a fraction line; 1 if negative; 1 for a factor of 1 or -1 and a term of 0
STATES = 7
CONSTANTS, NUMBERS, DIVISORS, FREE = 0, 1, 2, 3  # columns of `counted`, by head of a sum or product; FREE for positive
# terms or factors above the line, FREE + 1 for negative terms or factors below it
COUNTS = 5

REPEATED = 2.0  # bits of a variable that the same sum or product has already: people write x^2 or 2*x instead
REDUNDANT = 3.0  # bits of a constant or number beside another one, with which it could be merged
MORE = 1.0  # bits of each operand beyond the largest number of them in the tables


@jit
def structure_bits(
    tokens: NDArray[np.int16], kinds: Indices, left: Indices, right: Indices, offsets: Indices, values: Numbers,
    classes: Numbers, sums: Numbers, products: Numbers, signs: Numbers, variable_bits: float,
) -> Numbers:  # fmt: skip
    """Return the bits of each expression; `kinds` are classes or arithmetic codes, `values` NaN except for numbers."""
    found = np.zeros(len(offsets) - 1)
    longest = 0
    for k in range(len(found)):
        longest = max(longest, offsets[k + 1] - offsets[k])
    state = np.zeros((longest, STATES), np.int64)
    counted = np.zeros((longest, COUNTS), np.int64)
    for k in range(len(found)):
        start, end = offsets[k], offsets[k + 1]
        state[: end - start] = 0
        counted[: end - start] = 0
        bits = 0.0
        for i in range(end - start):
            if state[i, SKIPPED] == 1:
                continue
            kind = kinds[start + i]
            a, b = left[start + i] - start, right[start + i] - start  # negative where there is none
            if kind > ADD:
                bits += _plain(state, counted, i, a, b, kind, classes, signs)
                if kind == VARIABLE:
                    bits += REPEATED if _is_repeated(state, i, tokens[start:end]) else variable_bits
            elif not _is_transparent(state, i, a, b, kind, values[start:end]):
                bits += _arithmetic(state, i, a, b, kind, values[start:end], classes)
        for i in range(end - start - 1, -1, -1):  # operands before what they belong to
            operands = 0
            for j in range(COUNTS):
                operands += counted[i, j]
            if operands > 0:
                bits += _shape(state, counted, i, kinds[start + i], sums, products, signs)
        found[k] = bits
    return found


@jit_inner
def _plain(
    state: Indices, counted: Indices, i: int, a: int, b: int, kind: int, classes: Numbers, signs: Numbers
) -> float:
    """Return the bits of a node that is no operator of a sum or product; set the contexts of its operands."""
    group, head = state[i, GROUP], state[i, HEAD]
    is_fixed = kind in (CONSTANT, NUMBER)
    if group != 0 and is_fixed:  # part of the shape
        divides = state[i, SIDE] if group == PRODUCT and kind == NUMBER else 0
        counted[head, kind - CONSTANT + divides] += 1
        return 0.0
    bits = classes[state[i, CONTEXT], state[i, OUTER], kind]
    if group != 0:
        counted[head, FREE + state[i, SIGN if group == SUM else SIDE]] += 1
    elif not is_fixed:
        bits += signs[state[i, CONTEXT], state[i, SIGN]]
    for place, child in enumerate((a, b)):
        if child >= 0:
            state[child, CONTEXT] = OPERANDS + 2 * (kind - PRODUCT - 1) + place
            state[child, OUTER] = state[i, CONTEXT]
    return float(bits)


@jit_inner
def _is_repeated(state: Indices, i: int, tokens: NDArray[np.int16]) -> bool:
    """Return whether a variable is an operand of its sum or product for the second time."""
    if state[i, GROUP] == 0:
        return False
    for j in range(state[i, HEAD] + 1, i):
        if tokens[j] == tokens[i] and state[j, GROUP] == state[i, GROUP] and state[j, HEAD] == state[i, HEAD]:
            return True
    return False


@jit_inner
def _arithmetic(state: Indices, i: int, a: int, b: int, kind: int, values: Numbers, classes: Numbers) -> float:
    """Return the bits of an arithmetic operator, if it begins a sum or product; assign its operands to that."""
    group = SUM if kind in (ADD, SUB) else PRODUCT
    begins = state[i, GROUP] != group
    bits = classes[state[i, CONTEXT], state[i, OUTER], group] if begins else 0.0
    head = i if begins else state[i, HEAD]
    for place, child in enumerate((a, b)):
        if child < 0:
            continue
        state[child, GROUP] = group
        state[child, HEAD] = head
        state[child, OUTER] = state[head, CONTEXT]
        if group == SUM:
            state[child, CONTEXT] = TERM
            state[child, SIGN] = state[i, SIGN] ^ (kind == SUB and place == 1)
        else:
            side = (0 if begins else state[i, SIDE]) ^ (kind == INV or (kind == DIV and place == 1))
            state[child, SIDE] = side
            state[child, CONTEXT] = BELOW if side == 1 else ABOVE
            if kind == DIV and place == 0 and abs(values[child]) == 1.0:  # 1/x
                state[child, SKIPPED] = 1
                state[head, SIGN] ^= values[child] < 0
    if begins and group == SUM:
        state[i, SIGN] = 0  # its terms have the sign
    return float(bits)


@jit_inner
def _is_transparent(state: Indices, i: int, a: int, b: int, kind: int, values: Numbers) -> bool:
    """Return whether a node equals one of its operands up to the sign: -x, (-1)*x, x/(-1), x + 0 and 0 - x."""
    kept, other, flips = a, b, False
    if kind == NEG:
        other, flips = -1, True
    elif kind in (ADD, SUB) and values[a] == 0.0:
        kept, other, flips = b, a, kind == SUB
    elif kind in (ADD, SUB) and values[b] == 0.0:
        pass
    elif kind == MUL and abs(values[a]) == 1.0:
        kept, other, flips = b, a, values[a] < 0
    elif kind in (MUL, DIV) and abs(values[b]) == 1.0:
        flips = values[b] < 0
    else:
        return False
    if other >= 0:
        state[other, SKIPPED] = 1
    copy_to(state[kept], state[i])
    if flips and state[i, GROUP] == PRODUCT:
        state[state[i, HEAD], SIGN] ^= 1
    elif flips:
        state[kept, SIGN] ^= 1
    return True


@jit_inner
def _shape(
    state: Indices, counted: Indices, i: int, kind: int, sums: Numbers, products: Numbers, signs: Numbers
) -> float:
    """Return the bits of the shape of the sum or product that begins at a node; count it as an operand of its head."""
    is_sum = kind in (ADD, SUB)
    table = sums if is_sum else products
    constants, numbers, divisors = counted[i, CONSTANTS], counted[i, NUMBERS], counted[i, DIVISORS]
    first, second = min(counted[i, FREE], table.shape[2] - 1), min(counted[i, FREE + 1], table.shape[3] - 1)
    fixed = 1 if constants > 0 else 2 * min(numbers, 1) + (3 if numbers == 0 else 2) * min(divisors, 1)
    merged = 1 if constants > 0 else min(numbers, 1) + min(divisors, 1)
    bits = table[state[i, CONTEXT], fixed, first, second]
    bits += REDUNDANT * (constants + numbers + divisors - merged)
    bits += MORE * (counted[i, FREE] - first + counted[i, FREE + 1] - second)
    sign = 0 if constants > 0 else state[i, SIGN]  # a constant takes any sign
    if state[i, GROUP] != 0:
        counted[state[i, HEAD], FREE + (sign if state[i, GROUP] == SUM else state[i, SIDE])] += 1
    elif not is_sum and constants == 0:
        bits += signs[state[i, CONTEXT], sign]
    return float(bits)
