"""Compiled loops over many leftmost derivations: choosing their rules, and the trees that they end with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edhie.expr.jit import jit, jit_inner
from edhie.grammar.arrays import Floats, Ints, Templates
from edhie.grammar.kernels import longer


@jit
def guided(scores: NDArray[np.float32], grammar: Templates) -> tuple[NDArray[np.int16], Ints, Ints]:
    """Rules and offsets of the derivations that take, step by step, the best rule of the nonterminal in turn.

    `scores` are by derivation, step and rule. Those that are not whole after the last
    step are left out; the third array says which are left.
    """
    n, steps, n_rules = scores.shape
    rules = np.empty(n * steps, np.int16)
    offsets = np.zeros(n + 1, np.int64)
    whole = np.empty(n, np.int64)
    waiting = np.empty(64, np.int64)  # nonterminals to be expanded, the leftmost on top
    found = 0
    for k in range(n):
        at = offsets[found]
        waiting[0] = grammar.start
        top = 1
        step = 0
        while top > 0 and step < steps:
            top -= 1
            best = -1
            for rule in range(n_rules):
                if grammar.lhs[rule] == waiting[top] and (best < 0 or scores[k, step, rule] > scores[k, step, best]):
                    best = rule
            rules[at] = best
            at += 1
            step += 1
            begin, end = grammar.rhs_starts[best], grammar.rhs_starts[best + 1]
            waiting = longer(waiting, top + end - begin)
            for j in range(end - 1, begin - 1, -1):
                waiting[top] = grammar.rhs[j]
                top += 1
        if top == 0:
            whole[found] = k
            found += 1
            offsets[found] = at
    return rules[: offsets[found]].copy(), offsets[: found + 1].copy(), whole[:found].copy()


@jit_inner
def is_leftmost(rules: NDArray[np.int16], grammar: Templates, waiting: Ints) -> bool:
    """Return True for the rules of exactly one whole leftmost derivation; `waiting` is room to work in."""
    waiting[0] = grammar.start
    top = 1
    for rule in rules:
        if top == 0 or rule < 0 or rule >= len(grammar.lhs) or grammar.lhs[rule] != waiting[top - 1]:
            return False
        top -= 1
        for j in range(grammar.rhs_starts[rule + 1] - 1, grammar.rhs_starts[rule] - 1, -1):
            waiting[top] = grammar.rhs[j]
            top += 1
    return top == 0


@jit_inner
def find_children(rules: NDArray[np.int16], grammar: Templates, children: Ints, ends: Ints) -> None:
    """Fill `children` with the steps that expand each step's nonterminals; `ends` is room to work in."""
    for i in range(len(rules) - 1, -1, -1):  # what a step leads to stands behind it, piece by piece
        end = i + 1
        for j in range(grammar.rhs_starts[rules[i] + 1] - grammar.rhs_starts[rules[i]]):
            children[i, j] = end
            end = ends[end]
        ends[i] = end


@jit_inner
def extent(rules: NDArray[np.int16], offsets: Ints, grammar: Templates) -> tuple[int, int, int]:
    """Return the steps of the longest derivation, the nonterminals of the widest rule, and the tokens of all trees."""
    longest, widest, total = 1, 1, 0
    for k in range(len(offsets) - 1):
        longest = max(longest, offsets[k + 1] - offsets[k])
    for rule in range(len(grammar.lhs)):
        widest = max(widest, grammar.rhs_starts[rule + 1] - grammar.rhs_starts[rule])
    for rule in rules:
        if 0 <= rule < len(grammar.lhs):
            nonterminals = grammar.rhs_starts[rule + 1] - grammar.rhs_starts[rule]
            total += grammar.item_starts[rule + 1] - grammar.item_starts[rule] - nonterminals
    return longest, widest, total


@jit
def expanded(
    rules: NDArray[np.int16], offsets: Ints, grammar: Templates
) -> tuple[NDArray[np.int16], Floats, Ints, int]:
    """Return prefix tokens, values of numbers, offsets, and the first derivation that is invalid, or -1."""
    longest, widest, total = extent(rules, offsets, grammar)
    tokens, numbers, new_offsets = np.empty(total, np.int16), np.empty(total), np.zeros(len(offsets), np.int64)
    waiting = np.empty(longest * widest + 1, np.int64)
    children, ends = np.empty((longest, widest), np.int64), np.empty(longest + 1, np.int64)
    steps = np.empty(longest, np.int64)  # rules that are being written, the innermost on top, …
    places = np.empty(longest, np.int64)  # … and how far each has come in its piece
    at = 0
    for k in range(len(offsets) - 1):
        own = rules[offsets[k] : offsets[k + 1]]
        if not is_leftmost(own, grammar, waiting):
            return tokens, numbers, new_offsets, k
        find_children(own, grammar, children, ends)
        steps[0], places[0] = 0, grammar.item_starts[own[0]]
        top = 1
        while top > 0:
            step, place = steps[top - 1], places[top - 1]
            if place == grammar.item_starts[own[step] + 1]:
                top -= 1
                continue
            places[top - 1] += 1
            item = grammar.items[place]
            if item < 0:
                steps[top] = children[step, -1 - item]
                places[top] = grammar.item_starts[own[steps[top]]]
                top += 1
            else:
                tokens[at], numbers[at] = item, grammar.numbers[place]
                at += 1
        new_offsets[k + 1] = at
    return tokens, numbers, new_offsets, -1
