"""Compiled loops over programs: values and sums of squared errors, block by block of rows.

A block's intermediate results stay in the nearest cache. Expressions do not share anything, so
threads may take turns at them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.machine import BLOCK, forwards, operand
from edhie.evaluate.program import Program
from edhie.evaluate.sums import distance, weighted_distance
from edhie.expr.jit import jit

Numbers = NDArray[np.float64]


class Target(NamedTuple):
    """What expressions are held against."""

    columns: Numbers
    """One row for each variable of the library."""
    y: Numbers
    weights: Numbers
    """Of the rows; an empty array where all count the same."""


@jit
def fill(registers: Numbers, leaves: Numbers) -> None:
    """Put an expression's constants and numbers into its leading registers."""
    for j in range(len(leaves)):
        registers[j, :] = leaves[j]


@jit
def run(program: Program, k: int, columns: Numbers, registers: Numbers, start: int, stop: int) -> Numbers:
    """The values of expression k on rows `start` to `stop`; its leaves are filled in already."""
    forwards(
        program.opcodes.ctypes, program.left.ctypes, program.right.ctypes, program.targets.ctypes,
        program.starts[k], program.starts[k + 1],
        columns.ctypes, columns.shape[1], registers.ctypes, start, stop,
    )  # fmt: skip
    found: Numbers = operand(program.roots[k], columns, registers, start, stop)
    return found


@jit
def leaves_of(program: Program, k: int) -> Numbers:
    """The values of the leaves of expression k."""
    return program.leaf_values[program.leaf_starts[k] : program.leaf_starts[k + 1]]


@jit
def values(program: Program, columns: Numbers, from_: int, to: int, out: NDArray[np.floating]) -> None:
    """The values of expressions `from_` to `to`, into their rows of `out`."""
    registers = np.empty((program.n_registers, BLOCK))
    n_rows = out.shape[1]
    for k in range(from_, to):
        fill(registers, leaves_of(program, k))
        for start in range(0, n_rows, BLOCK):
            stop = min(start + BLOCK, n_rows)
            found = run(program, k, columns, registers, start, stop)
            for i in range(stop - start):
                out[k, start + i] = found[i]


@jit
def squared_error(program: Program, k: int, leaves: Numbers, target: Target, registers: Numbers, bound: float) -> float:
    """The weighted sum of squared errors of expression k; infinite where a value is not finite, or beyond the bound.

    A sum only grows with the rows, so what has passed the bound stays beyond it and the other
    rows are not looked at.
    """
    fill(registers, leaves)
    total = 0.0
    n_rows = len(target.y)
    for start in range(0, n_rows, BLOCK):
        stop = min(start + BLOCK, n_rows)
        found = run(program, k, target.columns, registers, start, stop)
        if len(target.weights) == 0:
            total += distance(found, target.y[start:stop])
        else:
            total += weighted_distance(found, target.y[start:stop], target.weights[start:stop])
        if not total <= bound:  # NaN too
            return np.inf
    return total


@jit
def squared_errors(program: Program, target: Target, bounds: Numbers, from_: int, to: int, out: Numbers) -> None:
    """The weighted sums of squared errors of expressions `from_` to `to`, each with its bound."""
    registers = np.empty((program.n_registers, BLOCK))
    for k in range(from_, to):
        out[k] = squared_error(program, k, leaves_of(program, k), target, registers, bounds[k])
