"""Frames: ways of looking at the target in which a piece is weighed in closed form.

A frame says that a function of the target, times powers of the variables, is a sum of free columns, of
pieces that are laid, and of one piece more; or that its logarithm is. How much of what is left the one
piece explains is a squared correlation, so a product of matrices weighs thousands in all frames at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest
from edhie.search.mosaic.frames.free_columns import INDEPENDENT, FreeColumns
from edhie.search.mosaic.frames.links import Link

Numbers = NDArray[np.float64]
ROUNDING = 1e-29  # of a target's squares: less about the mean is none


@dataclass(frozen=True, eq=False)
class Laid:
    """A piece that stays in a frame."""

    piece: Forest  # of one expression
    values: Numbers
    is_log: bool


@dataclass(frozen=True, eq=False)
class Frame:
    """One way of looking at the target."""

    link: Link
    block: FreeColumns
    scale: tuple[int, ...]
    """By variable: the power that the target, through its link, is multiplied with."""
    target: Numbers
    """What is to be explained, row by row: logarithms in a product."""
    sign: float
    """The target's, where the link has lost it; in a product that of the linked target in the first row."""
    laid: tuple[Laid, ...] = ()
    around: tuple[str, Forest] | None = None
    """An operator and a guess that stand before what the frame says; the target is what the guess leaves."""
    total: float | None = None
    """The sum of squares that shares are of; None for what a constant leaves of the frame's own target."""

    @property
    def key(self) -> tuple[object, ...]:
        """What tells it from others."""
        return (self.link.name, self.block.is_product, id(self.block), self.scale, tuple(map(_laid_key, self.laid)))

    @cached_property
    def directions(self) -> Numbers:
        """(laid, rows): orthonormal, what the laid pieces add to the block."""
        found: list[Numbers] = []
        for each in self.laid:
            regressor = laid_regressor(each, self.block)
            row = self.block.without(regressor)
            for other in found:
                row = row - (row @ other) * other
            norm = float(np.linalg.norm(row))
            if norm > INDEPENDENT * float(np.linalg.norm(regressor)):
                found.append(row / norm)
        return np.array(found).reshape(len(found), len(self.target))

    @cached_property
    def residual(self) -> Numbers:
        """What the block and the laid pieces leave of the target, with rows scaled."""
        rest = self.block.without(self.target * self.block.row_scale)
        for _ in range(2):
            rest = rest - (rest @ self.directions.T) @ self.directions
        return rest

    @cached_property
    def unexplained(self) -> float:
        """The square of the residual, as a share of what a constant leaves."""
        if self.total is not None:
            return float(self.residual @ self.residual) / self.total if self.total > 0 else 0.0
        scaled, ones = self.target * self.block.row_scale, self.block.row_scale
        about = scaled - ones * (scaled @ ones) / (ones @ ones)
        total = float(about @ about)
        is_constant = total <= ROUNDING * float(scaled @ scaled)
        return 0.0 if is_constant else float(self.residual @ self.residual) / total

    def with_laid(self, laid: Laid) -> Frame:
        """This frame with one piece more that stays."""
        return replace(self, laid=(*self.laid, laid))


def _laid_key(laid: Laid) -> tuple[object, ...]:
    return laid.piece.tokens.tobytes(), laid.piece.values.tobytes(), laid.is_log


def laid_regressor(laid: Laid, block: FreeColumns) -> Numbers:
    """A laid piece as a scaled row."""
    with np.errstate(all="ignore"):
        return (np.log(np.abs(laid.values)) if laid.is_log else laid.values) * block.row_scale


@dataclass(frozen=True, eq=False)
class Weighed:
    """What pieces are worth in the frames of one block."""

    which: NDArray[np.int64]
    """By regressor: the piece."""
    is_log: NDArray[np.bool_]
    """By regressor: whether it is the piece's logarithm."""
    shares: Numbers
    """(regressors, frames): the share of the residual that it explains."""


def weigh(pieces: Numbers, block: FreeColumns, frames: Sequence[Frame]) -> Weighed:
    """Weigh pieces, given by their values, in frames over one block."""
    regressors, which, is_log = block.regressors(pieces)
    rest, squares = block.residuals(regressors)
    return Weighed(which, is_log, shares_of(rest, squares, frames))


def shares_of(rest: Numbers, squares: Numbers, frames: Sequence[Frame]) -> Numbers:
    """(regressors, frames): the share of each frame's residual that each regressor's own part explains."""
    targets = np.stack([frame.residual for frame in frames])
    dots = rest @ targets.T
    shares = np.zeros_like(dots)
    for k, frame in enumerate(frames):
        left = float(targets[k] @ targets[k])
        with np.errstate(all="ignore"):
            own = squares - np.square(rest @ frame.directions.T).sum(axis=1) if frame.laid else squares
            found = np.square(dots[:, k]) / (own * left)
        # where hardly anything of its own is left, the quotient is rounding
        shares[:, k] = np.where((own > 1e-9 * squares) & (squares > 0) & np.isfinite(found), found, 0.0)
    return np.minimum(shares, 1.0)
