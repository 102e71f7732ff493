"""Compiled reader of infix tokens with parentheses.

It takes what `edhie.expr.parser` takes, but for signs before an operand, which are the symbol `neg` here, and for
`min` and `max` of more than two operands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from edhie.expr.forest_kernels import Indices, Tokens
from edhie.expr.jit import jit, jit_inner, typed
from edhie.expr.library import SymbolLibrary
from edhie.expr.notation import LEFT_ASSOCIATIVE

LEAF, FUNCTION, PREFIX, POSTFIX, LEFT, RIGHT = map(typed, range(6))
OPEN, CLOSE, COMMA, PADDING = (typed(-1 - i) for i in range(4))
NOTHING = typed(0)  # below all precedences
STYLES = {"leaf": LEAF, "function": FUNCTION, "prefix": PREFIX, "postfix": POSTFIX}
MARKS = {"(": OPEN, ")": CLOSE, ",": COMMA, "": PADDING}


class Symbols(NamedTuple):
    """Tables by token that say how it is written."""

    styles: NDArray[np.int64]
    """LEAF, FUNCTION, PREFIX, POSTFIX, or infix that groups to the LEFT or to the RIGHT."""
    arities: NDArray[np.int64]
    precedences: NDArray[np.int64]
    has_value: NDArray[np.bool_]
    """True for a symbol that needs a value, such as `#`; a sequence with it is no expression."""
    names: NDArray[np.int64]
    """By symbol of the sequences: its token, or OPEN, CLOSE, COMMA, PADDING."""


def symbols_of(library: SymbolLibrary, vocabulary: Sequence[str]) -> Symbols:
    """Return the tables of a library, whose symbols open the vocabulary; marks follow."""
    rows = library.symbols
    infix = [LEFT if symbol.name in LEFT_ASSOCIATIVE else RIGHT for symbol in rows]
    return Symbols(
        styles=np.array([STYLES.get(each.style, side) for each, side in zip(rows, infix, strict=True)], np.int64),
        arities=library.arities.astype(np.int64),
        precedences=np.array([symbol.precedence for symbol in rows], np.int64),
        has_value=np.array([symbol.kind == "number" for symbol in rows], np.bool_),
        names=np.array([*range(len(rows)), *(MARKS[mark] for mark in vocabulary[len(rows) :])], np.int64),
    )


class Reading(NamedTuple):
    """The state of reading one sequence: tokens written in postfix order, and operators that wait for an operand."""

    out: Tokens
    waiting: Indices
    """Operators before their last operand, and OPEN parentheses; those of a call lie on its function."""
    commas: Indices
    """By OPEN parenthesis: how many commas are still to come."""
    state: Indices
    """Number of written symbols, number of waiting ones, and what may come next."""


WRITTEN, TOP, NEXT = map(typed, range(3))
OPERAND, OPENING, OPERATOR = map(typed, range(3))  # what may come next


@jit_inner
def reads_operand(reading: Reading, symbols: Symbols, token: int) -> bool:
    """Take a token where an operand should be; return whether it may stand there."""
    state, top = reading.state, reading.state[TOP]
    is_call = state[NEXT] == OPENING
    if token == OPEN:
        reading.commas[top] = symbols.arities[reading.waiting[top - 1]] - 1 if is_call else 0
        state[NEXT] = OPERAND
    elif token < 0 or is_call:
        return False
    elif symbols.styles[token] == LEAF and not symbols.has_value[token]:
        reading.out[state[WRITTEN]] = token
        state[WRITTEN] += 1
        state[NEXT] = OPERATOR
        return True
    elif symbols.styles[token] == FUNCTION:
        state[NEXT] = OPENING
    elif symbols.styles[token] != PREFIX:
        return False
    reading.waiting[top] = token
    state[TOP] += 1
    return True


@jit_inner
def finish(reading: Reading, symbols: Symbols, least: int) -> None:
    """Write the waiting operators that bind at least as tightly as `least`, back to the last parenthesis."""
    state = reading.state
    while state[TOP] > 0:
        token = reading.waiting[state[TOP] - 1]
        if token == OPEN or symbols.precedences[token] < least:
            return
        state[TOP] -= 1
        reading.out[state[WRITTEN]] = token
        state[WRITTEN] += 1


@jit_inner
def reads_operator(reading: Reading, symbols: Symbols, token: int) -> bool:
    """Take a token that follows an operand; return whether it may."""
    state = reading.state
    style = symbols.styles[token] if token >= 0 else -1
    if style == POSTFIX:
        reading.out[state[WRITTEN]] = token
        state[WRITTEN] += 1
        return True
    if style in (LEFT, RIGHT):
        finish(reading, symbols, symbols.precedences[token] + (style == RIGHT))
        reading.waiting[state[TOP]] = token
        state[TOP] += 1
        state[NEXT] = OPERAND
        return True
    if token != COMMA and token != CLOSE:
        return False
    finish(reading, symbols, NOTHING)
    if state[TOP] == 0:
        return False
    if token == COMMA:
        reading.commas[state[TOP] - 1] -= 1
        state[NEXT] = OPERAND
        return bool(reading.commas[state[TOP] - 1] >= 0)
    state[TOP] -= 1
    top = state[TOP]
    if top > 0 and reading.waiting[top - 1] >= 0 and symbols.styles[reading.waiting[top - 1]] == FUNCTION:
        state[TOP] -= 1
        reading.out[state[WRITTEN]] = reading.waiting[top - 1]
        state[WRITTEN] += 1
    return bool(reading.commas[top] == 0)


@jit_inner
def to_postfix(sequence: NDArray[np.int64], symbols: Symbols, reading: Reading) -> int:
    """Write a sequence into `reading.out`; return the number of its tokens, 0 where it is no expression."""
    state = reading.state
    state[:] = 0
    for symbol in sequence:
        token = symbols.names[symbol]
        if token == PADDING:
            break
        if state[NEXT] == OPERATOR:
            fits = reads_operator(reading, symbols, token)
        else:
            fits = reads_operand(reading, symbols, token)
        if not fits:
            return 0
    if state[NEXT] != OPERATOR:
        return 0
    finish(reading, symbols, NOTHING)
    return int(state[WRITTEN]) if state[TOP] == 0 else 0


@jit
def read(sequences: NDArray[np.int64], symbols: Symbols) -> tuple[Tokens, Indices, Indices]:
    """Return prefix tokens and offsets of the sequences that are expressions, and which these are."""
    n, length = sequences.shape
    reading = Reading(
        np.empty(length, np.int16),
        np.empty(length + 1, np.int64),
        np.empty(length + 1, np.int64),
        np.zeros(3, np.int64),
    )
    sizes = np.empty(length, np.int64)  # of the subtree that ends at a place of the postfix
    tokens = np.empty(n * length, np.int16)
    offsets = np.zeros(n + 1, np.int64)
    which = np.empty(n, np.int64)
    found = 0
    for k in range(n):
        count = to_postfix(sequences[k], symbols, reading)
        if count == 0:
            continue
        for i in range(count):
            sizes[i] = 1
            for _ in range(symbols.arities[reading.out[i]]):
                sizes[i] += sizes[i - sizes[i]]
        at = offsets[found]
        waiting = reading.waiting
        waiting[0] = count - 1
        top = 1
        while top > 0:  # from the root, the left operand first
            top -= 1
            i = waiting[top]
            tokens[at] = reading.out[i]
            at += 1
            operand = i - 1
            for _ in range(symbols.arities[reading.out[i]]):
                waiting[top] = operand
                top += 1
                operand -= sizes[operand]
        which[found] = k
        found += 1
        offsets[found] = at
    return tokens[: offsets[found]].copy(), offsets[: found + 1].copy(), which[:found].copy()
