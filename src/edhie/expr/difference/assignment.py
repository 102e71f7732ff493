"""Operands of two long chains, each to its counterpart."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from edhie.expr.difference.shapes import Shape


def assigned_operands(a: Shape, b: Shape, distance: Callable[[Shape, Shape], int]) -> list[tuple[int, int]]:
    """Pairs of operands that are worth more changed into one another than written anew; at least one.

    The same both ways: of chains in the other order the same pairs come.
    """
    from scipy.optimize import linear_sum_assignment

    if a.key > b.key:
        return [(j, i) for i, j in assigned_operands(b, a, distance)]
    gains = np.array(
        [
            [one.size + other.size + 2 - distance(one, other) - (sign != other_sign) for other_sign, other in _of(b)]
            for sign, one in _of(a)
        ]
    )
    rows, columns = linear_sum_assignment(gains, maximize=True)
    pairs = [(int(i), int(j)) for i, j in zip(rows, columns, strict=True)]
    worth = [pair for pair in pairs if gains[pair] > 0] or [max(pairs, key=lambda pair: gains[pair])]
    return sorted(worth, key=lambda pair: (a.operands[pair[0]].key, b.operands[pair[1]].key))


def _of(shape: Shape) -> list[tuple[int, Shape]]:
    return list(zip(shape.signs, shape.operands, strict=True))
