"""Compiled: the translation of a forest's tokens into instructions over registers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.expr.jit import jit

Numbers = NDArray[np.float64]
Indices = NDArray[np.int64]
Operands = NDArray[np.int32]
Flags = NDArray[np.bool_]


@jit
def instructions(
    tokens: NDArray[np.int16],
    offsets: Indices,
    values: Numbers,
    slots: Indices,
    arities: NDArray[np.int8],
    opcodes: NDArray[np.int16],
    literals: Numbers,
    has_slot: Flags,
    is_constant: Flags,
    columns: Indices,
    keep: bool,
) -> tuple[
    Indices, Indices, NDArray[np.int16], Operands, Operands, Operands, Operands, Indices, Numbers, Flags, int, int
]:
    """Return the fields of a `Program`, in their order."""
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
    longest = 0
    for k in range(n):
        longest = max(longest, offsets[k + 1] - offsets[k])
    stack, unused = np.empty(longest + 1, np.int32), np.empty(longest + 2, np.int32)
    most = 1
    for k in range(n):
        n_leaves = leaf_starts[k + 1] - leaf_starts[k]
        at, leaf, slot = starts[k], n_leaves, slots[k + 1]
        fresh, n_unused, top = n_leaves, 0, 0
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
                if n_unused > 0:
                    n_unused -= 1
                    target = unused[n_unused]
                else:
                    target = np.int32(fresh)
                    fresh += 1
                ops[at], left[at], right[at], targets[at] = opcodes[token], a, b, target
                at += 1
                if not keep:  # after the result has its register: it may not be an operand's
                    if a >= n_leaves:
                        unused[n_unused] = a
                        n_unused += 1
                    if b >= n_leaves and b != a:
                        unused[n_unused] = b
                        n_unused += 1
                stack[top] = target
                top += 1
        roots[k] = stack[0]
        most = max(most, fresh)
    groups = np.arange(n + 1)
    return starts, groups, ops, left, right, targets, roots, leaf_starts, leaf_values, is_free, 0, most
