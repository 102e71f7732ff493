"""Compiled copying for `splicing`: expressions made of ranges of tokens."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.arrays import Indices, Numbers
from edhie.expr.jit import jit

Tokens = NDArray[np.int16]


@jit
def joined(
    tokens: Tokens, values: Numbers, slots: Indices, starts: Indices, lengths: Indices
) -> tuple[Tokens, Indices, Numbers]:
    """Tokens, offsets and values of expressions, each the ranges of one row of `starts` and `lengths` in turn.

    `slots` has, by token, how many values stand before it.
    """
    n, most = starts.shape
    offsets = np.zeros(n + 1, np.int64)
    n_values = 0
    for k in range(n):
        total = 0
        for piece in range(most):
            start, length = starts[k, piece], lengths[k, piece]
            total += length
            n_values += slots[start + length] - slots[start]
        offsets[k + 1] = offsets[k] + total
    new_tokens = np.empty(offsets[-1], np.int16)
    new_values = np.empty(n_values, np.float64)
    at, at_value = 0, 0
    for k in range(n):
        for piece in range(most):
            start, length = starts[k, piece], lengths[k, piece]
            for i in range(start, start + length):
                new_tokens[at] = tokens[i]
                at += 1
            for i in range(slots[start], slots[start + length]):
                new_values[at_value] = values[i]
                at_value += 1
    return new_tokens, offsets, new_values
