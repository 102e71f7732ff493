"""Compiled: the constants in which an expression is linear, all others held."""

from __future__ import annotations

import numpy as np

from edhie.evaluate.arrays import Flags
from edhie.evaluate.machine.operators import ADD, DIV, MUL, NEG, SUB
from edhie.evaluate.machine.program import Program
from edhie.expr.jit import jit


@jit
def find_linear(program: Program, k: int, is_linear: Flags) -> None:
    """Mark, by the register of each leaf, a set of constants in which expression k is jointly linear.

    A sum is linear in the constants of all its terms, a product in those of one factor: the one with more of them.
    Registers are not shared (`plan(keep=True)`).
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
