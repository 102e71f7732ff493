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
    same = _same_operands(a, b)
    rest_a, rest_b = (
        [(k, *signed) for k, signed in enumerate(_of(shape)) if k not in taken]
        for shape, taken in zip((a, b), ({i for i, _ in same}, {j for _, j in same}), strict=True)
    )
    gains = np.array(
        [
            [one.size + other.size + 2 - distance(one, other) - (sign != other_sign) for _, other_sign, other in rest_b]
            for _, sign, one in rest_a
        ]
    ).reshape(len(rest_a), len(rest_b))
    rows, columns = linear_sum_assignment(gains, maximize=True)
    pairs = {(rest_a[i][0], rest_b[j][0]): int(gains[i, j]) for i, j in zip(rows, columns, strict=True)}
    worth = [*same, *(pair for pair, gain in pairs.items() if gain > 0)] or [max(pairs, key=lambda pair: pairs[pair])]
    return sorted(worth, key=lambda pair: (a.operands[pair[0]].key, b.operands[pair[1]].key))


def _same_operands(a: Shape, b: Shape) -> list[tuple[int, int]]:
    """Operands that both have: nothing is nearer to them, so most of two long chains need no comparison."""
    waiting: dict[tuple[int, str], list[int]] = {}
    for j, (sign, operand) in enumerate(_of(b)):
        waiting.setdefault((sign, operand.key), []).append(j)
    return [
        (i, waiting[sign, operand.key].pop(0))
        for i, (sign, operand) in enumerate(_of(a))
        if waiting.get((sign, operand.key))
    ]


def _of(shape: Shape) -> list[tuple[int, Shape]]:
    return list(zip(shape.signs, shape.operands, strict=True))
