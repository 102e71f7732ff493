"""Sampling of expressions from a grammar, within limits."""

from __future__ import annotations

import warnings

import numpy as np

from edhie.errors import GrammarError, GrammarWarning
from edhie.expr import Forest, SymbolLibrary
from edhie.expr.forest import TOKEN_TYPE
from edhie.grammar import analysis
from edhie.grammar.tables import Floats, Tables

DEFAULT_MAX_SIZE = 256
HOPELESS = 1e-6
"""Least share of all expressions within the limits: with less, sampling would take too long."""
ENOUGH = (64, 1024)
"""Limits beyond these are computed with only where these prove hopeless; more is never less probable."""


class Sampler:
    """Samples from a grammar, with tables that are computed once."""

    def __init__(self, tables: Tables, ends: Floats, library: SymbolLibrary, remark: str) -> None:
        """Prepare tables; `ends` are termination probabilities by state, `remark` warns if no limits are given."""
        self.tables, self.library, self.remark = tables, library, remark
        self.ends = float(ends[tables.start])
        self.cumulative = _cumulative(tables, ends)
        self.least_size, self.least_height = analysis.least_sizes(tables)
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
            share = analysis.acceptance(self.tables, min(max_height, cap), min(max_size, cap)) / self.ends
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
