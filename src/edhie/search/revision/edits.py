"""Every tree that is one edit away from another: whole batches at once, as ranges of tokens put end to end."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from edhie.expr import Expr, Forest, SymbolLibrary
from edhie.search.mosaic.tidying import shorter
from edhie.search.splicing import Part, Stock

Indices = NDArray[np.int64]
JOINERS = ("+", "*", "/", "-", "^")
COMMUTATIVE = ("+", "*")
MOST_VARIABLES = 4  # of which all pairs are pieces
PIECES = (
    "* c {v}", "^2 {v}", "* c ^2 {v}", "/ c {v}", "sqrt {v}", "* c sqrt {v}", "log {v}", "* c log {v}", "exp * c {v}",
    "* c exp * c {v}", "sin * c {v}", "* c sin * c {v}", "cos * c {v}", "* c cos * c {v}", "^ {v} c", "* c ^ {v} c",
    "+ c {v}", "+ c * c {v}", "+ c * c ^2 {v}", "/ c ^2 {v}", "/ {v} + c {v}", "* {v} {w}", "/ {v} {w}",
    "* c * {v} {w}", "* c / {v} {w}", "+ {v} * c {w}", "* c ^2 / {v} {w}",
)  # fmt: skip
"""What is added to a formula, multiplied with a part of it or put in its place, in prefix order, for variables v, w."""


def pieces_of(library: SymbolLibrary) -> Forest:
    """The small pieces that a library can write, over all of its variables."""
    names = library.variables
    found: dict[Expr, None] = {}
    for pattern, v, w in product(PIECES, names, names):
        is_pair = "{w}" in pattern
        if (is_pair and (v == w or len(names) > MOST_VARIABLES)) or (not is_pair and w != names[0]):
            continue
        tokens = [_constant(library) if token == "c" else token.format(v=v, w=w) for token in pattern.split(" ")]
        if all(token in library for token in tokens):
            found[Expr(library, tokens)] = None
    return Forest.from_exprs(found, library)


def with_scales(expr: Expr) -> list[Expr]:
    """A formula that someone wrote without its constants: times one, plus one, with one in the operand of functions."""
    library = expr.library
    if library.constant is None or "*" not in library or "+" not in library:
        return []
    leaf = (library.constant,)
    inside = expr
    for position, _, symbol in reversed(list(expr.walk())):
        if symbol.arity == 1 and symbol.style == "function":
            operand = inside.subtree(position + 1)
            scaled = Expr(library, ("*", *leaf, *operand.tokens), (None, *operand.constants))
            inside = inside.replace(position + 1, scaled)
    found = [inside]
    for each in dict.fromkeys((expr, inside)):
        times = Expr(library, ("*", *leaf, *each.tokens), (None, *each.constants))
        plus = [Expr(library, ("+", *one.tokens, *leaf), (*one.constants, None)) for one in (each, times)]
        found += [times, *plus]
    return found


def _constant(library: SymbolLibrary) -> str:
    return library.constant or ""


class Edits:
    """The edits of trees over one library."""

    def __init__(self, library: SymbolLibrary) -> None:
        self._library = library
        usable = [k for k, symbol in enumerate(library.symbols) if symbol.kind in ("operator", "variable", "constant")]
        self._by_arity = [np.array([k for k in usable if library.arities[k] == n], np.int64) for n in range(3)]
        self._joiners = [library.ids[name] for name in JOINERS if name in library and library[name].arity == 2]
        self._pieces = pieces_of(library)

    def near(self, expr: Expr) -> Forest:
        """Trees that one symbol more, less or other makes of it; new constants have no value."""
        work = _Work(Forest.from_exprs([expr], self._library))
        made = [shorter(work.forest), *work.replaced(self._by_arity), *work.wrapped(self._by_arity[1])]
        leaves = work.stock.symbols(self._by_arity[0])
        made += [forest for joiner in self._joiners for forest in work.joined(joiner, leaves)]
        return Forest.concatenate(made)

    def further(self, expr: Expr) -> Forest:
        """Trees that a small piece makes of it, added, multiplied with or put in the place of a part."""
        if len(self._pieces) == 0:
            return Forest.from_exprs([], self._library)
        work = _Work(Forest.concatenate([Forest.from_exprs([expr], self._library), self._pieces]))
        pieces = work.stock.trees(np.arange(1, len(self._pieces) + 1))
        made = [forest for joiner in self._joiners for forest in work.joined(joiner, pieces)]
        return Forest.concatenate([*made, work.swapped(pieces), work.swapped(work.stock.symbols(self._by_arity[0]))])


class _Work:
    """One tree, the first of a forest, to be edited; what else is in the forest may come in."""

    def __init__(self, forest: Forest) -> None:
        self.forest = forest
        self.stock = Stock(forest)
        self.size = int(forest.sizes[0])
        nodes = np.arange(self.size)
        self.here = self.stock.subtrees(nodes)
        self.before = Part(np.zeros(self.size, np.int64), nodes)
        self.behind = Part(nodes + self.here.length, self.size - nodes - self.here.length)

    def replaced(self, by_arity: list[Indices]) -> list[Forest]:
        """Each node's symbol by every other of as many operands."""
        tokens, arities = self.forest.tokens[: self.size], self.forest.library.arities
        found = []
        for arity, symbols in enumerate(by_arity):
            nodes, others = _pairs(np.flatnonzero(arities[tokens] == arity), symbols)
            is_other = tokens[nodes] != others
            nodes, others = nodes[is_other], others[is_other]
            below = Part(self.here.start[nodes] + 1, self.here.length[nodes] - 1)
            found.append(self._made(nodes, [self.stock.symbols(others), below]))
        return found

    def wrapped(self, symbols: Indices) -> list[Forest]:
        """Each operator of one operand over each node."""
        nodes, others = _pairs(np.arange(self.size), symbols)
        return [self._made(nodes, [self.stock.symbols(others), _at(self.here, nodes)])]

    def joined(self, joiner: int, parts: Part) -> list[Forest]:
        """Each node joined with each part, on either side where that matters."""
        nodes, which = _pairs(np.arange(self.size), np.arange(len(parts.start)))
        operator, part = self.stock.symbols(np.full(len(nodes), joiner)), _at(parts, which)
        here = _at(self.here, nodes)
        found = [self._made(nodes, [operator, here, part])]
        if self.forest.library.names[joiner] not in COMMUTATIVE:
            found.append(self._made(nodes, [operator, part, here]))
        return found

    def swapped(self, parts: Part) -> Forest:
        """Each node with all below it by each part."""
        nodes, which = _pairs(np.arange(self.size), np.arange(len(parts.start)))
        return self._made(nodes, [_at(parts, which)])

    def _made(self, nodes: Indices, middle: list[Part]) -> Forest:
        if len(nodes) == 0:
            return self.forest.take([])
        return self.stock.join([_at(self.before, nodes), *middle, _at(self.behind, nodes)])


def _pairs(one: Indices, other: Indices) -> tuple[Indices, Indices]:
    return np.repeat(one, len(other)), np.tile(other, len(one))


def _at(part: Part, chosen: Indices) -> Part:
    return Part(part.start[chosen], part.length[chosen])
