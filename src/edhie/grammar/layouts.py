"""The arrays that a grammar's kernels take.

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
    """The alternatives, state by state and in each the most probable first; kernels take it whole."""

    starts: Ints
    """By state: where its alternatives begin."""
    state: Ints
    token: Ints
    number: Floats
    """The value of a number, NaN for other tokens."""
    left: Ints
    """The state of the first operand, NONE for leaves."""
    right: Ints
    probability: Floats
    """Over all derivations."""
    total: Floats
    """The logarithm of that."""
    best: Floats
    """The logarithm of the best derivation's."""
    by_token_starts: Ints
    """By token, and for one past the last that stands for all unknown ones."""
    by_token: Ints
    """Alternatives sorted by token."""


class Trees(NamedTuple):
    """By node: token, a number's value, left and right operand; and where each tree begins."""

    tokens: NDArray[np.int16]
    """In the grammar's library; its length stands for symbols that it lacks."""
    numbers: Floats
    left: Ints
    right: Ints
    offsets: Ints


class Spelling(NamedTuple):
    """How a tree's derivation is spelled: rows of rules, then what the last rule of a row holds."""

    rule_starts: Ints
    """By row; rows are alternatives, then chains of operator rules."""
    rules: Ints
    operator_rows: NDArray[np.int64]
    """By nonterminal that stands for operators and token: its row."""
    slot_starts: Ints
    """By rule: where its nonterminals begin in `path` and `target`, in the order of its text."""
    path: Ints
    """From the pattern's root down: a leading 1 bit, then 0 for a left and 1 for a right operand."""
    target: Ints
    """The state of an operand; -1, -2, … for the first, second, … nonterminal that stands for operators."""
