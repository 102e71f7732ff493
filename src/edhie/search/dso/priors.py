"""Constraints on expressions, and the policy's priors on length and arity.

The policy is constrained by masks of the allowed next tokens, and offspring of genetic programming by a check of whole
expressions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest, SymbolLibrary
from edhie.expr.jit import jit
from edhie.search.arrays import Indices, Mask, Numbers

Tokens = NDArray[np.int16]
INVERSES = (("^2", "sqrt"), ("neg", "neg"), ("inv", "inv"))
"""Operators that are inverse to each other, besides those of the table of symbols."""


class Context(NamedTuple):
    """The input of the policy at one position of a batch; a missing parent or sibling is the library's length."""

    parent: Indices  # (rows,)
    sibling: Indices  # (rows,)
    missing: Indices  # (rows,), number of open operands, 0 for a row that has ended
    allowed: Mask  # (rows, tokens)


@dataclass(frozen=True)
class Priors:
    """Constraints and priors over a library.

    An operator is not applied to its inverse, as in log(exp(x)), nor to numbers alone; trigonometric functions are not
    nested; every expression has a variable, and its length is within limits.
    """

    library: SymbolLibrary
    min_length: int
    max_length: int
    location: float
    """Preferred length: before it the prior penalises leaves, and after it binary operators."""
    scale: float
    """Standard deviation of the prior on length."""

    # -- properties of symbols, by token; the last row of a table stands for no token ----------

    @cached_property
    def is_wave(self) -> Mask:
        """True for sin, cos and tan."""
        return np.array([symbol.period > 0 for symbol in self.library.symbols], np.bool_)

    @cached_property
    def is_number(self) -> Mask:
        """True for leaves that are not variables."""
        return np.array([symbol.arity == 0 and symbol.kind != "variable" for symbol in self.library.symbols], np.bool_)

    @cached_property
    def is_drawn(self) -> Mask:
        """True for all symbols but the generic number, which has no value of its own."""
        return np.array([symbol.kind != "number" for symbol in self.library.symbols], np.bool_)

    @cached_property
    def is_undone(self) -> Mask:
        """True at (parent, child) if they are inverse to each other."""
        ids, n = self.library.ids, len(self.library)
        pairs = [(symbol.name, symbol.undoes) for symbol in self.library.symbols] + list(INVERSES)
        table = np.zeros((n + 1, n), np.bool_)
        for a, b in pairs:
            if a in ids and b in ids:
                table[ids[a], ids[b]] = table[ids[b], ids[a]] = True
        return table

    @cached_property
    def logits(self) -> Numbers:
        """Logits added at each position, (positions, tokens).

        Leaves are unlikely before the location, and binary operators after it (the soft length prior). Apart from that,
        leaves, unary and binary operators are equally likely at the start (our choice).
        """
        arities = self.library.arities
        beyond = np.arange(self.max_length)[:, np.newaxis] - self.location
        penalty = -np.square(beyond) / (2 * self.scale**2)
        early, late = (beyond < 0) & (arities == 0), (beyond > 0) & (arities == 2)
        counts = np.bincount(arities[self.is_drawn], minlength=3)
        return np.where(early | late, penalty, 0.0) - np.log(np.maximum(counts, 1))[arities]

    # -- constraints ------------------------------------------------------------------------

    def context(self, tokens: Tokens, t: int) -> Context:
        """Return the context of position `t` in unfinished expressions, with the tokens allowed there."""
        none, arities = len(self.library), self.library.arities
        parent, sibling, missing, in_wave = contexts(tokens, t, arities, self.is_wave)
        allowed = self.is_drawn & (arities <= (self.max_length - t - missing)[:, np.newaxis])
        allowed &= ~self.is_undone[parent]  # -1 is the last row
        allowed &= ~(in_wave[:, np.newaxis] & self.is_wave)
        is_pair = np.append(arities == 2, False)[parent]
        needs_variable = ~is_pair | np.append(self.is_number, False)[sibling]
        allowed &= ~(needs_variable[:, np.newaxis] & self.is_number)
        longer = allowed & (arities > 0)
        is_short = (missing == 1) & (t + 1 < self.min_length) & longer.any(axis=1)
        allowed = np.where(is_short[:, np.newaxis], longer, allowed)
        return Context(np.where(parent < 0, none, parent), np.where(sibling < 0, none, sibling), missing, allowed)

    def are_kept(self, forest: Forest) -> Mask:
        """Return, by expression, whether it satisfies all constraints."""
        tokens, left, right = forest.tokens, forest.left, forest.right
        number = self.is_number[tokens]
        nodes = np.flatnonzero(left >= 0)
        first, second = left[nodes], np.where(right[nodes] >= 0, right[nodes], left[nodes])
        is_broken = np.zeros(len(tokens), np.bool_)
        is_broken[nodes] = number[first] & number[second]
        single = nodes[right[nodes] < 0]
        is_broken[single] |= self.is_undone[tokens[single], tokens[left[single]]]
        waves = np.append(0, np.cumsum(self.is_wave[tokens]))
        behind = np.arange(len(tokens)) + forest.subtree_sizes
        is_broken |= self.is_wave[tokens] & (waves[behind] - waves[:-1] > 1)
        is_broken[forest.offsets[:-1]] |= number[forest.offsets[:-1]]  # a number alone
        is_outside = (forest.sizes < self.min_length) | (forest.sizes > self.max_length)
        is_whole: Mask = np.bincount(forest.owners[is_broken], minlength=len(forest)) == 0
        return is_whole & ~is_outside

    # -- batches as matrices --------------------------------------------------------------------

    def as_forest(self, tokens: Tokens) -> Forest:
        """Return the expressions of a matrix of prefix tokens, (expressions, positions), padded with -1."""
        is_token = tokens >= 0
        flat = tokens[is_token]
        offsets = np.append(0, np.cumsum(is_token.sum(axis=1)))
        return Forest(self.library, flat, offsets, np.full(int(self.library.has_slot[flat].sum()), np.nan))

    def as_matrix(self, forest: Forest) -> Tokens:
        """Return the expressions as a matrix of prefix tokens, padded with -1."""
        tokens = np.full((len(forest), self.max_length), -1, np.int16)
        tokens[np.arange(self.max_length) < forest.sizes[:, np.newaxis]] = forest.tokens
        return tokens


# -- compiled: the ancestors and the sibling of the next token -------------------------


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
