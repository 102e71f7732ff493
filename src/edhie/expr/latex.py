"""LaTeX out, from the table's own templates; the way in is in `latex_reader`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from edhie.expr.expression import Expr
from edhie.expr.numerals import numeral, short_numeral
from edhie.expr.symbols import OPERATORS, Precedence, Symbol

FRACTION_PRECEDENCE = Precedence.NEGATION  # closed in itself, it needs parentheses only under an exponent
EXP_IN_WORDS = replace(OPERATORS["exp"], name="", latex=r"\exp\left({0}\right)")
ENCLOSING = ("/", "inv")  # their LaTeX encloses the operands, which then need no parentheses


@dataclass(frozen=True)
class _Piece:
    text: str
    precedence: int

    def within(self, least: int) -> str:
        return self.text if self.precedence >= least else rf"\left({self.text}\right)"


def to_latex(expr: Expr, *, number_format: str = "") -> str:
    r"""The expression in LaTeX's mathematics.

    >>> from edhie.expr import parse
    >>> to_latex(parse("c*cos(x0) + (x0 + 1)^2/theta_1"))
    'c \\cdot \\cos\\left(x_{0}\\right) + \\frac{\\left(x_{0} + 1\\right)^{2}}{\\theta_{1}}'
    """
    values = list(expr.constants)
    e_is_taken = "e" in expr.library.variables
    stack: list[_Piece] = []
    for token in reversed(expr.tokens):
        symbol = expr.library[token]
        if symbol.arity:
            operands = [stack.pop() for _ in range(symbol.arity)]
            stack.append(_apply(EXP_IN_WORDS if symbol.name == "exp" and e_is_taken else symbol, operands))
            continue
        value = values.pop() if symbol.kind == "constant" else float(token) if symbol.kind == "number" else None
        if value is None:
            stack.append(_Piece(symbol.latex, Precedence.PRODUCT if symbol.latex.startswith("-") else Precedence.ATOM))
        else:
            stack.append(_number(value, number_format))
    return stack.pop().text


def _number(value: float, number_format: str) -> _Piece:
    if number_format == "r":
        text = short_numeral(value)
    else:
        text = format(value, number_format) if number_format else numeral(value)
    mantissa, _, exponent = text.partition("e")
    if exponent:
        text = rf"{mantissa} \cdot 10^{{{int(exponent)}}}"
    return _Piece(text, Precedence.PRODUCT if value < 0 or exponent else Precedence.ATOM)


def _apply(symbol: Symbol, operands: list[_Piece]) -> _Piece:
    if symbol.style == "function" or symbol.name in ENCLOSING:
        text = symbol.latex.format(*(operand.text for operand in operands))
        if symbol.name in ENCLOSING:
            return _Piece(text, FRACTION_PRECEDENCE)
        return _Piece(text, Precedence.POWER if symbol.name == "exp" else Precedence.ATOM)
    if symbol.style == "prefix":
        return _Piece(symbol.latex.format(_unsigned(operands[0], Precedence.PRODUCT)), Precedence.PRODUCT)
    if symbol.style == "postfix":
        return _Piece(symbol.latex.format(operands[0].within(Precedence.ATOM)), Precedence.POWER)
    left, right = operands
    if symbol.name == "^":
        return _Piece(symbol.latex.format(left.within(Precedence.ATOM), right.text), Precedence.POWER)
    bound = symbol.precedence
    # a right operand of equal rank keeps its parentheses
    return _Piece(symbol.latex.format(left.within(bound), _unsigned(right, bound + 1)), bound)


def _unsigned(piece: _Piece, least: int) -> str:
    """The piece as a right operand, where a sign in front would follow an operator."""
    return rf"\left({piece.text}\right)" if piece.text.startswith("-") else piece.within(least)
