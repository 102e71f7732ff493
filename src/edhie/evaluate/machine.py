"""The machine itself: instructions forwards and backwards over one block of rows.

It holds the code of all operators, so it is compiled once and called by address. Pointers are to
the arrays of a `Program`, and to rows of `columns` (`n_rows` long) and registers (`BLOCK` long).
"""

from __future__ import annotations

from typing import Any

from numba import carray

from edhie.evaluate.derivatives import pull_left, pull_right
from edhie.evaluate.operations import apply
from edhie.expr.jit import jit_inline, jit_once

BLOCK = 256  # rows: with some ten registers, what the nearest cache holds
MANY = 1 << 30  # a length that is not looked at
CODE = "CPointer(int16), CPointer(int32), CPointer(int32), CPointer(int32), int64, int64"
DATA = "CPointer(float64), int64, CPointer(float64)"


@jit_inline
def operand(place: int, columns: Any, registers: Any, start: int, stop: int) -> Any:
    """A column's rows, or a register's."""
    if place < 0:
        return columns[-1 - place, start:stop]
    return registers[place, : stop - start]


@jit_once(f"void({CODE}, {DATA}, int64, int64)")
def forwards(
    opcodes_at: Any, left_at: Any, right_at: Any, targets_at: Any, first: int, last: int,
    columns_at: Any, n_rows: int, registers_at: Any, start: int, stop: int,
) -> None:  # fmt: skip
    """Run instructions `first` to `last` on rows `start` to `stop`."""
    opcodes, targets = carray(opcodes_at, (last,)), carray(targets_at, (last,))
    left, right = carray(left_at, (last,)), carray(right_at, (last,))
    columns, registers = carray(columns_at, (MANY, n_rows)), carray(registers_at, (MANY, BLOCK))
    for i in range(first, last):
        a = operand(left[i], columns, registers, start, stop)
        b = operand(right[i], columns, registers, start, stop)
        apply(opcodes[i], a, b, registers[targets[i], : stop - start])


@jit_once(f"void({CODE}, int64, {DATA}, CPointer(float64), CPointer(boolean), int64, int64)")
def backwards(
    opcodes_at: Any, left_at: Any, right_at: Any, targets_at: Any, first: int, last: int, root: int,
    columns_at: Any, n_rows: int, registers_at: Any, gradients_at: Any, is_active_at: Any, start: int, stop: int,
) -> None:  # fmt: skip
    """After `forwards`: the gradient of the root by each active register, into the rows of the gradients.

    An expression is a tree: every register has one use, and its gradient is set once, never summed.
    """
    opcodes, targets = carray(opcodes_at, (last,)), carray(targets_at, (last,))
    left, right = carray(left_at, (last,)), carray(right_at, (last,))
    columns, registers = carray(columns_at, (MANY, n_rows)), carray(registers_at, (MANY, BLOCK))
    gradients, is_active = carray(gradients_at, (MANY, BLOCK)), carray(is_active_at, (MANY,))
    n = stop - start
    if root >= 0:
        gradients[root, :n] = 1.0
    for i in range(last - 1, first - 1, -1):
        target = targets[i]
        if not is_active[target]:
            continue
        a = operand(left[i], columns, registers, start, stop)
        b = operand(right[i], columns, registers, start, stop)
        value, back = registers[target, :n], gradients[target, :n]
        if left[i] >= 0 and is_active[left[i]]:
            pull_left(opcodes[i], a, b, value, back, gradients[left[i], :n])
        if right[i] >= 0 and right[i] != left[i] and is_active[right[i]]:
            pull_right(opcodes[i], a, b, value, back, gradients[right[i], :n])
