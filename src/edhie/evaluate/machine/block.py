"""Compiled: the machine that runs instructions forwards and backwards over one block of rows.

It holds the code of all operators, so it is compiled once and called by address. Pointers are to
the arrays of a `Program`, and to rows of `columns` (`n_rows` long) and registers (`BLOCK` long).
"""

from __future__ import annotations

from typing import Any

from numba import carray

from edhie.evaluate.machine.operators import apply, left_gradient, right_gradient
from edhie.evaluate.machine.sums import squared_distance
from edhie.expr.jit import jit_inline, jit_once

BLOCK = 512  # rows: long enough for little dispatch, short enough for registers to stay in the caches
MANY = 1 << 30  # a length that is not looked at
CODE = "CPointer(int64), CPointer(int16), CPointer(int32), CPointer(int32), CPointer(int32), CPointer(int32)"
DATA = "CPointer(float64), int64, CPointer(float64)"
TARGET = "CPointer(float64), CPointer(float64), int64, CPointer(float64), int64"


@jit_inline
def operand(place: int, columns: Any, registers: Any, start: int, stop: int) -> Any:
    """Return a column's rows, or a register's."""
    if place < 0:
        return columns[-1 - place, start:stop]
    return registers[place, : stop - start]


@jit_once(f"void({CODE}, int64, int64, {DATA}, int64, int64, {TARGET})")
def forwards(
    starts_at: Any, opcodes_at: Any, left_at: Any, right_at: Any, targets_at: Any, roots_at: Any, from_: int, to: int,
    columns_at: Any, n_rows: int, registers_at: Any, start: int, stop: int,
    y_at: Any, weights_at: Any, n_weights: int, errors_at: Any, n_errors: int,
) -> None:  # fmt: skip
    """Run expressions `from_` to `to` on rows `start` to `stop`.

    If there are `errors`, each expression's weighted sum of squared errors is added to its own.
    """
    starts, roots = carray(starts_at, (to + 1,)), carray(roots_at, (to,))
    opcodes, targets = carray(opcodes_at, (MANY,)), carray(targets_at, (MANY,))
    left, right = carray(left_at, (MANY,)), carray(right_at, (MANY,))
    columns, registers = carray(columns_at, (MANY, n_rows)), carray(registers_at, (MANY, BLOCK))
    y, weights, errors = carray(y_at, (n_rows,)), carray(weights_at, (n_weights,)), carray(errors_at, (n_errors,))
    for k in range(from_, to):
        for i in range(starts[k], starts[k + 1]):
            a = operand(left[i], columns, registers, start, stop)
            b = operand(right[i], columns, registers, start, stop)
            apply(opcodes[i], a, b, registers[targets[i], : stop - start])
        if n_errors > 0:
            found = operand(roots[k], columns, registers, start, stop)
            errors[k] += squared_distance(found, y, weights, start, stop)


@jit_once(f"void({CODE}, int64, {DATA}, int64, int64, CPointer(float64), CPointer(boolean))")
def backwards(
    starts_at: Any, opcodes_at: Any, left_at: Any, right_at: Any, targets_at: Any, roots_at: Any, k: int,
    columns_at: Any, n_rows: int, registers_at: Any, start: int, stop: int, gradients_at: Any, is_active_at: Any,
) -> None:  # fmt: skip
    """Put the gradient of expression k by each active register into the rows of the gradients, after `forwards`.

    An expression is a tree: every register has one use, and its gradient is set once, never summed.
    """
    starts, roots = carray(starts_at, (k + 2,)), carray(roots_at, (k + 1,))
    opcodes, targets = carray(opcodes_at, (MANY,)), carray(targets_at, (MANY,))
    left, right = carray(left_at, (MANY,)), carray(right_at, (MANY,))
    columns, registers = carray(columns_at, (MANY, n_rows)), carray(registers_at, (MANY, BLOCK))
    gradients, is_active = carray(gradients_at, (MANY, BLOCK)), carray(is_active_at, (MANY,))
    n = stop - start
    if roots[k] >= 0:
        gradients[roots[k], :n] = 1.0
    for i in range(starts[k + 1] - 1, starts[k] - 1, -1):
        target = targets[i]
        if not is_active[target]:
            continue
        a = operand(left[i], columns, registers, start, stop)
        b = operand(right[i], columns, registers, start, stop)
        value, back = registers[target, :n], gradients[target, :n]
        if left[i] >= 0 and is_active[left[i]]:
            left_gradient(opcodes[i], a, b, value, back, gradients[left[i], :n])
        if right[i] >= 0 and right[i] != left[i] and is_active[right[i]]:
            right_gradient(opcodes[i], a, b, value, back, gradients[right[i], :n])
