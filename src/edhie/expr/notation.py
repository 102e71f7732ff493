"""Prefix and postfix notation, out and in; infix tokens in."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from edhie.errors import ExpressionError, SymbolError, shortened
from edhie.expr.expression import Expr
from edhie.expr.library import SymbolLibrary
from edhie.expr.numerals import numeral


def to_prefix_tokens(expr: Expr) -> list[str]:
    """The tokens in prefix (Polish) order; a constant with a value is that number."""
    values = iter(expr.constants)
    tokens = []
    for token in expr.tokens:
        value = next(values) if token == expr.library.constant else None
        tokens.append(token if value is None else numeral(value))
    return tokens


def to_postfix_tokens(expr: Expr) -> list[str]:
    """The tokens in postfix (reverse Polish) order."""
    out: list[str] = []
    waiting: list[tuple[str, int]] = []  # operators, and how many of their operands are still to come
    for token, (_, _, symbol) in zip(to_prefix_tokens(expr), expr.walk(), strict=True):
        waiting.append((token, symbol.arity))
        while waiting and waiting[-1][1] == 0:
            out.append(waiting.pop()[0])
            if waiting:
                operator, missing = waiting.pop()
                waiting.append((operator, missing - 1))
    return out


def to_prefix(expr: Expr) -> str:
    """Prefix notation as text, blanks between tokens."""
    return " ".join(to_prefix_tokens(expr))


def to_postfix(expr: Expr) -> str:
    """Postfix notation as text, blanks between tokens."""
    return " ".join(to_postfix_tokens(expr))


def from_prefix(text: str | Sequence[str], library: SymbolLibrary) -> Expr:
    """The expression that prefix text or tokens spell."""
    return Expr(library, _tokens(text))


def from_postfix(text: str | Sequence[str], library: SymbolLibrary) -> Expr:
    """The expression that postfix text or tokens spell."""
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
    """The tokens of one whole tree, from postfix to prefix order."""
    operands: list[list[int]] = []  # by place, where its operands stand
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


def from_infix_tokens(tokens: Sequence[str], library: SymbolLibrary) -> Expr:
    """The expression that infix tokens spell, `^2` being one token where the library has it."""
    from edhie.expr.parser import parse_tokens

    return parse_tokens(tokens, library)


def _tokens(text: str | Sequence[str]) -> list[str]:
    return text.split() if isinstance(text, str) else list(text)
