"""Guesses: formulas of the user, parsed and scored before a search begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from edhie.errors import ParseError, SearchError, SymbolError
from edhie.evaluate import THOROUGH, Evaluator, FitConfig, fit_constants
from edhie.evaluate.constants.jacobian import constants_among_values
from edhie.evaluate.constants.logarithmic_fit import logarithmic_fit
from edhie.evaluate.data import few_rows
from edhie.expr import Expr, Forest, SymbolLibrary, parse
from edhie.expr.symbols import ALIASES, NAMED_LITERALS, NUMBER, is_name, variable

FIT_ROWS = 2000
SCORED = 4  # most evaluations of each guess
FROM_HERE = FitConfig(points=0, starts=1, iterations=30, tolerance=1e-14)


def read_guesses(guesses: Sequence[Any], library: SymbolLibrary, columns: Sequence[str]) -> Forest:
    """Return guesses over the library of equations; `columns` are the names of the variables in the table.

    Numbers become constants that start at these values, if the library has constants.
    """
    if isinstance(guesses, str | Expr):
        raise SearchError(f"guesses is a list of formulas, not one; give [{str(guesses)!r}]")
    return Forest.from_exprs([_read(each, k, library, columns) for k, each in enumerate(guesses)], library)


def castable(exprs: Sequence[Expr], library: SymbolLibrary) -> list[Expr]:
    """Return the expressions that can be written over the library."""
    found = []
    for expr in exprs:
        try:
            found.append(_of_expr(expr, library))
        except (ParseError, SymbolError):
            continue
    return found


def check_affordable(guesses: Forest, evaluations: int | None) -> None:
    """Raise an error if the budget is too small to score all guesses: a resumed search would lack the others."""
    if evaluations is not None and evaluations < SCORED * len(guesses):
        needed = f"at least {SCORED * len(guesses)}, or fewer guesses"
        raise SearchError(f"max_evaluations={evaluations} is too small for {len(guesses)} guesses; give {needed}")


def score_guesses(evaluator: Evaluator, guesses: Forest, evaluations: int | None) -> None:
    """Score guesses as given, and with constants fitted: from the given values, from random ones, and in logarithms."""
    with evaluator.limited(evaluations):
        found = evaluator.score(guesses)
        if len(guesses.values) == 0:
            return
        bounds = evaluator.constants
        config = replace(FROM_HERE, lower=bounds.lower, upper=bounds.upper)
        whole = found.forest.take(np.isfinite(found.errors))
        evaluator.score(fit_constants(whole, few_rows(evaluator.data, FIT_ROWS), config=config).forest)
        config = replace(THOROUGH, lower=bounds.lower, upper=bounds.upper)
        free = guesses.with_values(np.where(constants_among_values(guesses), np.nan, guesses.values))
        evaluator.score(fit_constants(free, evaluator.data, config=config).forest)
        few = few_rows(evaluator.data, FIT_ROWS)
        logarithmic = [logarithmic_fit(each, few, config) for each in guesses]
        evaluator.score(Forest.from_exprs([each for each in logarithmic if each is not None], guesses.library))


def _read(guess: Any, k: int, library: SymbolLibrary, columns: Sequence[str]) -> Expr:
    if isinstance(guess, Expr):
        return _of_expr(guess, library)
    if not isinstance(guess, str):
        raise SearchError(f"guess {k} is {guess!r}; give a text, such as 'c*exp(-x0)', or an Expr")
    try:
        return _of_text(guess, library, columns)
    except ParseError as error:
        raise ParseError(f"in guess {k}: {error.what}", error.text, error.position) from None


def _of_expr(expr: Expr, library: SymbolLibrary) -> Expr:
    try:
        return expr.cast(library)
    except SymbolError:
        return _of_text(str(expr), library, ())  # numbers and powers may have another spelling in the library


def _of_text(text: str, library: SymbolLibrary, columns: Sequence[str]) -> Expr:
    """Return the formula over the library; it may use the columns' own names, and numbers."""
    own = {
        column: name
        for column, name in zip(columns, library.variables, strict=False)
        if is_name(column) and column not in (*library.names, *ALIASES, *NAMED_LITERALS)
    }
    numbers = () if library.constant is None else (NUMBER,)
    read = parse(text, library.extended(*(variable(column) for column in own), *numbers))
    tokens: list[str] = []
    constants: list[float | None] = []
    for token in read.tokens:
        kind = read.library[token].kind
        if kind == "constant":
            constants.append(None)
        elif kind == "number" and library.constant is not None:
            constants.append(float(token))
        tokens.append(library.constant if kind == "number" and library.constant else own.get(token, token))
    return Expr(library, tokens, constants)
