"""An exact expression made shorter: parts that it can do without are taken out, one after the other."""

from __future__ import annotations

import numpy as np

from edhie.evaluate.constants.fitting import FitConfig, fit_constants
from edhie.evaluate.data import Data
from edhie.expr import Expr, Forest
from edhie.expr.canonical import canonical
from edhie.expr.symbols import NUMBER, Opcode
from edhie.search.mosaic.factors import with_factors
from edhie.search.splicing import Part, Stock

FROM_HERE = FitConfig(points=0, starts=1, iterations=30, tolerance=1e-14)


def shorter(forest: Forest) -> Forest:
    """Variants of one expression with fewer nodes: an operator replaced by an operand, a part by a leaf."""
    stock = Stock(forest)
    n = len(forest.tokens)
    nodes = np.arange(n)
    here = stock.subtrees(nodes)
    before = Part(np.zeros(n, np.int64), nodes)
    behind = Part(nodes + here.length, n - nodes - here.length)
    made = [forest.take([])]
    for operand in (forest.left, forest.right):
        has = np.flatnonzero(operand >= 0)
        if len(has):
            made.append(stock.join([_at(before, has), stock.subtrees(operand[has]), _at(behind, has)]))
    inner = np.flatnonzero(here.length > 1)
    library = forest.library
    if library.constant is not None and len(inner):
        leaf = stock.symbols(np.full(len(inner), library.ids[library.constant]))
        made.append(stock.join([_at(before, inner), leaf, _at(behind, inner)]))
    made.append(_distributed(stock, before, behind))
    found = Forest.concatenate(made)
    values = np.where(np.isnan(found.values), 1.0, found.values)
    return Forest(library, found.tokens, found.offsets, values).unique()


def _distributed(stock: Stock, before: Part, behind: Part) -> Forest:
    """(a + b)/d as a/d + b/d, and the like: longer, but what cancels then makes it shorter."""
    forest, library = stock.forest, stock.forest.library
    opcodes = library.opcodes[forest.tokens]
    over = np.isin(opcodes, (Opcode.MUL, Opcode.DIV))
    sums = np.flatnonzero(over & np.isin(opcodes[forest.left], (Opcode.ADD, Opcode.SUB)))
    if len(sums) == 0:
        return forest.take([])
    total, operator = forest.left[sums], stock.symbols(forest.tokens[sums])
    divisor = stock.subtrees(forest.right[sums])
    first, second = (stock.subtrees(side[total]) for side in (forest.left, forest.right))
    head = stock.symbols(forest.tokens[total])
    parts = [_at(before, sums), head, operator, first, divisor, operator, second, divisor, _at(behind, sums)]
    return stock.join(parts)


def _at(part: Part, chosen: np.ndarray) -> Part:
    return Part(part.start[chosen], part.length[chosen])


def shortened(forest: Forest) -> Forest:
    """Each expression in its canonical form, where its library can write that and it is shorter."""
    if len(forest) == 0:
        return forest
    library, form = forest.library, canonical(forest)
    table = np.arange(len(form.library))
    table[len(library) :] = -1
    if library.constant is not None and NUMBER.name in form.library:
        table[form.library.ids[NUMBER.name]] = library.ids[library.constant]
    tokens = table[form.tokens]
    is_known = np.bincount(form.owners[tokens < 0], minlength=len(form)) == 0
    is_better = is_known & (form.sizes < forest.sizes)
    if not is_better.any():
        return with_factors(forest)
    better = form.take(np.flatnonzero(is_better))
    rewritten = Forest(library, table[better.tokens].astype(np.int16), better.offsets, better.values)
    both = Forest.concatenate([forest, rewritten])
    places = np.arange(len(forest))
    places[is_better] = len(forest) + np.arange(len(better))
    return with_factors(both.take(places))


def refitted(forest: Forest, data: Data, config: FitConfig = FROM_HERE, threads: int | None = 1) -> Forest:
    """Expressions with their constants fitted again, from where they are."""
    if len(forest) == 0 or len(forest.values) == 0:
        return forest
    return fit_constants(forest, data, config=config, threads=threads).forest


def within_bounds(forest: Forest, data: Data, config: FitConfig) -> tuple[Forest, int]:
    """Expressions with a constant beyond the bounds of `config` get all of theirs fitted again; how many there were."""
    is_beyond = (forest.values < config.lower) | (forest.values > config.upper)
    library = forest.library
    if library.constant is None or not is_beyond.any():
        return forest, 0
    is_beyond &= forest.tokens[library.has_slot[forest.tokens]] == library.ids[library.constant]  # and no number
    beyond = np.unique(np.searchsorted(forest.value_offsets, np.flatnonzero(is_beyond), side="right") - 1)
    places = np.arange(len(forest))
    places[beyond] = len(forest) + np.arange(len(beyond))
    fitted = refitted(forest.take(beyond), data, config)
    return Forest.concatenate([forest, fitted]).take(places), len(beyond)


def pieces_within(piece: Expr, written: Expr, fitted: Expr) -> list[Expr]:
    """A piece with the constants that it has in a fitted expression which it was written into."""
    if not piece.constants:
        return []
    length, library = len(piece.tokens), fitted.library
    for start in range(len(written.tokens) - length + 1):
        if written.tokens[start : start + length] == piece.tokens:
            first = sum(token == library.constant for token in written.tokens[:start])
            constants = fitted.constants[first : first + len(piece.constants)]
            return [Expr.trusted(library, piece.tokens, constants)]
    return []
