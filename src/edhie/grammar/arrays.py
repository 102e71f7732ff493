"""Arrays for the kernels of a grammar.

Kernels (those with `from edhie.expr.jit import jit`) compile the order of these fields in; naming that import here
counts this file among the sources that decide which cached machine code is current.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NONE = -1
"""The state of an operand that an alternative does not have."""


class Alternatives(NamedTuple):
    """Alternatives by state, the most probable first."""

    starts: Ints
    """Offset of each state's alternatives."""
    state: Ints
    token: Ints
    number: Floats
    """Value of a number, NaN for other tokens."""
    left: Ints
    """State of the first operand, NONE for leaves."""
    right: Ints
    probability: Floats
    """Sum over all derivations."""
    total: Floats
    """Logarithm of the probability."""
    best: Floats
    """Logarithm of the best derivation's probability."""
    by_token_starts: Ints
    """Offset in `by_token` of each token, and of one more for all unknown tokens."""
    by_token: Ints
    """Alternatives sorted by token."""


class Trees(NamedTuple):
    """Trees by node: token, value of a number, left and right operand; and the offset of each tree."""

    tokens: NDArray[np.int16]
    """Ids in the grammar's library; its length stands for symbols that it lacks."""
    numbers: Floats
    left: Ints
    right: Ints
    offsets: Ints


class Spelling(NamedTuple):
    """Rules of a tree's derivation: rows of rules, and the nonterminals of the last rule of each row."""

    rule_starts: Ints
    """Offset of each row; rows are alternatives, then chains of operator rules."""
    rules: Ints
    operator_rows: NDArray[np.int64]
    """Row by nonterminal that stands for operators, and by token."""
    slot_starts: Ints
    """Offset in `path` and `target` of each rule's nonterminals, in the order of its text."""
    path: Ints
    """From the pattern's root down: a leading 1 bit, then 0 for a left and 1 for a right operand."""
    target: Ints
    """The state of an operand; -1, -2, … for the first, second, … nonterminal that stands for operators."""


class Templates(NamedTuple):
    """Rules: left-hand side, nonterminals in the order of the text, and piece of a prefix."""

    start: int
    """The nonterminal that derivations begin with."""
    lhs: Ints
    """Nonterminal on the left-hand side of each rule."""
    rhs_starts: Ints
    """Offset in `rhs` of each rule's nonterminals."""
    rhs: Ints
    item_starts: Ints
    """Offset in `items` of each rule's piece."""
    items: Ints
    """Tokens in prefix order, with -1, -2, … for the first, second, … nonterminal of the rule's text."""
    numbers: Floats
    """Value of each item that is a number, NaN for all else."""
