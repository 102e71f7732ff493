"""Compiled loops over unfinished expressions: the ancestors and the sibling of the next token."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.expr.jit import jit

Indices = NDArray[np.int64]


@jit
def contexts(
    tokens: NDArray[np.int16], t: int, arities: NDArray[np.int8], is_wave: NDArray[np.bool_]
) -> tuple[Indices, Indices, Indices, NDArray[np.bool_]]:
    """Return parent, sibling, open operands, and whether an ancestor is trigonometric, at position `t` of each row.

    Rows are expressions in prefix order, padded with -1. Parent and sibling are tokens, -1 for none. Rows that ended
    before `t` have 0 open operands.
    """
    n = len(tokens)
    parent, sibling = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    missing, in_wave = np.zeros(n, np.int64), np.zeros(n, np.bool_)
    for k in range(n):
        if t > 0 and tokens[k, t - 1] < 0:
            continue
        is_found, balance, total = False, 0, 1
        for j in range(t - 1, -1, -1):
            token = tokens[k, j]
            balance += arities[token] - 1
            total += arities[token] - 1
            if balance >= 0:  # the operator at j lacks operands: it is an ancestor of position t
                if not is_found:
                    is_found = True
                    parent[k] = token
                    if j + 1 < t:
                        sibling[k] = tokens[k, j + 1]
                in_wave[k] |= is_wave[token]
                balance = 0
        missing[k] = total
    return parent, sibling, missing, in_wave
