"""Expressions in order of size, built from pieces that behave differently.

Where numbers cannot be written, 1 is x/x or the like, and counts as one node: it is meant as one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from edhie.evaluate.data import Data
from edhie.expr import Expr, Forest, SymbolLibrary
from edhie.search.pieces.spelling import first_over_itself, one_on
from edhie.search.pieces.splicing import Part, Stock

COMMUTATIVE = ("+", "*")
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Family:
    """An operator over all operands of certain sizes."""

    operator: int
    operands: tuple[Indices, ...]

    def __len__(self) -> int:
        return math.prod(len(each) for each in self.operands)

    def members(self, places: Indices) -> tuple[Indices, ...]:
        """The operands of the members at these places; the last one runs fastest."""
        if len(self.operands) == 1:
            return (self.operands[0][places],)
        left, right = self.operands
        return left[places // len(right)], right[places % len(right)]


def written_one(library: SymbolLibrary, data: Data | None = None) -> Forest:
    """1 where it can only be written with variables: so that it is one on all rows of `data`, without them x/x."""
    is_spelled = library.constant is None and not library.has_numbers and "/" in library
    words = first_over_itself(library) if data is None else one_on(data, library)
    return Forest.from_exprs([Expr.trusted(library, words.tokens, ())] if is_spelled and words else [], library)


def sizes_as_meant(forest: Forest, one: Forest | None = None) -> Indices:
    """Sizes in which `one`, by default x/x of the first variable, counts as one node."""
    pattern = (written_one(forest.library) if one is None else one).tokens
    width, n_places = len(pattern), len(forest.tokens) - len(pattern) + 1
    if width == 0 or n_places <= 0:
        return forest.sizes
    is_one = np.zeros(len(forest.tokens), np.int64)
    is_one[:n_places] = (sliding_window_view(forest.tokens, width) == pattern).all(axis=1)
    sizes: Indices = forest.sizes - (width - 1) * np.add.reduceat(is_one, forest.offsets[:-1])
    return sizes


class Enumeration:
    """Goes through all expressions of one size, made of known pieces, before those of the next."""

    def __init__(self, library: SymbolLibrary, largest: int, one: Forest | None = None) -> None:
        """`one` is how 1 is written: none or one expression, by default x/x where numbers cannot be written."""
        self.library = library
        self.one = written_one(library) if one is None else one
        self.largest = largest
        self.size = 1
        self.place = 0
        self.base = Forest.from_exprs([], library)

    @property
    def is_over(self) -> bool:
        """Whether all sizes are done."""
        return self.size > self.largest

    def take(self, n: int, pieces: Forest) -> Forest:
        """The next `n` at most; `pieces` are what those of the next size are made of."""
        found = []
        while n > 0 and not self.is_over:
            level = self._level(n)
            if len(level):
                found.append(level)
                n -= len(level)
            if n > 0:
                self.size += 1
                self.place = 0
                self.base = pieces if not found else self._with_known(pieces, found)
        return Forest.concatenate(found) if found else Forest.from_exprs([], self.library)

    def _with_known(self, pieces: Forest, found: list[Forest]) -> Forest:
        """Pieces, and what was found in this round, which nobody has looked at yet."""
        return Forest.concatenate([pieces, *found]).unique()

    def _level(self, n: int) -> Forest:
        """The next expressions of the present size."""
        if self.size == 1:
            kinds = ("variable", "literal", "constant")
            leaves = [k for k, symbol in enumerate(self.library.symbols) if symbol.kind in kinds]
            chosen = np.array(leaves[self.place : self.place + n], np.int64)
            is_end = len(chosen) > 0 and self.place + len(chosen) == len(leaves)
            stock = Stock(self.base)
            self.place += len(chosen)
            made = stock.join([stock.symbols(chosen)]) if len(chosen) else self.base.take([])
            made = Forest(self.library, made.tokens, made.offsets, np.ones(len(made.values)))  # a constant is 1
            return Forest.concatenate([made, self.one]) if is_end else made
        stock, parts = Stock(self.base), []
        start, stop, seen = self.place, self.place + n, 0
        for family in self._families():
            low, high = max(start - seen, 0), min(stop - seen, len(family))
            if low < high:
                parts.append(self._join(stock, family.operator, family.members(np.arange(low, high))))
            seen += len(family)
            if seen >= stop:
                break
        self.place = min(stop, seen)
        return Forest.concatenate(parts) if parts else self.base.take([])

    def _families(self) -> Iterator[Family]:
        """All expressions of the present size, by operator and sizes of its operands."""
        sizes = sizes_as_meant(self.base, self.one)
        by_size = [np.flatnonzero(sizes == s) for s in range(self.size)]
        for operator, symbol in enumerate(self.library.symbols):
            if symbol.kind != "operator":
                continue
            if symbol.arity == 1:
                yield Family(operator, (by_size[self.size - 1],))
                continue
            for left_size in range(1, self.size - 1):
                right_size = self.size - 1 - left_size
                if symbol.name not in COMMUTATIVE or left_size >= right_size:
                    yield Family(operator, (by_size[left_size], by_size[right_size]))

    def _join(self, stock: Stock, operator: int, operands: tuple[Indices, ...]) -> Forest:
        n = len(operands[0])
        parts: list[Part] = [stock.symbols(np.full(n, operator))]
        parts += [stock.trees(each) for each in operands]
        return stock.join(parts)
