"""Frames: linear models of the transformed target, in which pieces are screened in closed form.

The model: a function of the target, its link, times powers of the variables, is a linear combination of free columns,
fixed terms and one more piece; in a product, its logarithm is. The share of the residual sum of squares that the piece
explains is a squared partial correlation, so one matrix product screens thousands of pieces in all frames over the same
free columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from edhie.expr import Forest, SymbolLibrary
from edhie.search.arrays import Indices, Mask, Numbers
from edhie.search.mosaic.config import Columns, Opening
from edhie.search.mosaic.frames.free_columns import FreeColumns, blocks


@dataclass(frozen=True)
class Link:
    """An invertible function of the target."""

    name: str
    head: tuple[str, ...]
    """The operators of the inverse, the outermost first; `1/` is a reciprocal."""
    apply: Callable[[Numbers], Numbers]
    undo: Callable[[Numbers], Numbers]
    slope: Callable[[Numbers], Numbers]
    """The derivative."""
    domain: Callable[[Numbers], Mask]
    """By value: whether the link is invertible there."""
    is_even: bool = False
    """True if the sign of the target is lost; it then has to be the same in all rows."""

    def is_writable(self, library: SymbolLibrary) -> bool:
        """Return whether a library has the operators of the inverse."""
        return all(("/" if name == "1/" else name) in library for name in self.head)

    def holds(self, y: Numbers) -> bool:
        """Return whether the link is invertible on all of these values."""
        return bool(self.domain(y).all())


def _one_sign(y: Numbers) -> Mask:
    return np.asarray(y > 0 if (y > 0).sum() >= (y < 0).sum() else y < 0)


def _within(low: float, high: float) -> Callable[[Numbers], Mask]:
    return lambda y: np.asarray((y >= low) & (y <= high))


IDENTITY = Link("y", (), lambda y: y, lambda t: t, np.ones_like, lambda y: np.ones(len(y), np.bool_))
LINKS = (
    IDENTITY,
    Link("1/y", ("1/",), lambda y: 1 / y, lambda t: 1 / t, lambda y: -1 / y**2, lambda y: y != 0),
    Link("y^2", ("sqrt",), np.square, np.sqrt, lambda y: 2 * y, _one_sign, is_even=True),
    Link("1/y^2", ("1/", "sqrt"), lambda y: 1 / y**2, lambda t: 1 / np.sqrt(t), lambda y: -2 / y**3, _one_sign, True),
    Link("sqrt(y)", ("^2",), np.sqrt, np.square, lambda y: 0.5 / np.sqrt(y), lambda y: y > 0),
    Link("exp(y)", ("log",), np.exp, np.log, np.exp, _within(-Opening.LARGEST_EXPONENT, Opening.LARGEST_EXPONENT)),
    Link("sin(y)", ("asin",), np.sin, np.arcsin, np.cos, _within(-np.pi / 2, np.pi / 2)),
    Link("cos(y)", ("acos",), np.cos, np.arccos, lambda y: -np.sin(y), _within(0.0, np.pi)),
    Link("tan(y)", ("atan",), np.tan, np.arctan, lambda y: 1 / np.cos(y) ** 2, _within(-1.57, 1.57)),
)


def usable_links(y: Numbers, library: SymbolLibrary) -> list[Link]:
    """Return the links that are invertible on the target's values, and whose inverses a library can write."""
    return [link for link in LINKS if link.is_writable(library) and link.holds(y)]


@dataclass(frozen=True, eq=False)
class Term:
    """A piece as a term of a frame; in a product, the term may be the piece's logarithm."""

    piece: Forest  # of one expression
    values: Numbers
    is_log: bool

    def regressor(self, free: FreeColumns) -> Numbers:
        """Return its values, or their logarithms, times the row scale."""
        with np.errstate(all="ignore"):
            return (np.log(np.abs(self.values)) if self.is_log else self.values) * free.row_scale


@dataclass(frozen=True, eq=False)
class Frame:
    """A linear model of the transformed target."""

    link: Link
    free: FreeColumns
    scale: tuple[int, ...]
    """By variable: the exponent of the variable in the factor of the linked target."""
    target: Numbers
    """The linked target times its factor, by row; its logarithm in a product."""
    sign: float
    """The sign of the target, if the link is even; in a product, that of the linked target in the first row."""
    terms: tuple[Term, ...] = ()
    """Fixed terms, fitted along with the free columns."""
    around: tuple[str, Forest] | None = None
    """`+` or `*`, and a guess whose residual or ratio is the target; None for the target itself."""
    total: float | None = None
    """The total sum of squares to which shares refer; None for that of the frame's own target about its mean."""

    @property
    def key(self) -> tuple[object, ...]:
        """A key that is different for different frames."""
        terms = [(each.piece.tokens.tobytes(), each.piece.values.tobytes(), each.is_log) for each in self.terms]
        return (self.link.name, self.free.is_product, id(self.free), self.scale, tuple(terms))

    @cached_property
    def directions(self) -> Numbers:
        """(rank, rows): an orthonormal basis of the terms' residuals after the free columns."""
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
        """The residuals of the target after free columns and terms, times the row scale."""
        rest = self.free.without(self.target * self.free.row_scale)
        for _ in range(2):
            rest = rest - (rest @ self.directions.T) @ self.directions
        return rest

    @cached_property
    def unexplained(self) -> float:
        """The residual sum of squares, as a share of the total; 0 for a constant target."""
        if self.total is not None:
            return float(self.residual @ self.residual) / self.total if self.total > 0 else 0.0
        scaled, ones = self.target * self.free.row_scale, self.free.row_scale
        about = scaled - ones * (scaled @ ones) / (ones @ ones)
        total = float(about @ about)
        is_constant = total <= Opening.ROUNDING * float(scaled @ scaled)
        return 0.0 if is_constant else float(self.residual @ self.residual) / total

    def with_term(self, term: Term) -> Frame:
        """Return this frame with one more fixed term."""
        return replace(self, terms=(*self.terms, term))


def screen(pieces: Numbers, free: FreeColumns, frames: Sequence[Frame]) -> tuple[Indices, Mask, Numbers]:
    """Screen pieces, given by their values (pieces, rows), in frames over the same free columns.

    Return, for each regressor, the index of its piece, whether it is the piece's logarithm, and its `shares_of`.
    """
    parts = []
    for block in blocks(*pieces.shape):  # each fits into the cache
        regressors, which, is_log = free.regressors(pieces[block])
        parts.append((which + block.start, is_log, shares_of(*free.residuals(regressors), frames)))
    which, is_log, shares = map(np.concatenate, zip(*parts, strict=True))
    order = np.argsort(is_log, kind="stable")
    return which[order], is_log[order], shares[order]


def shares_of(rest: Numbers, squares: Numbers, frames: Sequence[Frame]) -> Numbers:
    """Return (regressors, frames): the share of each frame's residual sum of squares that each regressor explains.

    `rest` and `squares` are the regressors' residuals after the free columns, and their squared norms.
    """
    targets = np.stack([frame.residual for frame in frames])
    dots, lefts = rest @ targets.T, np.array([target @ target for target in targets])
    squares = squares[:, np.newaxis]
    own = np.repeat(squares, len(frames), axis=1)
    with np.errstate(all="ignore"):
        for k, frame in enumerate(frames):
            if frame.terms:
                own[:, k] -= np.square(rest @ frame.directions.T).sum(axis=1)
        found = np.square(dots) / (own * lefts)
    # if the terms explain the regressor, the quotient is rounding
    found = np.where((own > 1e-9 * squares) & (squares > 0) & np.isfinite(found), found, 0.0)
    return np.minimum(found, 1.0)
