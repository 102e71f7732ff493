"""Frames: ways of looking at the target in which a piece is screened in closed form.

A frame says that a function of the target, times powers of the variables, is a sum of free columns, of terms that are
fixed, and of one piece more; or that its logarithm is. The share of the residual that the piece explains is a squared
correlation, so one product of matrices screens thousands of pieces in all frames over the same free columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from edhie.expr import Forest
from edhie.search.arrays import Indices, Mask, Numbers
from edhie.search.mosaic.config import Columns, Opening
from edhie.search.mosaic.frames.free_columns import FreeColumns, blocks
from edhie.search.mosaic.frames.links import Link


@dataclass(frozen=True, eq=False)
class Term:
    """A piece in a frame, by itself or, in a product, as its logarithm."""

    piece: Forest  # of one expression
    values: Numbers
    is_log: bool

    def regressor(self, free: FreeColumns) -> Numbers:
        """Return its values, or their logarithms, with rows scaled."""
        with np.errstate(all="ignore"):
            return (np.log(np.abs(self.values)) if self.is_log else self.values) * free.row_scale


@dataclass(frozen=True, eq=False)
class Frame:
    """One way of looking at the target."""

    link: Link
    free: FreeColumns
    scale: tuple[int, ...]
    """By variable: the power that the target, through its link, is multiplied with."""
    target: Numbers
    """The linked and scaled target, row by row; its logarithms in a product."""
    sign: float
    """The sign of the target, where the link loses it; in a product, that of the linked target in the first row."""
    terms: tuple[Term, ...] = ()
    """Pieces that are fixed; others are looked for beside them."""
    around: tuple[str, Forest] | None = None
    """An operator and a guess to put before what the frame says; the target is the guess' residual or ratio."""
    total: float | None = None
    """The sum of squares that shares refer to; None for that of the frame's own target about its mean."""

    @property
    def key(self) -> tuple[object, ...]:
        """The key that identifies it among others."""
        terms = [(each.piece.tokens.tobytes(), each.piece.values.tobytes(), each.is_log) for each in self.terms]
        return (self.link.name, self.free.is_product, id(self.free), self.scale, tuple(terms))

    @cached_property
    def directions(self) -> Numbers:
        """(terms, rows): orthonormal, the part of the terms that the free columns do not span."""
        found: list[Numbers] = []
        for each in self.terms:
            regressor = each.regressor(self.free)
            row = self.free.without(regressor)
            for other in found:
                row = row - (row @ other) * other
            norm = float(np.linalg.norm(row))
            if norm > Columns.INDEPENDENT * float(np.linalg.norm(regressor)):
                found.append(row / norm)
        return np.array(found).reshape(len(found), len(self.target))

    @cached_property
    def residual(self) -> Numbers:
        """The residual of the target after free columns and terms, with rows scaled."""
        rest = self.free.without(self.target * self.free.row_scale)
        for _ in range(2):
            rest = rest - (rest @ self.directions.T) @ self.directions
        return rest

    @cached_property
    def unexplained(self) -> float:
        """The square of the residual, as a share of that about the mean."""
        if self.total is not None:
            return float(self.residual @ self.residual) / self.total if self.total > 0 else 0.0
        scaled, ones = self.target * self.free.row_scale, self.free.row_scale
        about = scaled - ones * (scaled @ ones) / (ones @ ones)
        total = float(about @ about)
        is_constant = total <= Opening.ROUNDING * float(scaled @ scaled)
        return 0.0 if is_constant else float(self.residual @ self.residual) / total

    def with_term(self, term: Term) -> Frame:
        """Return this frame with one more term that is fixed."""
        return replace(self, terms=(*self.terms, term))


def screen(pieces: Numbers, free: FreeColumns, frames: Sequence[Frame]) -> tuple[Indices, Mask, Numbers]:
    """Screen pieces, given by their values, in frames over the same free columns.

    Return by regressor its piece, whether it is the piece's logarithm, and the shares as of `shares_of`.
    """
    parts = []
    for block in blocks(*pieces.shape):  # each fits into the cache
        regressors, which, is_log = free.regressors(pieces[block])
        parts.append((which + block.start, is_log, shares_of(*free.residuals(regressors), frames)))
    which, is_log, shares = map(np.concatenate, zip(*parts, strict=True))
    order = np.argsort(is_log, kind="stable")
    return which[order], is_log[order], shares[order]


def shares_of(rest: Numbers, squares: Numbers, frames: Sequence[Frame]) -> Numbers:
    """Return (regressors, frames): the share of each frame's residual that each regressor's own part explains."""
    targets = np.stack([frame.residual for frame in frames])
    dots, lefts = rest @ targets.T, np.array([target @ target for target in targets])
    squares = squares[:, np.newaxis]
    own = np.repeat(squares, len(frames), axis=1)
    with np.errstate(all="ignore"):
        for k, frame in enumerate(frames):
            if frame.terms:
                own[:, k] -= np.square(rest @ frame.directions.T).sum(axis=1)
        found = np.square(dots) / (own * lefts)
    # where hardly anything of its own is left, the quotient is rounding
    found = np.where((own > 1e-9 * squares) & (squares > 0) & np.isfinite(found), found, 0.0)
    return np.minimum(found, 1.0)
