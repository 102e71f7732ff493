"""Infix notation out: with the fewest parentheses that keep the tree as it is."""

from __future__ import annotations

from dataclasses import dataclass

from edhie.expr.expression import Expr
from edhie.expr.library import SymbolLibrary
from edhie.expr.numerals import numeral
from edhie.expr.symbols import Precedence, Symbol

LEFT_ASSOCIATIVE = ("+", "-", "*", "/")


@dataclass(frozen=True)
class _Piece:
    """A printed subtree: its tokens and how tightly its outermost symbol binds."""

    tokens: list[str]
    precedence: int
    is_plain_number: bool = False

    def within(self, least: int) -> list[str]:
        """Its tokens, in parentheses unless it binds at least as tightly as `least`."""
        return self.tokens if self.precedence >= least else ["(", *self.tokens, ")"]


def to_infix_tokens(expr: Expr, *, number_format: str = "") -> list[str]:
    """The infix tokens with parentheses, such as a sequence model reads; `^2` is one token.

    Reading them back gives the same tree. A fitted constant with a value prints as that
    value, and so reads back as a number.
    """
    return _print(expr, number_format, for_text=False)


def to_infix(expr: Expr, *, number_format: str = "") -> str:
    """The text a person reads, and `parse` reads back to the same tree.

    >>> from edhie.expr import parse
    >>> to_infix(parse("((x0 + 1) * x1) ** 2 - (3 - x0)"))
    '((x0 + 1)*x1)^2 - (3 - x0)'
    """
    return "".join(_spaced(_print(expr, number_format, for_text=True)))


def _print(expr: Expr, number_format: str, for_text: bool) -> list[str]:
    values = list(expr.constants)
    stack: list[_Piece] = []
    for token in reversed(expr.tokens):
        symbol = expr.library[token]
        if symbol.arity == 0:
            value = values.pop() if symbol.kind == "constant" else None
            stack.append(_leaf(token, symbol, value, number_format))
        else:
            operands = [stack.pop() for _ in range(symbol.arity)]
            stack.append(_apply(symbol, operands, expr.library, for_text))
    return stack.pop().tokens


def _leaf(token: str, symbol: Symbol, value: float | None, number_format: str) -> _Piece:
    is_number = value is not None or symbol.kind == "number" or (token[-1:].isdigit() and symbol.kind == "literal")
    if not is_number:
        return _Piece([token], Precedence.ATOM)
    number = float(token) if value is None else value
    text = numeral(number)
    if number_format and len(format(number, number_format)) < len(text):
        text = format(number, number_format)
    # a negative number binds like a negation: (-3)^2, x*(-3)
    return _Piece([text], Precedence.NEGATION if text.startswith("-") else Precedence.ATOM, is_plain_number=True)


def _apply(symbol: Symbol, operands: list[_Piece], library: SymbolLibrary, for_text: bool) -> _Piece:
    name, precedence = symbol.name, symbol.precedence
    if symbol.style == "function":
        inside = operands[0].tokens if symbol.arity == 1 else [*operands[0].tokens, ",", *operands[1].tokens]
        return _Piece([name, "(", *inside, ")"], Precedence.ATOM)
    if symbol.style == "prefix":
        operand = operands[0]
        # -(3) is a negated 3, -3 the number; -(-x) is kinder to the eye than --x
        bare = operand.precedence > Precedence.NEGATION and not operand.is_plain_number
        return _Piece(["-", *(operand.tokens if bare else ["(", *operand.tokens, ")"])], Precedence.NEGATION)
    if symbol.style == "postfix":
        exponent = ["^", name[1:]] if for_text else [name]
        return _Piece([*operands[0].within(Precedence.POWER + 1), *exponent], Precedence.POWER)
    left, right = operands
    if name in LEFT_ASSOCIATIVE:
        # a sign right after an operator (x + -y) is legal but hard to read, so it gets parentheses
        least = Precedence.NEGATION + 1 if right.precedence == Precedence.NEGATION else precedence + 1
        return _Piece([*left.within(precedence), name, *right.within(least)], precedence)
    exponent = right.within(Precedence.POWER)
    if for_text and len(exponent) == 1 and f"^{exponent[0]}" in library:
        exponent = ["(", *exponent, ")"]  # the library has both `^2` and `^`: x^2 is the former, x^(2) the latter
    return _Piece([*left.within(Precedence.POWER + 1), name, *exponent], Precedence.POWER)


def _spaced(tokens: list[str]) -> list[str]:
    """Blanks around binary + and -, and after commas."""
    out: list[str] = []
    for i, token in enumerate(tokens):
        is_binary = token in ("+", "-") and i > 0 and tokens[i - 1] not in ("(", ",", "+", "-", "*", "/", "^")
        out.append(f" {token} " if is_binary else ", " if token == "," else token)
    return out
