"""What tokens and values must be to make one expression."""

from __future__ import annotations

import math
from collections.abc import Iterable

from edhie.errors import ExpressionError, SymbolError, shortened
from edhie.expr.library import SymbolLibrary
from edhie.expr.numerals import is_numeral, numeral
from edhie.expr.symbols import Symbol


def role(symbol: Symbol) -> tuple[str, int]:
    """What a name stands for; a literal is a number like any other."""
    return "number" if symbol.kind == "literal" else symbol.kind, symbol.arity


def spelled(library: SymbolLibrary, tokens: tuple[str, ...]) -> tuple[str, ...]:
    """The tokens, each in its one spelling; unknown ones raise."""
    out = []
    for i, token in enumerate(tokens):
        try:
            symbol = library[token]
        except SymbolError as error:
            raise SymbolError(f"{error}; it is token {i} of {_shown(tokens)}") from None
        is_number = symbol.kind == "number" and is_numeral(token)
        out.append(numeral(float(token)) if is_number else symbol.name)
    return tuple(out)


def checked_values(values: Iterable[float | None]) -> tuple[float | None, ...]:
    """The values of fitted constants as floats or None; others raise."""
    checked = tuple(None if value is None else float(value) for value in values)
    for i, value in enumerate(checked):
        if value is not None and not math.isfinite(value):
            raise ExpressionError(f"fitted constant {i} cannot have the value {value}; give a finite one, or None")
    return checked


def check_one_tree(library: SymbolLibrary, tokens: tuple[str, ...]) -> None:
    """Raise unless the tokens, in prefix order, are one tree and nothing more."""
    missing = 1
    for i, token in enumerate(tokens):
        if token == "#":
            raise ExpressionError("the token '#' stands for any number: write the number itself")
        if missing == 0:
            raise ExpressionError(f"the tokens {_shown(tokens)} go on after a whole expression, at {i}")
        missing += library[token].arity - 1
    if missing:
        raise ExpressionError(f"the tokens {_shown(tokens)} lack {missing} operand{'s' * (missing > 1)} at the end")


def _shown(tokens: tuple[str, ...]) -> str:
    return repr(shortened(" ".join(tokens)))
