"""Gates: which pieces may be written in a frame, since what undoes its link stands around them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.constraints import Rules
from edhie.expr import Forest
from edhie.search.mosaic.frames.frame import Frame

Mask = NDArray[np.bool_]
Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PieceFilter:
    """By token: what may not be in a piece, and not in one that is written in an exponent; None: anything may."""

    banned: Mask | None = None
    banned_in_exponents: Mask | None = None

    def pass_on(self, shares: NDArray[np.float64], forest: Forest, which: Indices, is_log: Mask) -> NDArray[np.float64]:
        """The shares of regressors, piece `which` of the forest each, 0 for those that may not be written."""
        if self.banned is None and self.banned_in_exponents is None:
            return shares
        return np.where(self._keeps_out(forest, which, is_log), 0.0, shares)

    def inside(self, forest: Forest, which: Indices, is_log: Mask) -> Indices:
        """The places of regressors that may be written."""
        return np.flatnonzero(~self._keeps_out(forest, which, is_log))

    def _keeps_out(self, forest: Forest, which: Indices, is_log: Mask) -> Mask:
        kept_out = np.zeros(len(which), np.bool_)
        if self.banned is not None:
            kept_out |= _has_any(forest, self.banned)[which]
        if self.banned_in_exponents is not None:
            kept_out |= _has_any(forest, self.banned_in_exponents)[which] & ~is_log
        return kept_out


OPEN = PieceFilter()


def gate_of(frame: Frame, rules: Rules | None) -> PieceFilter:
    """The gate to a frame: its link is undone around all of it, and in a product terms stand in an exponent."""
    if rules is None:
        return OPEN
    head = ["/" if name == "1/" else name for name in frame.link.head]
    exponent = rules.banned_within(["exp"]) if frame.block.is_product else None
    return PieceFilter(rules.banned_within(head), exponent)


def _has_any(forest: Forest, tokens: Mask) -> Mask:
    """By expression: whether it has one of these tokens."""
    if len(forest) == 0:
        return np.zeros(0, np.bool_)
    found: Mask = np.logical_or.reduceat(tokens[forest.tokens], forest.offsets[:-1])
    return found
