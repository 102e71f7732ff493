"""Changes to expression trees, as genetic programming makes them: whole batches of children at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Forest, SymbolLibrary
from edhie.search.splicing import Part, Stock

Indices = NDArray[np.int64]
JOINERS = ("*", "/", "+", "-")


@dataclass(frozen=True)
class Chances:
    """How often each kind of change is tried; they need not add up to one."""

    replace: float = 0.12
    """A subtree gives way to another's."""
    join: float = 0.44
    """A subtree is joined with another by an operator of two operands."""
    wrap: float = 0.12
    """A subtree becomes the operand of an operator of one."""
    point: float = 0.14
    """One symbol becomes another of as many operands."""
    hoist: float = 0.06
    """A subtree becomes the whole."""
    shrink: float = 0.12
    """An operator gives way to one of its operands."""
    leaf: float = 0.6
    """Of subtrees that come in, the share that are single leaves."""
    jitter: float = 0.5
    """Of children with constants, the share whose constants are moved a little."""


def children(
    parents: Forest,
    donors: Forest,
    n: int,
    rng: np.random.Generator,
    *,
    chances: Chances = Chances(),  # noqa: B008
) -> Forest:
    """`n` changed copies of parents drawn at random; subtrees that come in are of `donors`.

    Both forests are over one library. A kind of change that the library has no symbol for leaves a copy.
    """
    stock = Stock(Forest.concatenate([parents, donors]))
    library = parents.library
    which = rng.integers(0, len(parents), n)
    node = parents.offsets[which] + (rng.random(n) * parents.sizes[which]).astype(np.int64)
    before = Part(parents.offsets[which], node - parents.offsets[which])
    here = stock.subtrees(node)
    behind = Part(node + here.length, parents.offsets[which + 1] - node - here.length)
    coming = _coming_in(stock, len(parents.tokens), n, rng, chances.leaf)
    kinds = _Kinds(library)
    parts = [Part(part.start.copy(), part.length.copy()) for part in (before, here, behind, here, here)]
    for part in parts[3:]:
        part.length[:] = 0
    weights = np.array([chances.replace, chances.join, chances.wrap, chances.point, chances.hoist, chances.shrink])
    kind = rng.choice(6, size=n, p=weights / weights.sum())
    joiner = stock.symbols(kinds.joiners[rng.integers(0, len(kinds.joiners), n)]) if len(kinds.joiners) else None
    wrapper = stock.symbols(kinds.unary[rng.integers(0, len(kinds.unary), n)]) if len(kinds.unary) else None
    is_left = rng.random(n) < 0.3
    _put(parts, kind == 0, [before, coming, behind])
    if joiner is not None:
        _put(parts, (kind == 1) & is_left, [before, joiner, coming, here, behind])
        _put(parts, (kind == 1) & ~is_left, [before, joiner, here, coming, behind])
    if wrapper is not None:
        _put(parts, kind == 2, [before, wrapper, here, behind])
    other = kinds.another(stock.tokens[node], rng)
    _put(parts, kind == 3, [before, stock.symbols(other), Part(here.start + 1, here.length - 1), behind])
    _put(parts, kind == 4, [here])
    _put(parts, kind == 5, [before, _operand(stock, node, rng), behind])
    return _with_moved_constants(stock.join(parts), rng, chances.jitter)


class _Kinds:
    """A library's symbols by number of operands."""

    def __init__(self, library: SymbolLibrary) -> None:
        drawable = np.array([symbol.kind != "number" for symbol in library.symbols])
        of = [np.flatnonzero((library.arities == arity) & drawable) for arity in (0, 1, 2)]
        self.leaves, self.unary, self.binary = of
        self.joiners = np.array([library.ids[name] for name in JOINERS if name in library], np.int64)
        self._by_arity = of
        self._arities = library.arities

    def another(self, tokens: NDArray[np.int16], rng: np.random.Generator) -> Indices:
        """For each symbol one with as many operands."""
        found = tokens.astype(np.int64)
        for arity, choices in enumerate(self._by_arity):
            at = np.flatnonzero(self._arities[tokens] == arity)
            if len(choices):
                found[at] = choices[rng.integers(0, len(choices), len(at))]
        return found


def _coming_in(stock: Stock, first_donor: int, n: int, rng: np.random.Generator, leaf: float) -> Part:
    """Subtrees to come in: single leaves, or any of the donors'."""
    library = stock.forest.library
    leaves = _Kinds(library).leaves
    single = stock.symbols(leaves[rng.integers(0, len(leaves), n)])
    any_part = stock.subtrees(rng.integers(first_donor, len(stock.forest.tokens), n))
    is_single = rng.random(n) < leaf
    return Part(np.where(is_single, single.start, any_part.start), np.where(is_single, single.length, any_part.length))


def _operand(stock: Stock, node: Indices, rng: np.random.Generator) -> Part:
    """One of a node's operands; a leaf itself."""
    left, right = stock.forest.left[node], stock.forest.right[node]
    chosen = np.where((right >= 0) & (rng.random(len(node)) < 0.5), right, left)
    return stock.subtrees(np.where(chosen >= 0, chosen, node))


def _put(parts: list[Part], where: NDArray[np.bool_], pieces: list[Part]) -> None:
    for k, part in enumerate(parts):
        if k < len(pieces):
            part.start[where] = pieces[k].start[where]
            part.length[where] = pieces[k].length[where]
        else:
            part.length[where] = 0


def _with_moved_constants(forest: Forest, rng: np.random.Generator, share: float) -> Forest:
    """Constants without a value get one at random; of the others a share is moved a little."""
    is_constant = np.array([symbol.kind == "constant" for symbol in forest.library.symbols])
    slots = forest.tokens[forest.library.has_slot[forest.tokens]]
    at = np.flatnonzero(is_constant[slots]) if len(slots) else np.zeros(0, np.int64)
    if len(at) == 0:
        return forest
    values = forest.values.copy()
    old = values[at]
    fresh = np.exp(rng.normal(0, 1.0, len(at))) * np.where(rng.random(len(at)) < 0.2, -1, 1)
    moved = old * np.where(rng.random(len(at)) < share, np.exp(rng.normal(0, 0.2, len(at))), 1)
    values[at] = np.where(np.isnan(old), fresh, moved)
    return Forest(forest.library, forest.tokens, forest.offsets, values)
