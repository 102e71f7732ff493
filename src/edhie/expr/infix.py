"""Infix notation, with the fewest parentheses that keep the tree."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from edhie.expr.expression import Expr
from edhie.expr.library import SymbolLibrary
from edhie.expr.numerals import formatted
from edhie.expr.symbols import NAMED_LITERALS, OPERATORS, Precedence, Symbol
from edhie.expr.writer import Piece, Syntax, Template, Variant, number_piece, write

LEFT_ASSOCIATIVE = ("+", "-", "*", "/")


def to_infix_tokens(expr: Expr, *, number_format: str = "") -> list[str]:
    """Return the infix tokens with parentheses, as a sequence model reads them; `^2` is one token.

    Reading them back gives the same tree. A fitted constant with a value prints as that
    value, and so reads back as a number.
    """
    return write(expr, TOKENS, number_format=number_format).text.split()


def to_infix(expr: Expr, *, number_format: str = "") -> str:
    """Return the text that people read, and that `parse` reads back to the same tree.

    Numbers are written by `numerals.formatted`: with all digits unless `number_format` says otherwise.

    >>> from edhie.expr import parse
    >>> to_infix(parse("((x0 + 1) * x1) ** 2 - (3 - x0)"))
    '((x0 + 1)*x1)^2 - (3 - x0)'
    """
    return write(expr, TEXT, number_format=number_format).text


def _template(symbol: Symbol, gap: str) -> Template:
    """Return the template of an operator, with `gap` between its tokens."""
    name, precedence = symbol.name, symbol.precedence
    if symbol.style == "function":
        arguments = "{0}" if symbol.arity == 1 else f"{{0}}{gap}, {{1}}"
        return Template(f"{name}{gap}({gap}{arguments}{gap})")
    if symbol.style == "prefix":
        return Template(f"-{gap}{{0}}", precedence, (precedence + 1,))
    if symbol.style == "postfix":
        return Template(f"{{0}}{gap}{name}", precedence, (precedence + 1,))
    operands = (precedence, precedence + 1) if name in LEFT_ASSOCIATIVE else (precedence + 1, precedence)
    around = " " if precedence == Precedence.SUM else gap
    return Template(f"{{0}}{around}{name}{around}{{1}}", precedence, operands)


def _is_number(operands: Sequence[Piece], library: SymbolLibrary) -> bool:
    return operands[0].number is not None and operands[0].text not in NAMED_LITERALS


def _syntax(gap: str, *variants: Variant) -> Syntax:
    negated_number = Template(f"-{gap}({gap}{{0}}{gap})", Precedence.NEGATION)  # -(3) is a negated 3, -3 the number
    return Syntax(
        {name: _template(symbol, gap) for name, symbol in OPERATORS.items()},
        variants=((_is_number, {"neg": negated_number}), *variants),
        custom=partial(_template, gap=gap),
        literal={name: name for name in NAMED_LITERALS}.get,
        number=lambda value, number_format: number_piece(formatted(value, number_format), value),
        parentheses=f"({gap}{{0}}{gap})",
        # x + -y is legal but hard to read; so is --x
        is_signed=lambda piece: piece.precedence == Precedence.NEGATION,
    )


TEXT = _syntax(
    "",
    (  # where the library has both `^2` and `^`, x^2 is the former
        lambda operands, library: f"^{operands[1].text}" in library,
        {"^": Template("{0}^({1})", Precedence.POWER, (Precedence.POWER + 1, 0))},
    ),
)
TOKENS = _syntax(" ")
