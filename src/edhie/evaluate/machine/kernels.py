"""Compiled: programs run over blocks of rows, forwards for values and sums of squared errors, backwards for gradients.

`forwards` and `backwards` have the code of all operators, so they are compiled once and called by address. Their
pointers are to the arrays of a `Program`, and to rows of `columns` (`n_rows` long) and registers (`BLOCK` long).
A block's intermediate results stay in the nearest cache. Groups share nothing, so threads may run them in any order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import carray

from edhie.arrays import Numbers
from edhie.evaluate.machine.operators import apply, left_gradient, right_gradient
from edhie.evaluate.machine.program import Program
from edhie.evaluate.machine.sums import squared_distance
from edhie.expr.jit import copy_to, jit, jit_inline, jit_inner, jit_once

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


class Target(NamedTuple):
    """Data as an argument of kernels."""

    columns: Numbers
    """One row for each variable of the library."""
    y: Numbers
    weights: Numbers
    """Weights of the rows; empty where all count the same."""


@jit_inner
def fill(registers: Numbers, leaves: Numbers) -> None:
    """Put an expression's constants and numbers into its leading registers."""
    for j in range(len(leaves)):
        registers[j, :] = leaves[j]


@jit_inner
def run(program: Program, k: int, columns: Numbers, registers: Numbers, start: int, stop: int) -> Numbers:
    """Return the values of expression k on rows `start` to `stop`; its leaves are filled in already."""
    forwards(
        program.starts.ctypes, program.opcodes.ctypes, program.left.ctypes, program.right.ctypes,
        program.targets.ctypes, program.roots.ctypes, k, k + 1,
        columns.ctypes, columns.shape[1], registers.ctypes, start, stop,
        registers.ctypes, registers.ctypes, 0, registers.ctypes, 0,  # no errors are asked for
    )  # fmt: skip
    found: Numbers = operand(program.roots[k], columns, registers, start, stop)
    return found


@jit_inner
def add_errors(
    program: Program, from_: int, to: int, target: Target, registers: Numbers, start: int, stop: int, errors: Numbers
) -> None:
    """Add to the errors of expressions `from_` to `to` their weighted sums of squared errors on some rows."""
    forwards(
        program.starts.ctypes, program.opcodes.ctypes, program.left.ctypes, program.right.ctypes,
        program.targets.ctypes, program.roots.ctypes, from_, to,
        target.columns.ctypes, target.columns.shape[1], registers.ctypes, start, stop,
        target.y.ctypes, target.weights.ctypes, len(target.weights), errors.ctypes, len(errors),
    )  # fmt: skip


@jit_inner
def leaves_of(program: Program, g: int) -> Numbers:
    """Return the values of the leaves of group g."""
    return program.leaf_values[program.leaf_starts[g] : program.leaf_starts[g + 1]]


@jit_inner
def copy_columns(program: Program, g: int, columns: Numbers, registers: Numbers, start: int, stop: int) -> None:
    """Copy rows of the columns into the registers behind the leaves of group g, where a program asks for it."""
    behind = program.leaf_starts[g + 1] - program.leaf_starts[g]
    for j in range(program.n_copied):
        copy_to(registers[behind + j], columns[j, start:stop])


@jit
def values(program: Program, columns: Numbers, out: Numbers, from_: int, to: int) -> None:
    """Put the values of the expressions of groups `from_` to `to` into the rows of `out`."""
    registers = np.empty((program.n_registers, BLOCK))
    n_rows = out.shape[1]
    for g in range(from_, to):
        fill(registers, leaves_of(program, g))
        for start in range(0, n_rows, BLOCK):
            stop = min(start + BLOCK, n_rows)
            copy_columns(program, g, columns, registers, start, stop)
            for k in range(program.groups[g], program.groups[g + 1]):
                found = run(program, k, columns, registers, start, stop)
                for i in range(stop - start):
                    out[k, start + i] = found[i]


@jit
def squared_errors(program: Program, target: Target, bounds: Numbers, out: Numbers, from_: int, to: int) -> None:
    """Put the weighted sums of squared errors of the expressions of groups `from_` to `to` into `out`.

    Infinite where a value is not finite, or the sum passes its bound. A sum only grows with the rows,
    so what has passed the bound stays beyond it; where a whole group has, no more rows are looked at.
    """
    registers = np.empty((program.n_registers, BLOCK))
    n_rows = len(target.y)
    for g in range(from_, to):
        first, last = program.groups[g], program.groups[g + 1]
        out[first:last] = 0.0
        fill(registers, leaves_of(program, g))
        for start in range(0, n_rows, BLOCK):
            stop = min(start + BLOCK, n_rows)
            copy_columns(program, g, target.columns, registers, start, stop)
            add_errors(program, first, last, target, registers, start, stop, out)
            is_left = False
            for k in range(first, last):
                if not out[k] <= bounds[k]:  # NaN too
                    out[k] = np.inf
                is_left = is_left or out[k] < np.inf
            if not is_left:
                break


@jit_inner
def squared_error(program: Program, k: int, leaves: Numbers, target: Target, registers: Numbers, bound: float) -> float:
    """Return the weighted sum of squared errors of expression k, a group to itself, with these leaves."""
    fill(registers, leaves)
    total = 0.0
    n_rows = len(target.y)
    for start in range(0, n_rows, BLOCK):
        stop = min(start + BLOCK, n_rows)
        found = run(program, k, target.columns, registers, start, stop)
        total += squared_distance(found, target.y, target.weights, start, stop)
        if not total <= bound:
            return np.inf
    return total
