"""Compiled: starting values of constants, and the constants in which an expression is linear, which need none."""

from __future__ import annotations

import math

import numpy as np

from edhie.arrays import Flags, Numbers
from edhie.evaluate.machine.kernels import BLOCK, fill, leaves_of, operand, run
from edhie.evaluate.machine.operators import ADD, DIV, MUL, NEG, POW, SUB
from edhie.evaluate.machine.program import Program
from edhie.expr.jit import jit, jit_inner, typed

LEAST, MOST = 1e-60, 1e60  # scales: columns may be in any units
SPREAD = 1.5  # decades to either side of a constant's scale
ZERO = typed(0)
REACH = 3.0  # scales to either side of 0


@jit
def leaf_scales(program: Program, columns: Numbers) -> Numbers:
    """Return the scale of each leaf: for c + u the mean of |u|, for c*u one over it, and 1 where nothing is known.

    Constants without values count as 1, and only the first block of rows is used.
    """
    scales = np.empty(len(program.leaf_values))
    scales[:] = 1.0
    registers = np.empty((program.n_registers, BLOCK))
    stop = min(columns.shape[1], BLOCK)
    for k in range(len(program.roots)):
        at = program.leaf_starts[k]
        leaves = leaves_of(program, k).copy()
        for j in range(len(leaves)):
            if np.isnan(leaves[j]):
                leaves[j] = 1.0
        fill(registers, leaves)
        run(program, k, columns, registers, ZERO, stop)
        for i in range(program.starts[k], program.starts[k + 1]):
            a, b = program.left[i], program.right[i]
            if a == b or program.opcodes[i] == POW:
                continue
            for leaf, beside in ((a, b), (b, a)):
                if 0 <= leaf < len(leaves):
                    typical = mean_magnitude(operand(beside, columns, registers, ZERO, stop))
                    scale = 1.0 / typical if program.opcodes[i] == MUL else typical
                    scales[at + leaf] = min(max(scale, LEAST), MOST)
    return scales


@jit_inner
def mean_magnitude(block: Numbers) -> float:
    """Return the mean of |u| over finite values; 1 if there are none or it is 0."""
    total, count = 0.0, 0
    for i in range(len(block)):
        if np.isfinite(block[i]):
            total += abs(block[i])
            count += 1
    return total / count if count > 0 and 0 < total < np.inf else 1.0


@jit
def start_value(seed: int, start: int, place: int, scale: float) -> float:
    """Return a starting value of a constant: 1, then its scale, then at random.

    Random values are in turn log-uniform around the scale and around 1, and uniform around 0 in units of both: beside
    a variable in a sum, a constant decides where a pole or a zero is.
    """
    if start == 0:
        return 1.0
    if start == 1:
        return scale
    first, second = uniform(seed, start, 2 * place), uniform(seed, start, 2 * place + 1)
    turn = start % 4
    if turn >= 2:
        return (scale if turn == 2 else 1.0) * REACH * (2.0 * first - 1.0)
    sign = 1.0 if first < 0.7 else -1.0
    return sign * (scale if turn == 0 else 1.0) * math.pow(10.0, SPREAD * (2.0 * second - 1.0))


@jit_inner
def uniform(seed: int, start: int, place: int) -> float:
    """Return a number from 0 to 1 that follows from the arguments alone, so the order of fits does not matter."""
    state = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(start) * np.uint64(0xBF58476D1CE4E5B9)
    state += np.uint64(place + 1) * np.uint64(0x94D049BB133111EB)
    for _ in range(2):
        state ^= state >> np.uint64(30)
        state *= np.uint64(0xBF58476D1CE4E5B9)
        state ^= state >> np.uint64(27)
        state *= np.uint64(0x94D049BB133111EB)
        state ^= state >> np.uint64(31)
    return float(state >> np.uint64(11)) * 2.0**-53


@jit
def find_linear(program: Program, k: int, is_linear: Flags) -> None:
    """Mark, by the register of each leaf, a set of constants in which expression k is jointly linear.

    A sum is linear in the constants of all its terms, a product in those of one factor: the one with more of them.
    No register is used twice (`plan`).
    """
    n, at = len(is_linear), program.leaf_starts[k]
    n_leaves = program.leaf_starts[k + 1] - at
    first, last, root = program.starts[k], program.starts[k + 1], program.roots[k]
    offers, is_open = np.zeros(n, np.int64), np.zeros(n, np.bool_)
    for j in range(n_leaves):
        offers[j] = program.is_free[at + j]
    for i in range(first, last):  # number of constants in which each register is linear
        a = offers[program.left[i]] if program.left[i] >= 0 else 0
        b = offers[program.right[i]] if program.right[i] >= 0 else 0
        opcode = program.opcodes[i]
        if opcode in (ADD, SUB):
            offers[program.targets[i]] = a + b
        elif opcode == MUL:
            offers[program.targets[i]] = max(a, b)
        elif opcode in (DIV, NEG):
            offers[program.targets[i]] = a
    if root >= 0:
        is_open[root] = True
    for i in range(last - 1, first - 1, -1):
        if not is_open[program.targets[i]]:
            continue
        opcode, a, b = program.opcodes[i], program.left[i], program.right[i]
        if opcode in (ADD, SUB):
            if a >= 0:
                is_open[a] = True
            if b >= 0:
                is_open[b] = True
        elif opcode == MUL:
            better = a if b < 0 or (a >= 0 and offers[a] >= offers[b]) else b
            if better >= 0:
                is_open[better] = True
        elif opcode in (DIV, NEG) and a >= 0:
            is_open[a] = True
    is_linear[:] = False
    for j in range(n_leaves):
        is_linear[j] = program.is_free[at + j] and is_open[j]
