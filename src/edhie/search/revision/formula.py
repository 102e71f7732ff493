"""The formula to revise: parsing, fitting, and its neighbours in a generator's latent space."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from edhie.errors import EdhieError, SymbolError
from edhie.evaluate.constants.fitting import THOROUGH, FitConfig, fit_constants, fit_missing
from edhie.evaluate.data import Data
from edhie.evaluate.values import squared_errors
from edhie.expr import Expr, Forest, Symbol, SymbolLibrary, parse
from edhie.expr.splicing import Stock
from edhie.generators.base import Generator, LatentGenerator
from edhie.generators.walks import neighbours
from edhie.search.arrays import recoded

INSTEAD = {"-": "+", "/": "*"}
NOTHING_KNOWN = 1.0  # value of a constant that cannot be fitted, because the formula is undefined in some row
POWERS = {"^2": 2, "^3": 3, "^4": 4, "^5": 5}


def formula_over(text: str, library: SymbolLibrary) -> Expr:
    """Return the formula over a library; if the library has constants, its numbers become constants with values."""
    expr = parse(text, library.with_numbers() if library.constant else library)
    return folded(expr.numbers_to_constants().cast(library)) if library.constant else expr


def folded(expr: Expr) -> Expr:
    """Return an expression with one constant in place of each subtree of constants alone, such as -c or 2*c.

    >>> from edhie.expr import parse
    >>> str(folded(parse("x*exp(-c*c)/c")))
    'x*c/c'
    """
    position = 0
    while position < expr.size:
        part = expr.subtree(position)
        if part.size > 1 and all(part.library[token].kind in ("operator", "constant") for token in part.tokens):
            value = None if None in part.constants else float(part())
            known = value is not None and math.isfinite(value)
            expr = expr.replace(position, Expr(expr.library, [str(expr.library.constant)], [value if known else None]))
        position += 1
    return expr


def refitted(expr: Expr, data: Data, config: FitConfig = THOROUGH) -> tuple[Expr, float]:
    """Fit all constants of an expression thoroughly, with its current values among the starts.

    Return it and its residual sum of squares. If all constants have values, these are kept unless the fit is better.
    """
    given = Forest.from_exprs([expr])
    if len(given.values) == 0:
        return expr, float(squared_errors(given, data)[0])
    if np.isnan(given.values).any() and not np.isnan(given.values).all():
        given = fit_missing(given, data, config=config).forest
    done = fit_constants(given, data, config=config)
    fitted = np.where(np.isnan(done.forest.values), NOTHING_KNOWN, done.forest.values)
    found, left = expr.with_constants(fitted.tolist()), float(done.squared_errors[0])
    if not np.isnan(given.values).any():
        own = float(squared_errors(given, data)[0])
        if not left < own:
            return given[0], own
    return found, left


def thorough(config: FitConfig) -> FitConfig:
    """Return the settings of a thorough fit, with the bounds and the seed of `config`."""
    return replace(THOROUGH, lower=config.lower, upper=config.upper, seed=config.seed)


# -- neighbours in the latent space -------------------------------------------------------


def neighbours_by(
    generator: Generator, expr: Expr, n: int, radius: float, rng: np.random.Generator
) -> tuple[Forest, int]:
    """Return distinct neighbours of an expression, the most similar first, and how many of `n` codes gave none.

    As in the paper, codes around its own are decoded. The forest is empty if the generator has no latent space, has
    variables that the library lacks, or cannot encode the expression.
    """
    library, own = expr.library, generator.library
    if not isinstance(generator, LatentGenerator) or not set(own.variables) <= set(library.variables):
        return Forest.from_exprs([], library), 0
    written = nearest(expr, own)
    if written is None:
        return Forest.from_exprs([], library), 0
    try:
        found = neighbours(generator, written, n, rng, radius=radius)
    except EdhieError:  # a grammar may not be able to derive it
        return Forest.from_exprs([], library), 0
    forest = recoded(found.forest, own.ids_in(library), library)
    if own.constant is None and library.constant is not None and "*" in library:  # its expressions have no scale
        stock = Stock(forest)
        forest = stock.write("*", library.constant, stock.trees(np.arange(len(forest))))
    return forest, found.invalid


def nearest(expr: Expr, library: SymbolLibrary) -> Expr | None:
    """Return the nearest expression that a library can write; None if it lacks all leaves.

    Missing operators are replaced by similar ones or by their operand; missing leaves are left out.

    >>> from edhie.expr import parse
    >>> str(nearest(parse("c*x0*sinh(-c*x1)"), SymbolLibrary.of(["+", "*", "sin"], 2)))
    'x0*x1'
    """

    def leaf(symbol: Symbol, token: str, value: float | None) -> Expr | None:
        try:
            return Expr(expr.library, [token]).cast(library)
        except SymbolError:
            return Expr(library, [library.constant]) if library.constant and symbol.kind != "variable" else None

    def operator(symbol: Symbol, operands: list[Expr | None]) -> Expr | None:
        present = [each for each in operands if each is not None]
        if len(present) < symbol.arity:
            return present[0] if present else None
        has_it = symbol.name in library and library[symbol.name].role == symbol.role
        name = symbol.name if has_it else INSTEAD.get(symbol.name, "")
        tokens = [token for each in present for token in each.tokens]
        if name in library and library[name].arity == symbol.arity:
            return Expr(library, [name, *tokens])
        if symbol.name in POWERS and "*" in library:
            times = POWERS[symbol.name]
            return Expr(library, ["*"] * (times - 1) + tokens * times)
        return present[0]

    return expr.fold(leaf, operator)
