"""Enumeration of expressions in order of size, built from pieces with distinct values.

If a library has neither numbers nor constants, 1 is written as x/x or the like, and counts as one node.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from edhie.evaluate.data import Data
from edhie.expr import Forest, SymbolLibrary
from edhie.expr.splicing import Stock
from edhie.search.arrays import Indices, Kept
from edhie.search.pieces.spelling import Speller

COMMUTATIVE = ("+", "*")
LARGEST_ENUMERATED = 7  # nodes: beyond, there are more expressions than a search can screen


def written_one(library: SymbolLibrary, data: Data | None = None) -> Forest:
    """Return 1 written with variables, if the library has neither numbers nor constants; otherwise an empty forest.

    Its value is 1 on all rows of `data`; without data it is x/x.
    """
    speller = Speller(library, data)
    one = None if speller.is_free or "/" not in library else speller.one
    return Forest.from_exprs([] if one is None else [one], library)


def sizes_as_meant(forest: Forest, one: Forest | None = None) -> Indices:
    """Return sizes in which `one`, by default x/x of the first variable, counts as one node."""
    pattern = (written_one(forest.library) if one is None else one).tokens
    width, n_places = len(pattern), len(forest.tokens) - len(pattern) + 1
    if width == 0 or n_places <= 0:
        return forest.sizes
    is_one = np.zeros(len(forest.tokens), np.int64)
    is_one[:n_places] = (sliding_window_view(forest.tokens, width) == pattern).all(axis=1)
    return np.asarray(forest.sizes - (width - 1) * np.add.reduceat(is_one, forest.offsets[:-1]))


class Enumeration(Kept):
    """Enumerates the expressions of each size, built from known pieces, up to the size `largest`."""

    KEPT = ("base", "size", "place")

    def __init__(self, library: SymbolLibrary, largest: int = LARGEST_ENUMERATED, one: Forest | None = None) -> None:
        """`one` is the number 1 as `written_one` writes it; without it, as it is written without data."""
        self.library = library
        self.one = written_one(library) if one is None else one
        self.largest = largest
        self.size, self.place = 1, 0
        self.base = Forest.from_exprs([], library)

    @property
    def is_over(self) -> bool:
        """True if all sizes are done."""
        return self.size > self.largest

    def take(self, n: int, pieces: Forest) -> Forest:
        """Return the next `n` expressions at most; when a new size begins, its operands are from `pieces`."""
        found: list[Forest] = []
        while n > 0 and not self.is_over:
            level = self._leaves(n) if self.size == 1 else self._level(n)
            if len(level):
                found.append(level)
                n -= len(level)
            if n > 0:
                self.size, self.place = self.size + 1, 0
                # expressions found in this call are not among the known pieces yet
                self.base = Forest.concatenate([pieces, *found]).unique() if found else pieces
        return Forest.concatenate(found) if found else Forest.from_exprs([], self.library)

    def _leaves(self, n: int) -> Forest:
        kinds = ("variable", "literal", "constant")
        leaves = [k for k, symbol in enumerate(self.library.symbols) if symbol.kind in kinds]
        chosen = np.array(leaves[self.place : self.place + n], np.int64)
        self.place += len(chosen)
        stock = Stock(self.base)
        made = stock.join([stock.symbols(chosen)])
        made = replace(made, values=np.ones(len(made.values)))  # a constant is 1
        is_end = len(chosen) > 0 and self.place == len(leaves)
        return Forest.concatenate([made, self.one]) if is_end else made

    def _level(self, n: int) -> Forest:
        """Return the next `n` expressions of the current size at most."""
        stock, made = Stock(self.base), [self.base.take([])]
        start, stop, seen = self.place, self.place + n, 0
        for operator, operands in self._families():
            counts = [len(each) for each in operands]
            count = int(np.prod(counts))
            chosen = np.arange(max(start - seen, 0), min(stop - seen, count))
            if len(chosen):
                places = np.unravel_index(chosen, counts)  # the last operand runs fastest
                parts = [stock.trees(each[its]) for each, its in zip(operands, places, strict=True)]
                made.append(stock.join([stock.symbols(np.full(len(chosen), operator)), *parts]))
            seen += count
            if seen >= stop:
                break
        self.place = min(stop, seen)
        return Forest.concatenate(made)

    def _families(self) -> Iterator[tuple[int, list[Indices]]]:
        """Yield each operator with indices of operands whose sizes add up to the current size."""
        sizes = sizes_as_meant(self.base, self.one)
        by_size = [np.flatnonzero(sizes == s) for s in range(self.size)]
        for operator, symbol in enumerate(self.library.symbols):
            if symbol.kind != "operator":
                continue
            for operand_sizes in product(range(1, self.size), repeat=symbol.arity):
                is_twin = symbol.name in COMMUTATIVE and operand_sizes[0] < operand_sizes[-1]
                if sum(operand_sizes) == self.size - 1 and not is_twin:
                    yield operator, [by_size[each] for each in operand_sizes]
