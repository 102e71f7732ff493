"""Sampling within limits, and what is known without it: termination, sizes, the probability of limits."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from edhie.errors import GrammarError, GrammarWarning
from edhie.expr import Forest, SymbolLibrary
from edhie.expr.forest import TOKEN_TYPE
from edhie.grammar.rules import Rule
from edhie.grammar.tables import NONE, Floats, Ints, Tables

DEFAULT_MAX_SIZE = 256
HOPELESS = 1e-6
"""Least share of all expressions within the limits: with less, sampling would take too long."""
ENOUGH = (64, 1024)
"""Limits beyond these are computed with only where these prove hopeless; more is never less probable."""
CRITICAL = 1e-9
"""A spectral radius this close to 1 counts as 1."""


def spectral_radius(rules: Sequence[Rule]) -> float:
    """Return the spectral radius of the mean matrix: how many Bs a step of a derivation makes of an A, on average."""
    place = {name: i for i, name in enumerate(dict.fromkeys(rule.lhs for rule in rules))}
    mean = np.zeros((len(place), len(place)))
    for rule in rules:
        for name in rule.nonterminals:
            mean[place[rule.lhs], place[name]] += rule.probability
    return float(np.abs(np.linalg.eigvals(mean)).max())


def termination_probabilities(tables: Tables) -> Floats:
    """Return the probability by state that a derivation ends: the least fixed point, by Newton's method from 0.

    From 0, Newton's steps rise to the least fixed point and never pass it
    (Esparza, Kiefer and Luttenberger, SIAM J. Comput. 2010).
    """
    n, each = tables.n_states, tables.alternatives
    ends = np.zeros(n + 1)
    ends[NONE] = 1.0  # an operand that is not there ends
    for _ in range(200):
        left, right = ends[each.left], ends[each.right]
        value = np.bincount(each.state, each.probability * left * right, n)
        slope = np.zeros((n, n + 1))
        np.add.at(slope, (each.state, each.left), each.probability * right)
        np.add.at(slope, (each.state, each.right), each.probability * left)
        step = np.linalg.solve(np.eye(n) - slope[:, :-1], value - ends[:-1])
        ends[:-1] = np.minimum(ends[:-1] + step, 1.0)
        if np.abs(step).max() < 1e-14:
            break
    return ends[:-1]


def expected_size(tables: Tables) -> float:
    """Return the mean number of nodes of a subcritical grammar."""
    n, each = tables.n_states, tables.alternatives
    mean = np.zeros((n, n + 1))
    np.add.at(mean, (each.state, each.left), each.probability)
    np.add.at(mean, (each.state, each.right), each.probability)
    return float(np.linalg.solve(np.eye(n) - mean[:, :-1], np.ones(n))[tables.start])


def least_sizes(tables: Tables) -> tuple[Ints, Ints]:
    """Return the fewest nodes and the least height of a tree, by state."""
    each = tables.alternatives
    far = np.int64(1) << 60
    size, height = np.full(tables.n_states + 1, far), np.full(tables.n_states + 1, far)
    size[NONE] = height[NONE] = 0
    for _ in range(tables.n_states + 1):
        sizes = np.minimum(1 + size[each.left] + size[each.right], far)
        heights = np.minimum(1 + np.maximum(height[each.left], height[each.right]), far)
        np.minimum.at(size, each.state, sizes)
        np.minimum.at(height, each.state, heights)
    return size[:-1], height[:-1]


def size_distributions(tables: Tables, max_size: int) -> Floats:
    """Return the probability of each size from 0 to `max_size`, by state.

    Each alternative makes one node, so a tree of size k needs smaller ones alone and the
    power series follows term by term.
    """
    leaf, one, two = _by_operands(tables)
    sizes = np.zeros((tables.n_states, max_size + 1))
    if max_size >= 1:
        sizes[:, 1] = leaf
    for k in range(2, max_size + 1):
        for (state, left), p in one.items():
            sizes[state, k] += p * sizes[left, k - 1]
        for (left, right), shares in two.items():
            both = np.dot(sizes[left, 1 : k - 1], sizes[right, k - 2 : 0 : -1])
            for state, p in shares.items():
                sizes[state, k] += p * both
    return sizes


def acceptance(tables: Tables, max_height: int | None, max_size: int) -> float:
    """Return the probability that a sample is within both limits."""
    if max_height is None or max_height >= max_size:  # no tree is higher than large
        return float(size_distributions(tables, max_size)[tables.start].sum())
    leaf, one, two = _by_operands(tables)
    sizes = np.zeros((tables.n_states, max_size + 1))
    for _ in range(max_height):
        lower, sizes = sizes, np.zeros_like(sizes)
        sizes[:, 1] = leaf
        for (state, left), p in one.items():
            sizes[state, 1:] += p * lower[left, :-1]
        for (left, right), shares in two.items():
            both = np.convolve(lower[left, :-1], lower[right, :-1])[:max_size]
            for state, p in shares.items():
                sizes[state, 1:] += p * both
    return float(sizes[tables.start].sum())


Unary = Mapping[tuple[int, int], float]
Binary = Mapping[tuple[int, int], Mapping[int, float]]


def _by_operands(tables: Tables) -> tuple[NDArray[np.float64], Unary, Binary]:
    """Return probabilities of leaves by state, of (state, operand), and by pair of operands of (state)."""
    leaf = np.zeros(tables.n_states)
    one: defaultdict[tuple[int, int], float] = defaultdict(float)
    two: defaultdict[tuple[int, int], defaultdict[int, float]] = defaultdict(lambda: defaultdict(float))
    each = tables.alternatives
    columns = (each.state, each.left, each.right, each.probability)
    for state, left, right, p in zip(*(column.tolist() for column in columns), strict=True):
        if left == NONE:
            leaf[state] += p
        elif right == NONE:
            one[state, left] += p
        else:
            two[left, right][state] += p
    return leaf, one, two


class Sampler:
    """Samples from a grammar, with tables that are computed once."""

    def __init__(self, tables: Tables, ends: Floats, library: SymbolLibrary, remark: str) -> None:
        """Prepare tables; `ends` are termination probabilities by state, `remark` warns if no limits are given."""
        self.tables, self.library, self.remark = tables, library, remark
        self.ends = float(ends[tables.start])
        self.cumulative = _cumulative(tables, ends)
        self.least_size, self.least_height = least_sizes(tables)
        self.known_limits: set[tuple[int, int]] = set()

    def sample(self, n: int, rng: np.random.Generator, max_height: int | None, max_size: int | None) -> Forest:
        """Sample expressions as `PCFG.sample` does."""
        from edhie.grammar import kernels

        if not isinstance(rng, np.random.Generator):
            raise TypeError(f"rng must be a numpy Generator, such as np.random.default_rng(0), not {rng!r}")
        if n < 0:
            raise ValueError(f"cannot draw {n} expressions")
        if self.remark and max_height is None and max_size is None:
            remark, self.remark = self.remark, ""  # once is enough
            advice = f"those beyond {DEFAULT_MAX_SIZE} nodes are drawn anew; say so with max_size= or max_height="
            warnings.warn(f"{remark}; {advice}", GrammarWarning, stacklevel=3)
        size = DEFAULT_MAX_SIZE if max_size is None else max_size
        height = size if max_height is None else min(max_height, size)  # no tree is higher than large
        self.check_limits(height, size)
        each = self.tables.alternatives
        chosen, offsets = kernels.draw(
            rng, n, self.tables.start, each.starts, each.left, each.right, self.cumulative,
            self.least_size, self.least_height, size, height,
        )  # fmt: skip
        tokens = each.token[chosen].astype(TOKEN_TYPE)
        values = each.number[chosen[self.library.has_slot[tokens]]]
        return Forest(self.library, tokens, offsets, values)

    def check_limits(self, max_height: int, max_size: int) -> None:
        """Raise for limits that exclude all, or nearly all, expressions."""
        if (max_height, max_size) in self.known_limits:
            return
        size, height = self.least_size[self.tables.start], self.least_height[self.tables.start]
        if max_size < size:
            raise GrammarError(f"no expression has at most {max_size} nodes: the smallest has {size}; raise max_size")
        if max_height < height:
            raise GrammarError(f"no expression has height {max_height}: the lowest has {height}; raise max_height")
        for cap in (*ENOUGH, max_size):
            share = acceptance(self.tables, min(max_height, cap), min(max_size, cap)) / self.ends
            if share >= HOPELESS or cap >= max_size:
                break
        if share < HOPELESS:
            raise GrammarError(
                f"an expression is within max_height={max_height} and max_size={max_size} with probability "
                f"{share:.2g} only; raise the limits, or lower the probabilities of rules that grow"
            )
        self.known_limits.add((max_height, max_size))


def _cumulative(tables: Tables, ends: Floats) -> Floats:
    """Return the cumulative probabilities of each state's alternatives, given that the derivation ends.

    What is within limits has ended, so to ask for that from the outset changes nothing
    but the number of tries: of a supercritical grammar most derivations would be in vain.
    """
    each = tables.alternatives
    ends = np.append(ends, 1.0)  # for an operand that is not there, whose state is -1
    share = each.probability * ends[each.left] * ends[each.right]
    out = np.empty(len(share))
    for begin, end in zip(each.starts, each.starts[1:], strict=False):
        sums = np.cumsum(share[begin:end])
        out[begin:end] = sums / sums[-1]
        out[end - 1] = 2.0  # above any draw, whatever the rounding
    return out
