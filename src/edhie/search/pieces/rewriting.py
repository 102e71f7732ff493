"""Rewriting of expressions: shorter forms, forms within constraints, and constants inserted or refitted."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace

import numpy as np

from edhie.evaluate.constants.fitting import FitConfig, fit_constants, with_parts
from edhie.evaluate.constants.jacobian import constants_among_values
from edhie.evaluate.constraints import Rules
from edhie.evaluate.data import Data
from edhie.expr import Expr, Forest
from edhie.expr.canonical import canonical
from edhie.expr.splicing import Part, Stock
from edhie.expr.symbols import NUMBER, Opcode
from edhie.search.arrays import with_missing

FROM_HERE = FitConfig(points=0, starts=1, iterations=30, tolerance=1e-14)  # start from the current values only
TRIM_LEVELS, TRIM_TRIED, TRIM_KEPT = 3, 24, 200  # removals in a row, expressions at each, variants in all
LARGEST_SUMMAND = 300.0  # inside exp, that becomes a factor: larger ones overflow
SENSITIVE = ("exp", "sin", "cos", "tan", "tanh", "asin", "acos", "atan")  # f(c·x) is no multiple of f(x)

# -- shorter ----------------------------------------------------------------------------


def shorter(forest: Forest) -> Forest:
    """Return variants of expressions with fewer nodes: an operator replaced by an operand, a subtree by a constant.

    Also return variants with sums in products expanded: these are longer, but may cancel to shorter forms.
    """
    stock, library = Stock(forest), forest.library
    before, here, behind = stock.around(np.arange(len(forest.tokens)))
    made = [forest.take([])]
    for operand in (forest.left, forest.right):
        has = np.flatnonzero(operand >= 0)
        made.append(stock.join([before.at(has), stock.subtrees(operand[has]), behind.at(has)]))
    if library.constant is not None:
        inner = np.flatnonzero(here.length > 1)
        leaf = stock.symbols(np.full(len(inner), library.ids[library.constant]))
        made.append(stock.join([before.at(inner), leaf, behind.at(inner)]))
    made.append(_distributed(stock, before, behind))
    return with_missing(Forest.concatenate(made), 1.0).unique()


def _distributed(stock: Stock, before: Part, behind: Part) -> Forest:
    """Return (a + b)/d as a/d + b/d, and the like."""
    forest, library = stock.forest, stock.forest.library
    opcodes = library.opcodes[forest.tokens]
    over = np.isin(opcodes, (Opcode.MUL, Opcode.DIV))
    sums = np.flatnonzero(over & np.isin(opcodes[forest.left], (Opcode.ADD, Opcode.SUB)))
    total, operator = forest.left[sums], stock.symbols(forest.tokens[sums])
    divisor = stock.subtrees(forest.right[sums])
    first, second = (stock.subtrees(side[total]) for side in (forest.left, forest.right))
    head = stock.symbols(forest.tokens[total])
    return stock.join([before.at(sums), head, operator, first, divisor, operator, second, divisor, behind.at(sums)])


def shortened(forest: Forest) -> Forest:
    """Return each expression in its canonical form, if that is shorter and its library can write it."""
    if len(forest) == 0:
        return forest
    library, form = forest.library, canonical(forest)
    table = np.arange(len(form.library))
    table[len(library) :] = -1
    if library.constant is not None and NUMBER.name in form.library:
        table[form.library.ids[NUMBER.name]] = library.ids[library.constant]
    is_known = np.bincount(form.owners[table[form.tokens] < 0], minlength=len(form)) == 0
    better = np.flatnonzero(is_known & (form.sizes < forest.sizes))
    short = form.take(better)
    short = replace(short, library=library, tokens=table[short.tokens].astype(np.int16))
    return with_factors(with_parts(forest, better, short))


def with_factors(forest: Forest) -> Forest:
    """Return exp(a + b·x) as a factor times exp(b·x), which has the same size and is easier to read."""
    library = forest.library
    opcodes = library.opcodes[forest.tokens]
    over_sum = (opcodes[:-1] == Opcode.EXP) & ((opcodes[1:] == Opcode.ADD) | (opcodes[1:] == Opcode.SUB))
    if not over_sum.any() or library.constant is None or "*" not in library:
        return forest
    changed = np.unique(forest.owners[np.flatnonzero(over_sum)])
    rewritten = Forest.from_exprs([_with_factor(forest[k]) for k in changed.tolist()], library)
    return with_parts(forest, changed, rewritten)


def _with_factor(expr: Expr) -> Expr:
    library, constant = expr.library, expr.library.constant
    tokens, values = list(expr.tokens), list(expr.constants)
    at = 0
    while at + 2 < len(tokens):
        is_sum = tokens[at] == "exp" and tokens[at + 1] in ("+", "-") and tokens[at + 2] == constant
        slot = sum(token == constant for token in tokens[: at + 2])
        if not is_sum or (value := values[slot]) is None or abs(value) > LARGEST_SUMMAND:
            at += 1
            continue
        if tokens[at + 1] == "-" and not _negate(tokens, values, at + 3, slot + 1, constant):
            at += 1
            continue
        tokens[at : at + 3] = ["*", constant or "", "exp"]
        values[slot] = math.exp(value)
        at += 3
    return Expr.trusted(library, tuple(tokens), tuple(values))


def _negate(tokens: list[str], values: list[float | None], at: int, slot: int, constant: str | None) -> bool:
    """Change the sign of the operand at `at` in place, if that takes no more symbols; return whether it did."""
    while tokens[at] in ("*", "/"):  # to the first factor
        at += 1
    value = values[slot] if tokens[at] == constant else None
    if value is None:
        return False
    values[slot] = -value
    return True


# -- within constraints --------------------------------------------------------------------


def completed(forest: Forest, rules: Rules) -> Forest:
    """Return expressions with their missing variables added, if the rules require all; values do not change.

    The addition is 0*x, whose 0 is a constant to be fitted, or x - x if the library has no constants.
    """
    library = forest.library
    needed = ("+", "*") if library.constant is not None else ("+", "-")
    if not rules.constraints.all_variables or any(name not in library for name in needed):
        return forest
    for k, name in enumerate(library.variables):
        lacks = rules.missing(forest)[:, k]
        if not lacks.any():
            continue
        n, stock = len(forest), Stock(forest)
        added = (needed[0], needed[1], library.constant or name, name)
        head, *tail = (stock.symbols(np.full(n, library.ids[each])).only(lacks) for each in added)
        made = stock.join([head, stock.trees(np.arange(n)), *tail])
        forest = with_missing(made, 0.0)  # the added constants; also any that were unfitted before
    return forest


def trimmed(forest: Forest, rules: Rules) -> Forest:
    """Return allowed expressions made from too large ones by removing subtrees.

    Their constants have no values: they have to be fitted again.
    """
    found = [forest.take([])]
    for _ in range(TRIM_LEVELS):
        if len(forest) == 0:
            break
        smallest = np.argsort(forest.sizes, kind="stable")[:TRIM_TRIED]
        variants = Forest.concatenate([shorter(forest.take([k])) for k in smallest.tolist()]).unique()
        is_allowed = rules.allowed(variants)
        found.append(variants.take(is_allowed))
        forest = variants.take(~is_allowed & (variants.sizes < forest.sizes.max()))
    made = Forest.concatenate(found)
    return replace(made, values=np.where(constants_among_values(made), np.nan, made.values)).unique()[:TRIM_KEPT]


# -- constants --------------------------------------------------------------------------


def loosened(expr: Expr, names: Collection[str] = SENSITIVE, value: float | None = 1.0) -> Expr:
    """Return an expression with a constant factor inserted into the argument of each function in `names`.

    Arguments that have one are left alone. `value` is that of the factors; None leaves them unfitted.

    >>> from edhie.expr import parse
    >>> str(loosened(parse("x0*exp(x1) + sin(c*x0)")))
    'x0*exp(1*x1) + sin(c*x0)'
    """
    library, constant = expr.library, expr.library.constant
    if constant is None or "*" not in library:
        return expr
    for position, _, symbol in reversed(list(expr.walk())):  # inner functions first
        if symbol.arity == 1 and symbol.name in names:
            operand = expr.subtree(position + 1)
            if operand.tokens[:2] != ("*", constant):
                factor = Expr(library, ("*", constant, *operand.tokens), (value, *operand.constants))
                expr = expr.replace(position + 1, factor)
    return expr


def refitted(forest: Forest, data: Data, config: FitConfig = FROM_HERE) -> Forest:
    """Return expressions with their constants refitted, by default from the current values only."""
    if len(forest) == 0 or len(forest.values) == 0:
        return forest
    return fit_constants(forest, data, config=config).forest


def within_bounds(forest: Forest, data: Data, config: FitConfig) -> tuple[Forest, int]:
    """Refit expressions with a constant outside the bounds of `config`; return all, and how many were refitted."""
    is_beyond = constants_among_values(forest) & ((forest.values < config.lower) | (forest.values > config.upper))
    if not is_beyond.any():
        return forest, 0
    beyond = np.unique(np.searchsorted(forest.value_offsets, np.flatnonzero(is_beyond), side="right") - 1)
    return with_parts(forest, beyond, refitted(forest.take(beyond), data, config)), len(beyond)


def pieces_within(piece: Expr, written: Expr, fitted: Expr) -> list[Expr]:
    """Return a piece with the constants that it has in a fitted expression that contains it.

    `written` is that expression before the fit. The list is empty if the piece has no constants or is not found.
    """
    if not piece.constants:
        return []
    length, library = len(piece.tokens), fitted.library
    for start in range(len(written.tokens) - length + 1):
        if written.tokens[start : start + length] == piece.tokens:
            first = sum(token == library.constant for token in written.tokens[:start])
            constants = fitted.constants[first : first + len(piece.constants)]
            return [Expr.trusted(library, piece.tokens, constants)]
    return []
