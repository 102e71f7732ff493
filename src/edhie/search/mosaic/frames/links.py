"""Links: invertible functions of the target. A target that is complicated in y may be simple in 1/y or sin(y)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from edhie.expr import SymbolLibrary
from edhie.search.arrays import Mask, Numbers
from edhie.search.mosaic.config import Opening


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
