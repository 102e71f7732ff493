"""Fitted constants with signs as people write them: x - 2 instead of x + (-2). Values stay the same to the bit."""

from __future__ import annotations

from typing import NamedTuple

from edhie.expr.expression import Expr
from edhie.expr.library import SymbolLibrary
from edhie.expr.symbols import OPERATORS

OPPOSITE = {"+": "-", "-": "+"}
PRODUCTS = ("*", "/")


class _Piece(NamedTuple):
    """A subtree: its tokens in prefix order, and the values of its constants."""

    tokens: tuple[str, ...]
    constants: tuple[float | None, ...] = ()


def plain_signs(expr: Expr) -> Expr:
    """The expression with no negative constant at the head of a term that is added or taken away.

    >>> from edhie.expr import parse
    >>> str(plain_signs(parse("x0 + c*x1 - c").with_constants([-2.0, -3.0])))
    'x0 - 2*x1 + 3'
    """
    library = expr.library
    if not all(_is_built_in(library, name) for name in OPPOSITE):
        return expr
    waiting: list[_Piece] = []
    constants = list(expr.constants)
    for token in reversed(expr.tokens):
        operands = [waiting.pop() for _ in range(library[token].arity)]
        if token == library.constant:
            waiting.append(_Piece((token,), (constants.pop(),)))
        elif token in OPPOSITE and len(operands) == 2:
            waiting.append(_sum(library, token, *operands))
        else:
            waiting.append(_joined(token, *operands))
    (whole,) = waiting
    return Expr.trusted(library, whole.tokens, whole.constants)


def _sum(library: SymbolLibrary, token: str, left: _Piece, right: _Piece) -> _Piece:
    if _begins_negative(library, right):
        token, right = OPPOSITE[token], _turned(right)
    if token == "+" and _begins_negative(library, left):
        return _joined("-", right, _turned(left))
    return _joined(token, left, right)


def _begins_negative(library: SymbolLibrary, piece: _Piece) -> bool:
    """Whether its first factor is a negative constant."""
    head = next(token for token in piece.tokens if token not in PRODUCTS or not _is_built_in(library, token))
    value = piece.constants[0] if head == library.constant else None
    return value is not None and value < 0


def _turned(piece: _Piece) -> _Piece:
    """With the other sign of its first constant."""
    first, *others = piece.constants
    assert first is not None
    return _Piece(piece.tokens, (-first, *others))


def _joined(token: str, *operands: _Piece) -> _Piece:
    tokens = [token, *(each for operand in operands for each in operand.tokens)]
    return _Piece(tuple(tokens), tuple(value for operand in operands for value in operand.constants))


def _is_built_in(library: SymbolLibrary, name: str) -> bool:
    return name in library and library[name] == OPERATORS[name]
