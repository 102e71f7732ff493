"""Links: functions of the target that can be undone. What is hard to see in y may be plain in 1/y, or in sin y."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from edhie.expr import SymbolLibrary
from edhie.search.arrays import Mask, Numbers
from edhie.search.mosaic.config import Opening


@dataclass(frozen=True)
class Link:
    """A function of the target, and the way back."""

    name: str
    head: tuple[str, ...]
    """The operators that undo it, the outermost first; `1/` is a division."""
    apply: Callable[[Numbers], Numbers]
    undo: Callable[[Numbers], Numbers]
    slope: Callable[[Numbers], Numbers]
    """Its derivative: the factor by which it scales an error of the target."""
    domain: Callable[[Numbers], Mask]
    """By value: whether the link can be undone there."""
    is_even: bool = False
    """True if it loses the sign of the target, which then has to be the same everywhere."""

    def is_writable(self, library: SymbolLibrary) -> bool:
        """Return whether a library has the operators that undo it."""
        return all(("/" if name == "1/" else name) in library for name in self.head)

    def holds(self, y: Numbers) -> bool:
        """Return whether it can be undone on all of these values."""
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
    """Return the links that hold on the target's values and can be undone with a library's symbols."""
    return [link for link in LINKS if link.is_writable(library) and link.holds(y)]
