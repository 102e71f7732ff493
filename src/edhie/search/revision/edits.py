"""Edits: all trees that are one edit away from an expression, in batches.

Patterns of textbook formulas have s for a subtree, c for a constant, x and y for variables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import permutations

import numpy as np

from edhie.expr import Expr, Forest, Symbol, SymbolLibrary, parse
from edhie.expr.splicing import Part, Stock
from edhie.expr.standard_libraries import everything
from edhie.search.arrays import Indices, Numbers
from edhie.search.pieces.rewriting import loosened, shorter

PART, CONSTANT, VARIABLES = "s", "c", ("x", "y")
MOST_VARIABLES = 4  # up to which patterns with two variables are used

OF_ANY_PART = (
    "c*s", "s + c", "c - s", "c/s", "s^2", "sqrt(s)", "s^c", "exp(s)", "exp(-s)", "log(s)", "sin(s)", "cos(s)",
    "s/(s + c)", "s/(c*s + c)", "c/(s + c)", "s + c*s^2", "s + c*s^3", "sqrt(s^2 + c)", "log(s + c)",
    "s*x", "s/x", "s + x", "s - x", "s + c*x", "s + c*x^2", "s + c*x^3", "s + c/x", "s + c*x^c", "s + c*exp(c*x)",
    "s*x^2", "s/x^2", "s*x^c", "s*sqrt(x)", "s/sqrt(x)", "s*exp(c*x)", "s*exp(c/x)", "s*(x + c)", "s/(x + c)",
    "s*(x^2 + c)", "s/(x^2 + c)", "s*x/(x + c)", "s*sin(c*x)", "s*cos(c*x)", "s + c*sin(c*x)", "s + c*cos(c*x)",
    "sqrt(s^2 + x^2)", "s + c*x*y", "s + c*x/y", "s + c*x^2/y^2", "s*x/y",
)  # fmt: skip
"""Patterns that replace any subtree, the most usual first."""
OF_A_CONSTANT = ("x", "c*x", "c*x + c", "c*x^2 + c", "c/x", "c*x^c", "c*exp(c*x)")
"""Patterns that replace a constant: functions of a variable that it may depend on."""
OF_A_VARIABLE = ("x", "x - y", "x/y", "x*y", "c*x + y")
"""Patterns that replace a variable."""
BESIDE = (
    "c*x", "x^2", "c*x^2", "c/x", "sqrt(x)", "c*sqrt(x)", "log(x)", "c*log(x)", "exp(c*x)", "c*exp(c*x)", "sin(c*x)",
    "c*sin(c*x)", "cos(c*x)", "c*cos(c*x)", "x^c", "c*x^c", "c + x", "c + c*x", "c + c*x^2", "c/x^2", "x/(c + x)",
    "x*y", "x/y", "c*x*y", "c*x/y", "x + c*y", "c*(x/y)^2",
)  # fmt: skip
"""Small pieces that are joined with a subtree, or replace it."""


Pattern = tuple[str | None, ...]
"""A pattern over one library: its symbols in prefix order, None for the subtree."""


def patterns(texts: tuple[str, ...], library: SymbolLibrary) -> list[Pattern]:
    """Return the patterns that a library can write, one for each choice of variables, in order."""
    found: dict[Pattern, None] = {}
    for written in map(_parsed, texts):
        if not all(_is_in(library, symbol) for _, _, symbol in written.walk()):
            continue
        used = [name for name in VARIABLES if name in written.tokens]
        if len(used) > 1 and len(library.variables) > MOST_VARIABLES:
            continue
        for chosen in permutations(library.variables, len(used)):
            names = {CONSTANT: str(library.constant), **dict(zip(used, chosen, strict=True))}
            found[tuple(None if token == PART else names.get(token, token) for token in written.tokens)] = None
    return list(found)


@cache
def _parsed(text: str) -> Expr:
    return parse(text, everything([PART, *VARIABLES]))


def _is_in(library: SymbolLibrary, symbol: Symbol) -> bool:
    """Return whether a library has a symbol of a pattern; its role is compared, since variables may have any name."""
    if symbol.kind == "constant":
        return library.constant is not None
    return symbol.kind == "variable" or (symbol.name in library and library[symbol.name].role == symbol.role)


# -- edits ------------------------------------------------------------------------------

JOINERS = ("+", "*", "/", "-", "^")
COMMUTATIVE = ("+", "*")
RARE = 0.1  # symbols with a lower frequency, relative to the mean over all symbols, are tried last


def pieces_of(library: SymbolLibrary) -> Forest:
    """Return the small pieces of the vocabulary that a library can write, over all of its variables."""
    found = patterns(BESIDE, library)
    return Forest.from_exprs([Expr(library, [str(token) for token in tokens]) for tokens in found], library)


def with_scales(expr: Expr) -> list[Expr]:
    """Return a formula with constants inserted: as a factor, as a summand, and in the arguments of functions."""
    library = expr.library
    if library.constant is None or "*" not in library or "+" not in library:
        return []
    leaf = (library.constant,)
    inside = loosened(expr, [symbol.name for symbol in library.symbols if symbol.style == "function"], None)
    found = [inside]
    for each in dict.fromkeys((expr, inside)):
        times = Expr(library, ("*", *leaf, *each.tokens), (None, *each.constants))
        plus = [Expr(library, ("+", *one.tokens, *leaf), (*one.constants, None)) for one in (each, times)]
        found += [times, *plus]
    return found


class Edits:
    """The edits of trees over one library, in stages: the most usual first.

    `frequencies` has, by token of the library, how often it occurs in formulas; by default all are equal.
    """

    def __init__(self, library: SymbolLibrary, frequencies: Numbers | None = None) -> None:
        self._library = library
        often = np.ones(len(library)) if frequencies is None else frequencies
        usable = [k for k, symbol in enumerate(library.symbols) if symbol.kind in ("operator", "variable", "constant")]
        is_usual = often >= RARE * often.mean()
        self._usual, self._rare = (
            [
                np.array([k for k in usable if library.arities[k] == n and is_usual[k] == kept], np.int64)
                for n in range(3)
            ]
            for kept in (True, False)
        )
        self._joiners = [name for name in JOINERS if name in library and library[name].arity == 2]
        self._sums = [name for name in ("+", "-") if name in library]
        self._pieces = pieces_of(library)
        kinds = np.array([symbol.kind for symbol in library.symbols])
        self._textbook = [
            (patterns(OF_ANY_PART, library), np.ones(len(library), np.bool_)),
            (patterns(OF_A_CONSTANT, library), kinds == "constant"),
            (patterns(OF_A_VARIABLE, library), kinds == "variable"),
        ]
        self.stages: tuple[Callable[[Expr], Forest], ...] = (self.textbook, self.near, self.further, self.strange)
        """Functions that return the edits of a tree, the most usual first."""

    def textbook(self, expr: Expr) -> Forest:
        """Return trees with a subtree replaced by a textbook pattern of it, and shorter trees."""
        work = _Work(Forest.from_exprs([expr], self._library))
        made = [shorter(work.forest)]
        for written, is_for in self._textbook:
            nodes = np.flatnonzero(is_for[work.forest.tokens])
            made += [work.written(pattern, nodes, nodes) for pattern in written]
        # c/(c*u + c) and c*(c/(u + c)) are the same functions as c/(u + c), so a new constant replaces an old factor
        scaled, inner = work.scaled()
        new = [pattern for pattern in self._textbook[0][0] if self._library.constant in pattern]
        made += [work.written(pattern, inner, scaled) for pattern in new]
        made += self._elsewhere(expr)
        return Forest.concatenate(made)

    def _elsewhere(self, expr: Expr) -> list[Forest]:
        """Return each subtree minus or plus the same of another variable, as T^4 - S^4 for T^4."""
        found, ids = [], self._library.ids
        for one in expr.variables:
            for other in self._library.variables:
                if other == one:
                    continue
                tokens = [other if token == one else token for token in expr.tokens]
                copied = Expr(self._library, tokens, expr.constants)
                work = _Work(Forest.from_exprs([expr, copied], self._library))
                has = np.array([ids[one] in work.forest.tokens[k : k + work.here.length[k]] for k in range(work.size)])
                nodes = np.flatnonzero(has)
                there = work.stock.subtrees(nodes + work.size)
                found += [work.made(nodes, [joiner, work.here.at(nodes), there]) for joiner in self._sums]
        return found

    def near(self, expr: Expr) -> Forest:
        """Return trees with one usual symbol inserted, removed or replaced; new constants are unfitted."""
        work = _Work(Forest.from_exprs([expr], self._library))
        made = [shorter(work.forest), *work.replaced(self._usual), work.wrapped(self._usual[1])]
        leaves = work.stock.symbols(np.concatenate([self._usual[0], self._rare[0]]))
        made += [forest for joiner in self._joiners for forest in work.joined(joiner, leaves)]
        return Forest.concatenate(made)

    def further(self, expr: Expr) -> Forest:
        """Return trees with a subtree joined with, or replaced by, a small piece."""
        if len(self._pieces) == 0:
            return self._pieces
        work = _Work(Forest.concatenate([Forest.from_exprs([expr], self._library), self._pieces]))
        pieces = work.stock.trees(np.arange(1, len(self._pieces) + 1))
        made = [forest for joiner in self._joiners for forest in work.joined(joiner, pieces)]
        leaves = np.concatenate([self._usual[0], self._rare[0]])
        return Forest.concatenate([*made, work.swapped(pieces), work.swapped(work.stock.symbols(leaves))])

    def strange(self, expr: Expr) -> Forest:
        """Return trees with one rare symbol inserted or substituted."""
        work = _Work(Forest.from_exprs([expr], self._library))
        return Forest.concatenate([*work.replaced(self._rare), work.wrapped(self._rare[1])])


class _Work:
    """One tree to be edited, the first of a forest; the others may be inserted."""

    def __init__(self, forest: Forest) -> None:
        self.forest = forest
        self.stock = Stock(forest)
        self.size = int(forest.sizes[0])
        self.before, self.here, self.behind = self.stock.around(np.arange(self.size))

    def replaced(self, by_arity: list[Indices]) -> list[Forest]:
        """Replace each node's symbol by every other of the same arity."""
        tokens, arities = self.forest.tokens[: self.size], self.forest.library.arities
        found = []
        for arity, symbols in enumerate(by_arity):
            nodes, others = _pairs(np.flatnonzero(arities[tokens] == arity), symbols)
            is_other = tokens[nodes] != others
            nodes, others = nodes[is_other], others[is_other]
            below = Part(self.here.start[nodes] + 1, self.here.length[nodes] - 1)
            found.append(self.made(nodes, [self.stock.symbols(others), below]))
        return found

    def written(self, pattern: Pattern, parts: Indices, places: Indices) -> Forest:
        """Replace the subtrees at `places` by a pattern of those at `parts`."""
        here = self.here.at(parts)
        return self.made(places, [here if name is None else name for name in pattern])

    def scaled(self) -> tuple[Indices, Indices]:
        """Return products and quotients with a constant, and their other operands."""
        library, tokens = self.forest.library, self.forest.tokens[: self.size]
        chains = [library.ids[name] for name in ("*", "/") if name in library]
        products = np.flatnonzero(np.isin(tokens, chains))
        constant = -1 if library.constant is None else library.ids[library.constant]
        found = [
            (products[tokens[one[products]] == constant], other)
            for one, other in ((self.forest.left, self.forest.right), (self.forest.right, self.forest.left))
        ]
        return np.concatenate([at for at, _ in found]), np.concatenate([other[at] for at, other in found])

    def wrapped(self, symbols: Indices) -> Forest:
        """Apply each of these unary operators to each node."""
        nodes, others = _pairs(np.arange(self.size), symbols)
        return self.made(nodes, [self.stock.symbols(others), self.here.at(nodes)])

    def joined(self, joiner: str, parts: Part) -> list[Forest]:
        """Join each node with each part, on both sides if the operator is not commutative."""
        nodes, which = _pairs(np.arange(self.size), np.arange(len(parts.start)))
        here, part = self.here.at(nodes), parts.at(which)
        found = [self.made(nodes, [joiner, here, part])]
        if joiner not in COMMUTATIVE:
            found.append(self.made(nodes, [joiner, part, here]))
        return found

    def swapped(self, parts: Part) -> Forest:
        """Replace each subtree by each part."""
        nodes, which = _pairs(np.arange(self.size), np.arange(len(parts.start)))
        return self.made(nodes, [parts.at(which)])

    def made(self, nodes: Indices, middle: Sequence[str | Part]) -> Forest:
        """Replace the subtrees at these nodes by a pattern."""
        return self.stock.write(self.before.at(nodes), *middle, self.behind.at(nodes))


def _pairs(one: Indices, other: Indices) -> tuple[Indices, Indices]:
    return np.repeat(one, len(other)), np.tile(other, len(one))
