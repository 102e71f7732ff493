"""Compiled loops of a grammar: sampling of trees, sums over their derivations, the best derivation."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from edhie.expr.jit import copy_to, jit, jit_inner
from edhie.grammar.arrays import Alternatives, Floats, Ints, Spelling, Trees

Whole = TypeVar("Whole", bound=np.integer[Any])


@jit_inner
def longer(array: NDArray[Whole], needed: int) -> NDArray[Whole]:
    """Return the array itself, or a longer copy where `needed` does not fit."""
    if needed <= len(array):
        return array
    new = np.empty(max(needed, 2 * len(array)), array.dtype)
    copy_to(new, array)
    return new


@jit
def draw(
    rng: np.random.Generator, n: int, first: int, grammar: Alternatives, cumulative: Floats,
    least_size: Ints, least_height: Ints, max_size: int, max_height: int,
) -> tuple[NDArray[np.int32], Ints]:  # fmt: skip
    """Return alternatives in prefix order and offsets of `n` trees within the limits.

    A tree is given up as soon as nothing could bring it within the limits, and begun
    anew; so what is kept has the grammar's distribution on the trees within them.
    """
    chosen = np.empty(16 * n + 16, np.int32)
    offsets = np.zeros(n + 1, np.int64)
    waiting = np.empty(64, np.int64)  # states to be expanded, the leftmost on top
    depths = np.empty(64, np.int64)
    for k in range(n):
        size = max_size + 1
        while size > max_size:
            at = offsets[k]
            size = least_size[first]  # of the smallest tree that this one can still become
            waiting[0] = first
            depths[0] = 1
            top = 1
            while top > 0 and size <= max_size:
                top -= 1
                state = waiting[top]
                depth = depths[top]
                u = rng.random()
                a = grammar.starts[state]
                while u >= cumulative[a]:
                    a += 1
                chosen = longer(chosen, at + 1)
                chosen[at] = a
                at += 1
                size += 1 - least_size[state]
                waiting = longer(waiting, top + 2)
                depths = longer(depths, top + 2)
                for operand in (grammar.right[a], grammar.left[a]):  # the left one comes to lie on top
                    if operand >= 0:
                        size += least_size[operand]
                        if depth + least_height[operand] > max_height:
                            size = max_size + 1
                        waiting[top] = operand
                        depths[top] = depth + 1
                        top += 1
        offsets[k + 1] = at
    return chosen[: offsets[n]].copy(), offsets


@jit_inner
def matches(grammar: Alternatives, a: int, trees: Trees, i: int) -> bool:
    """Return True where alternative `a`, known to make node i's token, makes its number too."""
    return bool(np.isnan(grammar.number[a]) or grammar.number[a] == trees.numbers[i])


@jit
def log_inside(grammar: Alternatives, first: int, n_states: int, trees: Trees) -> Floats:
    """Return the logarithm of each tree's probability, summed over all derivations."""
    out = np.empty(len(trees.offsets) - 1)
    # by node and state; logarithms, since trees of hundreds of nodes would underflow
    inside = np.empty((np.diff(trees.offsets).max(), n_states))
    for k in range(len(out)):
        base = trees.offsets[k]
        for i in range(trees.offsets[k + 1] - 1, base - 1, -1):  # children stand behind their parent
            row = inside[i - base]
            row[:] = -np.inf
            token = trees.tokens[i]
            for j in range(grammar.by_token_starts[token], grammar.by_token_starts[token + 1]):
                a = grammar.by_token[j]
                if matches(grammar, a, trees, i):
                    p = grammar.total[a]
                    if grammar.left[a] >= 0:
                        p += inside[trees.left[i] - base, grammar.left[a]]
                    if grammar.right[a] >= 0:
                        p += inside[trees.right[i] - base, grammar.right[a]]
                    if p > -np.inf:
                        row[grammar.state[a]] = np.logaddexp(row[grammar.state[a]], p)
        out[k] = inside[0, first]
    return out


@jit_inner
def best_choices(grammar: Alternatives, trees: Trees, k: int, score: Floats, choice: NDArray[np.int32]) -> None:
    """Fill `choice` with the alternative of the best derivation by node of tree k and state, -1 for none."""
    base = trees.offsets[k]
    for i in range(trees.offsets[k + 1] - 1, base - 1, -1):
        here = i - base
        score[here] = -np.inf
        choice[here] = -1
        token = trees.tokens[i]
        for j in range(grammar.by_token_starts[token], grammar.by_token_starts[token + 1]):
            a = grammar.by_token[j]
            if matches(grammar, a, trees, i):
                p = grammar.best[a]
                if grammar.left[a] >= 0:
                    p += score[trees.left[i] - base, grammar.left[a]]
                if grammar.right[a] >= 0:
                    p += score[trees.right[i] - base, grammar.right[a]]
                if p > score[here, grammar.state[a]]:
                    score[here, grammar.state[a]] = p
                    choice[here, grammar.state[a]] = a


@jit_inner
def descend(trees: Trees, i: int, path: int) -> int:
    """Return the node that a path leads to from node i; see `Spelling.path`."""
    bit = 1
    while 2 * bit <= path:
        bit *= 2
    while bit > 1:
        bit //= 2
        i = trees.right[i] if path & bit else trees.left[i]
    return i


@jit
def best_rules(
    grammar: Alternatives, first: int, n_states: int, spelling: Spelling, trees: Trees
) -> tuple[NDArray[np.int16], Ints, int]:
    """Return rules and offsets of each tree's best leftmost derivation, and the first tree without one, or -1."""
    n = len(trees.offsets) - 1
    score = np.empty((np.diff(trees.offsets).max(), n_states))
    choice = np.empty(score.shape, np.int32)
    rules = np.empty(4 * len(trees.tokens) + 16, np.int16)
    offsets = np.zeros(n + 1, np.int64)
    nodes = np.empty(64, np.int64)  # what is still to be spelled, the leftmost on top
    targets = np.empty(64, np.int64)
    at = 0
    for k in range(n):
        best_choices(grammar, trees, k, score, choice)
        if choice[0, first] < 0:
            return rules[:at].copy(), offsets, k
        nodes[0] = trees.offsets[k]
        targets[0] = first
        top = 1
        while top > 0:
            top -= 1
            i = nodes[top]
            if targets[top] >= 0:  # an operand: its rules, then what its last rule holds, left to right
                row = choice[i - trees.offsets[k], targets[top]]
            else:  # an operator
                row = spelling.operator_rows[-1 - targets[top], trees.tokens[i]]
            begin, end = spelling.rule_starts[row], spelling.rule_starts[row + 1]
            rules = longer(rules, at + end - begin)
            for j in range(begin, end):
                rules[at] = spelling.rules[j]
                at += 1
            last = spelling.rules[end - 1]
            begin, end = spelling.slot_starts[last], spelling.slot_starts[last + 1]
            nodes = longer(nodes, top + end - begin)
            targets = longer(targets, top + end - begin)
            for j in range(end - 1, begin - 1, -1):
                nodes[top] = descend(trees, i, spelling.path[j])
                targets[top] = spelling.target[j]
                top += 1
        offsets[k + 1] = at
    return rules[:at].copy(), offsets, -1
