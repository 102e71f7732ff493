"""Compiled: the translation of a forest's tokens into instructions over registers.

`instructions` plans each expression by itself. `shared_instructions` plans groups of expressions in which equal
subtrees are computed once: every column, every distinct leaf and every distinct operator over distinct operands of a
group is a value with a number, which gets a register when it is computed and gives it back after its last use.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.arrays import Flags, Indices, Numbers
from edhie.evaluate.machine.elementary.bits import bits
from edhie.evaluate.machine.operators import ADD, MUL
from edhie.expr.jit import jit, jit_inner

Operands = NDArray[np.int32]
ProgramFields = tuple[
    Indices, Indices, NDArray[np.int16], Operands, Operands, Operands, Operands, Indices, Numbers, Flags, int, int
]
"""The fields of a `Program`, in their order."""
MOST_VALUES = 1 << 21  # of a group: the bits that a key has for an operand
NONE = -1
NEVER = 1 << 60  # later than any use


@jit
def instructions(
    tokens: NDArray[np.int16], offsets: Indices, values: Numbers, slots: Indices,
    arities: NDArray[np.int8], opcodes: NDArray[np.int16], literals: Numbers, has_slot: Flags,
    is_constant: Flags, columns: Indices,
) -> ProgramFields:  # fmt: skip
    """Plan each expression by itself; no register is used twice."""
    n = len(offsets) - 1
    starts, leaf_starts = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    for k in range(n):
        inner = leaves = 0
        for i in range(offsets[k], offsets[k + 1]):
            inner += arities[tokens[i]] > 0
            leaves += arities[tokens[i]] == 0 and columns[tokens[i]] < 0
        starts[k + 1], leaf_starts[k + 1] = starts[k] + inner, leaf_starts[k] + leaves
    ops = np.empty(starts[n], np.int16)
    left, right, targets = np.empty(starts[n], np.int32), np.empty(starts[n], np.int32), np.empty(starts[n], np.int32)
    roots = np.empty(n, np.int32)
    leaf_values, is_free = np.empty(leaf_starts[n]), np.zeros(leaf_starts[n], np.bool_)
    most = 1
    for k in range(n):
        most = max(most, offsets[k + 1] - offsets[k])
    stack = np.empty(most, np.int32)
    for k in range(n):
        n_leaves = leaf_starts[k + 1] - leaf_starts[k]
        at, leaf, slot = starts[k], n_leaves, slots[k + 1]
        target, top = np.int32(n_leaves), 0
        for i in range(offsets[k + 1] - 1, offsets[k] - 1, -1):  # from the right, operands come before operators
            token = tokens[i]
            if columns[token] >= 0:
                stack[top] = -1 - columns[token]
                top += 1
            elif arities[token] == 0:
                leaf -= 1
                if has_slot[token]:
                    slot -= 1
                    leaf_values[leaf_starts[k] + leaf] = values[slot]
                else:
                    leaf_values[leaf_starts[k] + leaf] = literals[token]
                is_free[leaf_starts[k] + leaf] = is_constant[token]
                stack[top] = leaf
                top += 1
            else:
                top -= 1
                a = stack[top]
                b = a  # an operator of one operand has it twice: kernels need not ask
                if arities[token] == 2:
                    top -= 1
                    b = stack[top]
                ops[at], left[at], right[at], targets[at] = opcodes[token], a, b, target
                stack[top] = target
                at += 1
                target += np.int32(1)
                top += 1
        roots[k] = stack[0]
    return starts, np.arange(n + 1), ops, left, right, targets, roots, leaf_starts, leaf_values, is_free, 0, most


@jit
def shared_instructions(
    tokens: NDArray[np.int16], offsets: Indices, values: Numbers, slots: Indices,
    arities: NDArray[np.int8], opcodes: NDArray[np.int16], literals: Numbers, has_slot: Flags,
    columns: Indices, n_columns: int, groups: Indices,
) -> ProgramFields:  # fmt: skip
    """Plan groups of expressions, each subtree of a group once; no constant is to be fitted."""
    n, n_tokens = len(offsets) - 1, len(tokens)
    starts, roots = np.zeros(n + 1, np.int64), np.empty(n, np.int32)
    ops, targets = np.empty(n_tokens, np.int16), np.empty(n_tokens, np.int32)
    left, right = np.empty(n_tokens, np.int32), np.empty(n_tokens, np.int32)
    leaf_starts, leaf_values = np.zeros(len(groups), np.int64), np.empty(n_tokens)
    largest = n_columns + 1
    for g in range(len(groups) - 1):
        largest = max(largest, n_columns + offsets[groups[g + 1]] - offsets[groups[g]])
    room = 16
    while room < 2 * largest:
        room *= 2
    table = np.empty(room, np.int32)
    keys = np.empty(len(table), np.int64)
    last_use, registers = np.empty(largest, np.int64), np.empty(largest, np.int32)
    stack = np.empty(largest + 1, np.int32)
    last_use[:n_columns] = NEVER
    at, most = 0, 1
    for g in range(len(groups) - 1):
        table[:] = NONE
        leaf, n_values, time = leaf_starts[g], n_columns, 0
        for k in range(groups[g], groups[g + 1]):
            slot, top = slots[k + 1], 0
            for i in range(offsets[k + 1] - 1, offsets[k] - 1, -1):  # from the right: operands before operators
                token = tokens[i]
                if columns[token] >= 0:
                    stack[top] = columns[token]
                    top += 1
                    continue
                arity = arities[token]
                if arity == 0:
                    number = literals[token]
                    if has_slot[token]:
                        slot -= 1
                        number = values[slot]
                    key = ~bits(number)  # which no operator has for its key
                    place = place_of(table, keys, key)
                    if table[place] == NONE:
                        table[place], keys[place] = n_values, key
                        last_use[n_values], registers[n_values] = NEVER, leaf - leaf_starts[g]
                        leaf_values[leaf] = number
                        leaf += 1
                        n_values += 1
                else:
                    top -= arity
                    a, b = stack[top + arity - 1], stack[top]
                    opcode = int(opcodes[token])
                    if ((opcode == ADD) | (opcode == MUL)) & (b < a):
                        a, b = b, a
                    key = (opcode << 42) | (int(a) << 21) | int(b)
                    place = place_of(table, keys, key)
                    if table[place] == NONE:
                        table[place], keys[place] = n_values, key
                        ops[at], left[at], right[at], targets[at] = opcodes[token], a, b, n_values
                        last_use[a] = max(last_use[a], time)  # that of columns and leaves stays NEVER
                        last_use[b] = max(last_use[b], time)
                        last_use[n_values] = time
                        n_values += 1
                        at += 1
                        time += 1
                stack[top] = table[place]
                top += 1
            roots[k] = stack[0]
            last_use[roots[k]] = max(last_use[roots[k]], time)
            time += 1
            starts[k + 1] = at
        leaf_starts[g + 1] = leaf
        n_leaves = leaf - leaf_starts[g]
        for j in range(n_columns):
            registers[j] = n_leaves + j
        needed = assign_registers(
            starts, left, right, targets, roots, groups[g], groups[g + 1], n_leaves + n_columns, last_use, registers,
            stack,
        )  # fmt: skip
        most = max(most, needed)
    leaf_values, is_free = leaf_values[: leaf_starts[-1]], np.zeros(leaf_starts[-1], np.bool_)
    ops, left, right, targets = ops[:at], left[:at], right[:at], targets[:at]
    return starts, groups, ops, left, right, targets, roots, leaf_starts, leaf_values, is_free, n_columns, most


@jit_inner
def assign_registers(
    starts: Indices, left: Operands, right: Operands, targets: Operands, roots: Operands, from_: int, to: int,
    fresh: int, last_use: Indices, registers: Operands, unused: Operands,
) -> int:  # fmt: skip
    """Replace the numbers of values by registers, from `fresh` on; return the number of registers.

    The register of a result is never one of its operands'. The time counts instructions and ends of
    expressions, where roots are used.
    """
    n_unused = time = 0
    for k in range(from_, to):
        for i in range(starts[k], starts[k + 1]):
            a, b, target = left[i], right[i], targets[i]
            if n_unused > 0:
                n_unused -= 1
                registers[target] = unused[n_unused]
            else:
                registers[target] = fresh
                fresh += 1
            targets[i], left[i], right[i] = registers[target], registers[a], registers[b]
            if last_use[a] == time:
                unused[n_unused] = registers[a]
                n_unused += 1
            if (last_use[b] == time) & (b != a):
                unused[n_unused] = registers[b]
                n_unused += 1
            time += 1
        value = roots[k]
        roots[k] = registers[value]
        if last_use[value] == time:
            unused[n_unused] = registers[value]
            n_unused += 1
        time += 1
    return fresh


@jit_inner
def place_of(table: Operands, keys: Indices, key: int) -> int:
    """Return the place of a value in the table, or the place where it belongs."""
    mask = len(table) - 1
    place = int((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & mask
    while table[place] != NONE and keys[place] != key:
        place = (place + 1) & mask
    return place


@jit
def group_starts(
    tokens: NDArray[np.int16], offsets: Indices, is_leaf: Flags, most_expressions: int, most_leaves: int
) -> Indices:
    """Return the starts of groups of neighbouring expressions, and the end; none is larger than asked, if possible."""
    n = len(offsets) - 1
    starts, count, n_leaves = np.zeros(n + 1, np.int64), 0, 0
    for k in range(n):
        own_leaves = 0
        for i in range(offsets[k], offsets[k + 1]):
            own_leaves += is_leaf[tokens[i]]
        n_leaves += own_leaves
        is_long = offsets[k + 1] - offsets[starts[count]] > MOST_VALUES // 2
        if k > starts[count] and (k - starts[count] >= most_expressions or n_leaves > most_leaves or is_long):
            count += 1
            starts[count] = k
            n_leaves = own_leaves
    starts[count + (n > 0)] = n
    return starts[: count + (n > 0) + 1]
