"""Prefix and postfix notation, written and read."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from edhie.errors import ExpressionError, SymbolError, shortened
from edhie.expr.expression import Expr
from edhie.expr.library import SymbolLibrary
from edhie.expr.numerals import formatted, is_numeral


def to_prefix_tokens(expr: Expr, *, number_format: str = "") -> list[str]:
    """Return the tokens in prefix (Polish) order; a constant with a value is that number.

    Numbers are written by `numerals.formatted`.

    >>> from edhie.expr import parse
    >>> to_prefix_tokens(parse("3.14159265*x0 + c").with_constants([0.5]), number_format=".3g")
    ['+', '*', '3.14', 'x0', '0.5']
    """
    values = iter(expr.constants)
    tokens = []
    for token in expr.tokens:
        if token == expr.library.constant:
            value = next(values)
        else:
            value = float(token) if number_format and is_numeral(token) else None
        tokens.append(token if value is None else formatted(value, number_format))
    return tokens


def to_postfix_tokens(expr: Expr) -> list[str]:
    """Return the tokens in postfix (reverse Polish) order."""
    out: list[str] = []
    waiting: list[tuple[str, int]] = []  # operators, and the number of their operands still to come
    for token, (_, _, symbol) in zip(to_prefix_tokens(expr), expr.walk(), strict=True):
        waiting.append((token, symbol.arity))
        while waiting and waiting[-1][1] == 0:
            out.append(waiting.pop()[0])
            if waiting:
                operator, missing = waiting.pop()
                waiting.append((operator, missing - 1))
    return out


def to_prefix(expr: Expr) -> str:
    """Return prefix notation as text, with blanks between tokens."""
    return " ".join(to_prefix_tokens(expr))


def to_postfix(expr: Expr) -> str:
    """Return postfix notation as text, with blanks between tokens."""
    return " ".join(to_postfix_tokens(expr))


def from_prefix(text: str | Sequence[str], library: SymbolLibrary) -> Expr:
    """Read prefix text or tokens."""
    return Expr(library, _tokens(text))


def from_postfix(text: str | Sequence[str], library: SymbolLibrary) -> Expr:
    """Read postfix text or tokens."""
    tokens = _tokens(text)
    shown = repr(shortened(" ".join(tokens)))
    whole = 0
    for i, token in enumerate(tokens):
        try:
            arity = library[token].arity
        except SymbolError as error:
            raise SymbolError(f"{error}; it is token {i} of {shown}") from None
        if whole < arity:
            raise ExpressionError(f"{token!r} at {i} in {shown} lacks {arity - whole} of its operands")
        whole += 1 - arity
    if whole != 1:
        raise ExpressionError(f"the tokens {shown} form {whole} expressions, not one")
    return Expr(library, postfix_to_prefix(tokens, lambda token: library[token].arity))


def postfix_to_prefix(tokens: Sequence[str], arity: Callable[[str], int]) -> list[str]:
    """Reorder the tokens of one whole tree from postfix to prefix."""
    operands: list[list[int]] = []  # positions of the operands of each token
    finished: list[int] = []
    for i, token in enumerate(tokens):
        first = len(finished) - arity(token)
        operands.append(finished[first:])
        finished[first:] = [i]
    out, waiting = [], finished
    while waiting:
        i = waiting.pop()
        out.append(tokens[i])
        waiting += reversed(operands[i])
    return out


def _tokens(text: str | Sequence[str]) -> list[str]:
    return text.split() if isinstance(text, str) else list(text)
