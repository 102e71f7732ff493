"""Compiled: the magnitude that a constant is likely to have, from what it stands beside."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.kernels import fill, leaves_of, run
from edhie.evaluate.machine import BLOCK, operand
from edhie.evaluate.operations import MUL, POW
from edhie.evaluate.program import Program
from edhie.expr.jit import jit

Numbers = NDArray[np.float64]
LEAST, MOST = 1e-6, 1e6


@jit
def leaf_scales(program: Program, columns: Numbers) -> Numbers:
    """By leaf: for c + u the mean of |u|, for c*u one over it, and 1 where nothing is known.

    Constants without values are 1 for this, and the first block of rows stands for all.
    """
    scales = np.ones(len(program.leaf_values))
    registers = np.empty((program.n_registers, BLOCK))
    stop = min(columns.shape[1], BLOCK)
    for k in range(len(program.roots)):
        at = program.leaf_starts[k]
        leaves = leaves_of(program, k).copy()
        for j in range(len(leaves)):
            if np.isnan(leaves[j]):
                leaves[j] = 1.0
        fill(registers, leaves)
        run(program, k, columns, registers, 0, stop)
        for i in range(program.starts[k], program.starts[k + 1]):
            a, b = program.left[i], program.right[i]
            if a == b or program.opcodes[i] == POW:
                continue
            for leaf, beside in ((a, b), (b, a)):
                if 0 <= leaf < len(leaves):
                    typical = mean_magnitude(operand(beside, columns, registers, 0, stop))
                    scale = 1.0 / typical if program.opcodes[i] == MUL else typical
                    scales[at + leaf] = min(max(scale, LEAST), MOST)
    return scales


@jit
def mean_magnitude(block: Numbers) -> float:
    """The mean of |u| over what is finite, 1 where that is nothing or 0."""
    total, count = 0.0, 0
    for i in range(len(block)):
        if np.isfinite(block[i]):
            total += abs(block[i])
            count += 1
    return total / count if count > 0 and 0 < total < np.inf else 1.0
