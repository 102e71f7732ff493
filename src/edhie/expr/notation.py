"""Prefix and postfix notation, out and in; infix tokens in."""

from __future__ import annotations

from collections.abc import Sequence

from edhie.errors import ExpressionError
from edhie.expr.expression import Expr
from edhie.expr.library import SymbolLibrary
from edhie.expr.numerals import is_numeral, numeral


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
    tokens = to_prefix_tokens(expr)
    stack: list[list[str]] = []
    for i in range(expr.size - 1, -1, -1):
        operands = [stack.pop() for _ in range(expr.library[expr.tokens[i]].arity)]
        stack.append([token for operand in operands for token in operand] + [tokens[i]])
    return stack.pop()


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
    stack: list[list[str]] = []
    for i, token in enumerate(tokens):
        arity = library[token].arity
        if len(stack) < arity:
            raise ExpressionError(
                f"{token!r} at {i} in {' '.join(tokens)!r} lacks {arity - len(stack)} of its operands"
            )
        operands = stack[len(stack) - arity :]
        del stack[len(stack) - arity :]
        stack.append([token, *(each for operand in operands for each in operand)])
    if len(stack) != 1:
        raise ExpressionError(f"the tokens {' '.join(tokens)!r} form {len(stack)} expressions, not one")
    return Expr(library, stack[0])


def from_infix_tokens(tokens: Sequence[str], library: SymbolLibrary) -> Expr:
    """The expression that infix tokens spell, `^2` being one token where the library has it."""
    from edhie.expr.parser import parse

    postfix = {symbol.name for symbol in library.symbols if symbol.style == "postfix"}
    # a text keeps `^2` and `^ 2` apart by parentheses: x^2 and x^(2)
    spelled = []
    for i, token in enumerate(tokens):
        after_power = i > 0 and tokens[i - 1] == "^" and is_numeral(token)
        spelled.append(token if token in postfix or not after_power else f"({token})")
    return parse(" ".join(spelled), library)


def _tokens(text: str | Sequence[str]) -> list[str]:
    return text.split() if isinstance(text, str) else list(text)
