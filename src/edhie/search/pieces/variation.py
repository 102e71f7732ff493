"""Mutation and crossover of expression trees, as in genetic programming, for whole batches at once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.constants.jacobian import constants_among_values
from edhie.expr import Forest, SymbolLibrary
from edhie.expr.splicing import Part, Stock
from edhie.search.arrays import Indices, Mask, Numbers

JOINERS = ("*", "/", "+", "-")  # the most likely first: most often a factor is missing
PLAIN, PLAIN_CHANCES = (1.0, 2.0, 0.5, 3.0, np.pi, 2 * np.pi), (0.54, 0.18, 0.12, 0.06, 0.06, 0.04)
PLAIN_SHARE = 0.92  # of new constants; the others are log-normal
MOVES = (-4.0, 0.0)  # range of log10 of the relative step of a constant
LEAST_LIKELY = 0.2  # share of the mean frequency that is added to that of every symbol


@dataclass(frozen=True)
class Chances:
    """Relative frequencies of the kinds of mutation, from `replace` to `shrink`, and probabilities within them."""

    replace: float = 0.12
    """A subtree is replaced by a new one (crossover with a donor, or a leaf)."""
    join: float = 0.44
    """A subtree is joined with a new one by a binary operator."""
    wrap: float = 0.12
    """A unary operator is applied to a subtree."""
    point: float = 0.14
    """One symbol is replaced by another of the same arity."""
    hoist: float = 0.06
    """A subtree becomes the whole expression."""
    shrink: float = 0.12
    """An operator is replaced by one of its operands."""
    leaf: float = 0.6
    """The share of new subtrees that are single leaves."""
    jitter: float = 0.5
    """The share of constants that are perturbed."""
    loosen: float = 0.05
    """The same for constants that are plain numbers."""


def likely_symbols(frequencies: Numbers) -> Numbers:
    """Return the weight of each symbol in mutations, by token, from its frequency in a generator's samples."""
    return np.asarray(frequencies + LEAST_LIKELY * frequencies.mean())


def children(
    parents: Forest,
    donors: Forest,
    rng: np.random.Generator,
    *,
    likely: Numbers | None = None,
    chances: Chances = Chances(),  # noqa: B008 -- frozen
) -> Forest:
    """Return one offspring of each parent, by mutation or crossover with a subtree of `donors`.

    Both forests are over one library. `likely` has the weights of new symbols, by token; by default all are equal. A
    mutation for which the library has no symbol returns a copy.
    """
    if len(parents) == 0:
        return parents
    n, library = len(parents), parents.library
    donors = donors if len(donors) else parents
    symbols = _Symbols(library, np.ones(len(library)) if likely is None else likely)
    stock = Stock(Forest.concatenate([parents, donors]))
    node = parents.offsets[:-1] + (rng.random(n) * parents.sizes).astype(np.int64)
    before, here, behind = stock.around(node)
    coming = _coming_in(stock, symbols, len(parents.tokens), n, rng, chances.leaf)
    none = Part(here.start.copy(), np.zeros(n, np.int64))
    parts = [Part(part.start.copy(), part.length.copy()) for part in (before, here, behind, none, none)]
    weights = np.array([chances.replace, chances.join, chances.wrap, chances.point, chances.hoist, chances.shrink])
    kind = rng.choice(6, size=n, p=weights / weights.sum())
    is_left = rng.random(n) < 0.3
    _put(parts, kind == 0, [before, coming, behind])
    if symbols.has(2):
        joiner = stock.symbols(symbols.joiners(n, rng))
        _put(parts, (kind == 1) & is_left, [before, joiner, coming, here, behind])
        _put(parts, (kind == 1) & ~is_left, [before, joiner, here, coming, behind])
    if symbols.has(1):
        _put(parts, kind == 2, [before, stock.symbols(symbols.draw(1, n, rng)), here, behind])
    other = symbols.another(stock.tokens[node], rng)
    _put(parts, kind == 3, [before, stock.symbols(other), Part(here.start + 1, here.length - 1), behind])
    _put(parts, kind == 4, [here])
    _put(parts, kind == 5, [before, _operand(stock, node, rng), behind])
    return _with_moved_constants(stock.join(parts), rng, chances)


class _Symbols:
    """A library's symbols by arity, drawn with weights."""

    def __init__(self, library: SymbolLibrary, likely: Numbers) -> None:
        drawable = np.array([symbol.kind != "number" for symbol in library.symbols])
        self._arities = library.arities
        self._tokens = [np.flatnonzero((library.arities == arity) & drawable) for arity in (0, 1, 2)]
        chances = [likely[tokens] if likely[tokens].sum() > 0 else np.ones(len(tokens)) for tokens in self._tokens]
        self._chances = [each / each.sum() if len(each) else each for each in chances]
        known = [library.ids[name] for name in JOINERS if name in library]
        self._joiners = np.array(known or self._tokens[2], np.int64)

    def has(self, arity: int) -> bool:
        return len(self._tokens[arity]) > 0

    def draw(self, arity: int, n: int, rng: np.random.Generator) -> Indices:
        return rng.choice(self._tokens[arity], n, p=self._chances[arity])

    def joiners(self, n: int, rng: np.random.Generator) -> Indices:
        weights = np.linspace(2, 1, len(self._joiners))
        return rng.choice(self._joiners, n, p=weights / weights.sum())

    def another(self, tokens: NDArray[np.int16], rng: np.random.Generator) -> Indices:
        """Draw, for each symbol, one of the same arity."""
        found = tokens.astype(np.int64)
        for arity in range(3):
            at = np.flatnonzero(self._arities[tokens] == arity)
            if len(at) and self.has(arity):
                found[at] = self.draw(arity, len(at), rng)
        return found


def _coming_in(
    stock: Stock, symbols: _Symbols, first_donor: int, n: int, rng: np.random.Generator, leaf: float
) -> Part:
    """Draw `n` new subtrees: single leaves, or subtrees of the donors."""
    single = stock.symbols(symbols.draw(0, n, rng))
    any_part = stock.subtrees(rng.integers(first_donor, len(stock.forest.tokens), n))
    is_single = rng.random(n) < leaf
    return Part(np.where(is_single, single.start, any_part.start), np.where(is_single, single.length, any_part.length))


def _operand(stock: Stock, node: Indices, rng: np.random.Generator) -> Part:
    """Draw one operand of each node; a leaf is returned itself."""
    left, right = stock.forest.left[node], stock.forest.right[node]
    chosen = np.where((right >= 0) & (rng.random(len(node)) < 0.5), right, left)
    return stock.subtrees(np.where(chosen >= 0, chosen, node))


def _put(parts: list[Part], where: Mask, pieces: list[Part]) -> None:
    for k, part in enumerate(parts):
        if k < len(pieces):
            part.start[where] = pieces[k].start[where]
            part.length[where] = pieces[k].length[where]
        else:
            part.length[where] = 0


def _with_moved_constants(forest: Forest, rng: np.random.Generator, chances: Chances) -> Forest:
    """Return expressions with random values for unfitted constants, and a share of the others perturbed."""
    at = np.flatnonzero(constants_among_values(forest))
    if len(at) == 0:
        return forest
    values = forest.values.copy()
    old = values[at]
    share = np.where(is_plain(old), chances.loosen, chances.jitter)
    moved = old * np.where(rng.random(len(at)) < share, np.exp(rng.normal(0, 10 ** rng.uniform(*MOVES, len(at)))), 1)
    values[at] = np.where(np.isnan(old), likely_constants(len(at), rng), moved)
    return replace(forest, values=values)


def is_plain(values: Numbers) -> Mask:
    """Return, by constant, whether it is one of the plain numbers."""
    return np.isin(values, PLAIN)


def likely_constants(n: int, rng: np.random.Generator) -> Numbers:
    """Draw `n` values for new constants: mostly plain numbers, the others log-normal with either sign."""
    plain = rng.choice(PLAIN, n, p=PLAIN_CHANCES)
    other = np.exp(rng.normal(0, 1.0, n)) * np.where(rng.random(n) < 0.2, -1, 1)
    return np.where(rng.random(n) < PLAIN_SHARE, plain, other)


def with_constants(forest: Forest, rng: np.random.Generator) -> Forest:
    """Return the expressions with values of `likely_constants` for unfitted constants."""
    missing = np.isnan(forest.values)
    if not missing.any():
        return forest
    values = forest.values.copy()
    values[missing] = likely_constants(int(missing.sum()), rng)
    return replace(forest, values=values)
