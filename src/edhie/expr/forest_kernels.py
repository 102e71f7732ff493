"""Compiled loops over the flat arrays of a Forest.

All take `tokens` in prefix order and `offsets`, where expression k is
`tokens[offsets[k]:offsets[k + 1]]`; node indices are global, -1 stands for none.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.expr.jit import copy_to, jit
from edhie.expr.symbols import Opcode

Tokens = NDArray[np.int16]
Indices = NDArray[np.int64]
Small = NDArray[np.int32]


@jit
def first_broken(tokens: Tokens, offsets: Indices, arities: NDArray[np.int8]) -> int:
    """Return the first expression whose tokens are not exactly one whole tree, or -1."""
    for k in range(len(offsets) - 1):
        missing = 1
        for i in range(offsets[k], offsets[k + 1]):
            if missing == 0:
                return k
            missing += arities[tokens[i]] - 1
        if missing != 0:
            return k
    return -1


@jit
def children(tokens: Tokens, offsets: Indices, arities: NDArray[np.int8]) -> tuple[Indices, Indices, Small, Small]:
    """Return left and right child, subtree size and subtree height of every node."""
    n = len(tokens)
    left, right = np.empty(n, np.int64), np.empty(n, np.int64)
    size, height = np.empty(n, np.int32), np.empty(n, np.int32)
    for i in range(n - 1, -1, -1):  # children stand behind their parent
        left[i] = right[i] = -1
        size[i] = height[i] = 1
        arity = arities[tokens[i]]
        if arity >= 1:
            a = i + 1
            left[i] = a
            size[i] += size[a]
            height[i] = height[a] + 1
        if arity == 2:
            b = i + 1 + size[i + 1]
            right[i] = b
            size[i] += size[b]
            height[i] = max(height[i], height[b] + 1)
    return left, right, size, height


@jit
def gather(
    tokens: Tokens, offsets: Indices, values: NDArray[np.float64], slots: Indices, chosen: Indices
) -> tuple[Tokens, Indices, NDArray[np.float64]]:
    """Return tokens, offsets and values of the chosen expressions, in that order."""
    new_offsets = np.zeros(len(chosen) + 1, np.int64)
    total_values = 0
    for j in range(len(chosen)):
        k = chosen[j]
        new_offsets[j + 1] = new_offsets[j] + offsets[k + 1] - offsets[k]
        total_values += slots[k + 1] - slots[k]
    new_tokens = np.empty(new_offsets[-1], tokens.dtype)
    new_values = np.empty(total_values, np.float64)
    at = 0
    for j in range(len(chosen)):
        k = chosen[j]
        copy_to(new_tokens[new_offsets[j] :], tokens[offsets[k] : offsets[k + 1]])
        count = slots[k + 1] - slots[k]
        copy_to(new_values[at:], values[slots[k] : slots[k + 1]])
        at += count
    return new_tokens, new_offsets, new_values


@jit
def same(tokens: Tokens, offsets: Indices, bits: Indices, slots: Indices, a: int, b: int) -> bool:
    """Return True where expressions a and b have the same tokens and the same values, bit by bit."""
    n = offsets[a + 1] - offsets[a]
    m = slots[a + 1] - slots[a]
    if offsets[b + 1] - offsets[b] != n or slots[b + 1] - slots[b] != m:
        return False
    for i in range(n):
        if tokens[offsets[a] + i] != tokens[offsets[b] + i]:
            return False
    for i in range(m):  # noqa: SIM110 -- compiled code
        if bits[slots[a] + i] != bits[slots[b] + i]:
            return False
    return True


@jit
def hashes(tokens: Tokens, offsets: Indices, bits: Indices, slots: Indices) -> NDArray[np.uint64]:
    """Return a 64-bit FNV-style hash of each expression's tokens and values."""
    out = np.empty(len(offsets) - 1, np.uint64)
    prime = np.uint64(0x100000001B3)
    shift = np.uint64(29)
    for k in range(len(out)):
        h = np.uint64(0xCBF29CE484222325)
        for i in range(offsets[k], offsets[k + 1]):
            h = (h ^ np.uint64(tokens[i] + 1)) * prime
        for i in range(slots[k], slots[k + 1]):
            h = (h ^ np.uint64(bits[i])) * prime
            h ^= h >> shift
        h ^= h >> np.uint64(32)
        h *= np.uint64(0xD6E8FEB86659FD93)
        out[k] = h ^ (h >> shift)
    return out


@jit
def group(tokens: Tokens, offsets: Indices, bits: Indices, slots: Indices) -> tuple[Indices, Indices]:
    """Return the index of the first of each distinct expression, and each expression's place among them.

    An open-addressing table of hashes; equal hashes are confirmed token by token, so the answer is exact.
    """
    n = len(offsets) - 1
    keys = hashes(tokens, offsets, bits, slots)
    capacity = 16
    while capacity < 2 * n:
        capacity *= 2
    mask = np.uint64(capacity - 1)
    table = np.empty(capacity, np.int64)
    table[:] = -1
    first = np.empty(n, np.int64)
    inverse = np.empty(n, np.int64)
    count = 0
    for k in range(n):
        at = keys[k] & mask
        while True:
            found = table[at]
            if found < 0:
                table[at] = count
                first[count] = k
                inverse[k] = count
                count += 1
                break
            other = first[found]
            if keys[other] == keys[k] and same(tokens, offsets, bits, slots, other, k):
                inverse[k] = found
                break
            at = (at + np.uint64(1)) & mask
    return first[:count].copy(), inverse


@jit
def variables_of_linear(tokens: Tokens, opcodes: Tokens, left: Indices, right: Indices) -> Indices:
    """Return the variable of each node that is a*x + b with constants; -1 for constants, and for any other node."""
    other = -2
    found = np.empty(len(tokens), np.int64)
    for k in range(len(tokens) - 1, -1, -1):  # operands before operators
        opcode = opcodes[k]
        if left[k] < 0:
            found[k] = tokens[k] if opcode == Opcode.VARIABLE else -1
            continue
        a, b = found[left[k]], -1 if right[k] < 0 else found[right[k]]
        found[k] = other
        if opcode == Opcode.NEG:
            found[k] = a
        elif opcode == Opcode.ADD or opcode == Opcode.SUB:
            if a != other and b != other and (a == b or a == -1 or b == -1):
                found[k] = max(a, b)
        elif opcode == Opcode.MUL or opcode == Opcode.DIV:
            if b == -1 and a != other:
                found[k] = a
            elif a == -1 and opcode == Opcode.MUL:
                found[k] = b
    return found
