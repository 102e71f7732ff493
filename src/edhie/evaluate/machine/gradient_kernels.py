"""Compiled: gradients with respect to the constants of an expression, backwards through its instructions.

Programs are those of `plan`: no register is used twice, and all values are still there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from edhie.arrays import Flags, Indices, Numbers
from edhie.evaluate.machine.kernels import BLOCK, Target, backwards, fill, run
from edhie.evaluate.machine.program import Program
from edhie.evaluate.machine.sums import dot
from edhie.expr.jit import copy_to, jit, jit_inner


class Workspace(NamedTuple):
    """Arrays to compute an expression in, with one row for each register."""

    registers: Numbers
    gradients: Numbers
    is_active: Flags
    """True for registers that depend on a constant to be fitted: only these need gradients."""


@jit_inner
def workspace_for(program: Program) -> Workspace:
    """Return a workspace for any expression of a program."""
    shape = (program.n_registers, BLOCK)
    return Workspace(np.empty(shape), np.empty(shape), np.zeros(program.n_registers, np.bool_))


@jit_inner
def find_active(program: Program, k: int, is_active: Flags) -> None:
    """Mark the registers of expression k that depend on a constant to be fitted."""
    at = program.leaf_starts[k]
    for j in range(program.leaf_starts[k + 1] - at):
        is_active[j] = program.is_free[at + j]
    for i in range(program.starts[k], program.starts[k + 1]):
        a, b = program.left[i], program.right[i]
        is_active[program.targets[i]] = (a >= 0 and is_active[a]) or (b >= 0 and is_active[b])


@jit_inner
def free_leaves(program: Program, k: int) -> Indices:
    """Return which leaves of expression k are constants to be fitted."""
    at = program.leaf_starts[k]
    found, count = np.empty(program.leaf_starts[k + 1] - at, np.int64), 0
    for j in range(len(found)):
        if program.is_free[at + j]:
            found[count] = j
            count += 1
    return found[:count]


@jit_inner
def backpropagate(program: Program, k: int, columns: Numbers, space: Workspace, start: int, stop: int) -> None:
    """Put the gradient of expression k by each active register into its row of the gradients, after `run`."""
    backwards(
        program.starts.ctypes, program.opcodes.ctypes, program.left.ctypes, program.right.ctypes,
        program.targets.ctypes, program.roots.ctypes, k,
        columns.ctypes, columns.shape[1], space.registers.ctypes, start, stop,
        space.gradients.ctypes, space.is_active.ctypes,
    )  # fmt: skip


@jit
def jacobian(program: Program, k: int, leaves: Numbers, columns: Numbers, values: Numbers, slopes: Numbers) -> None:
    """Put the values of expression k with these leaves into `values`, and its slopes by each constant into `slopes`."""
    space = workspace_for(program)
    find_active(program, k, space.is_active)
    fill(space.registers, leaves)
    n_rows, at = len(values), program.leaf_starts[k]
    for start in range(0, n_rows, BLOCK):
        stop = min(start + BLOCK, n_rows)
        copy_to(values[start:stop], run(program, k, columns, space.registers, start, stop))
        backpropagate(program, k, columns, space, start, stop)
        row = 0
        for j in range(len(leaves)):
            if program.is_free[at + j]:
                copy_to(slopes[row, start:stop], space.gradients[j, : stop - start])
                row += 1


@jit_inner
def normal_equations(
    program: Program, k: int, leaves: Numbers, free: Indices, target: Target, space: Workspace,
    products: Numbers, slope: Numbers,
) -> float:  # fmt: skip
    """Return the weighted sum of squared residuals r = y - f; put J'WJ into `products` and J'Wr into `slope`.

    J has a column for each of the registers `free`. The sum is infinite if a value is not finite. A gradient that is
    not finite, such as that of sqrt(c*x) at x = 0, counts as 0.
    """
    m = len(free)
    products[:m, :m] = 0.0
    slope[:m] = 0.0
    fill(space.registers, leaves)
    total = 0.0
    residuals, weighted = np.empty(BLOCK), np.empty(BLOCK)
    n_rows = len(target.y)
    for start in range(0, n_rows, BLOCK):
        stop = min(start + BLOCK, n_rows)
        n = stop - start
        found = run(program, k, target.columns, space.registers, start, stop)
        backpropagate(program, k, target.columns, space, start, stop)
        for i in range(n):
            residuals[i] = target.y[start + i] - found[i]
        weigh(residuals, target.weights, start, n, weighted)
        total += dot(residuals, weighted, n)
        if not total < np.inf:
            return np.inf
        copy_to(residuals, weighted[:n])
        for p in range(m):
            row = space.gradients[free[p]]
            if not np.isfinite(dot(row, row, n)):
                drop_infinite(row, n)
            slope[p] += dot(row, residuals, n)
            weigh(row, target.weights, start, n, weighted)
            for q in range(p + 1):
                products[p, q] += dot(weighted, space.gradients[free[q]], n)
    for p in range(m):
        total += 0.0 * (slope[p] + products[p, p])  # NaN where they are beyond float64
        for q in range(p):
            products[q, p] = products[p, q]
    return total if total < np.inf else np.inf


@jit_inner
def weigh(block: Numbers, weights: Numbers, start: int, n: int, out: Numbers) -> None:
    """Put the block times its rows' weights into `out`."""
    if len(weights) == 0:
        for i in range(n):
            out[i] = block[i]
    else:
        for i in range(n):
            out[i] = block[i] * weights[start + i]


@jit_inner
def drop_infinite(row: Numbers, n: int) -> None:
    """Put 0 where a gradient is not finite."""
    for i in range(n):
        if not np.isfinite(row[i]):
            row[i] = 0.0
