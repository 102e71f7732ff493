"""Removal of neutral numbers and awkward signs: 1*x is x, x + (-2) is x - 2, 1/2*x is x/2."""

from __future__ import annotations

from typing import NamedTuple

from edhie.expr import Expr, SymbolLibrary
from edhie.expr.numerals import is_numeral, numeral
from edhie.expr.symbols import NAMED_LITERALS, NUMBER, OPERATORS

HELPERS = ("+", "-", "*", "/", "neg", "sqrt")
OPPOSITE = {"+": "-", "-": "+"}


class Piece(NamedTuple):
    """A subtree: its tokens in prefix order, and the values of its constants."""

    tokens: tuple[str, ...]
    constants: tuple[float | None, ...] = ()


ZERO, ONE = Piece(("0",)), Piece(("1",))


def widened(library: SymbolLibrary) -> SymbolLibrary:
    """Return the library with the symbols that numbers are spelled with; names of variables stay theirs."""
    return library.extended(NUMBER, *NAMED_LITERALS.values(), *(OPERATORS[name] for name in HELPERS))


def is_usable(library: SymbolLibrary, name: str) -> bool:
    """Return True if a built-in name stands for the built-in symbol in a library, not for a variable."""
    known = OPERATORS.get(name) or NAMED_LITERALS[name]
    return name in library and library[name] == known


def narrowed(expr: Expr, library: SymbolLibrary) -> Expr:
    """Return the expression over `library` and no more symbols than it needs beyond that."""
    used = (expr.library[token] for token in dict.fromkeys(expr.tokens))
    return expr.cast(library.extended(NUMBER, *(symbol for symbol in used if symbol.kind != "number")))


def without_neutral(expr: Expr) -> Expr:
    """Return the expression without neutral numbers; its values are the same wherever they are finite.

    >>> from edhie.expr import parse
    >>> str(without_neutral(parse("x0^1 + (-2)*x1 + 0*exp(x0)")))
    'x0 - 2*x1'
    """
    wide = widened(expr.library)
    waiting: list[Piece] = []
    constants = list(expr.constants)
    for token in reversed(expr.tokens):
        symbol = expr.library[token]
        operands = [waiting.pop() for _ in range(symbol.arity)]
        if symbol.kind == "constant":
            waiting.append(Piece((token,), (constants.pop(),)))
        elif symbol.kind != "operator" or symbol.is_custom:
            waiting.append(_joined(token, *operands))
        else:
            waiting.append(_simpler(wide, token, *operands))
    found = waiting.pop()
    return narrowed(Expr(wide, found.tokens, found.constants), expr.library)


def _joined(token: str, *operands: Piece) -> Piece:
    tokens = (token, *(name for piece in operands for name in piece.tokens))
    return Piece(tokens, tuple(value for piece in operands for value in piece.constants))


def _simpler(library: SymbolLibrary, name: str, a: Piece, b: Piece | None = None) -> Piece:
    if b is None:
        return _negated(library, a) if name == "neg" else _joined(name, a)
    if name in OPPOSITE:
        return _sum(library, name, a, b)
    if name == "*":
        return _product(library, a, b)
    if name == "/":
        return _quotient(library, a, b)
    return _power(library, a, b) if name == "^" else _joined(name, a, b)


def _sum(library: SymbolLibrary, name: str, a: Piece, b: Piece) -> Piece:
    if b == ZERO:
        return a
    if a == ZERO:
        return b if name == "+" else _negated(library, b)
    opposite = _without_sign(library, b)
    return _joined(name, a, b) if opposite is None else _joined(OPPOSITE[name], a, opposite)


def _product(library: SymbolLibrary, a: Piece, b: Piece) -> Piece:
    if ZERO in (a, b):
        return ZERO
    for one, other in ((a, b), (b, a)):
        if one == ONE:
            return other
        if one.tokens == ("-1",) and is_usable(library, "neg"):
            return _negated(library, other)
        if _is_unit_fraction(one):
            return _joined("/", other, Piece(one.tokens[2:]))
    return _joined("*", a, b)


def _quotient(library: SymbolLibrary, a: Piece, b: Piece) -> Piece:
    if b == ONE or (a == ZERO and b != ZERO):
        return a
    if b.tokens == ("-1",) and is_usable(library, "neg"):
        return _negated(library, a)
    if _is_unit_fraction(b):  # x/(1/2) is 2*x
        return _product(library, Piece(b.tokens[2:]), a)
    return _joined("/", a, b)


def _power(library: SymbolLibrary, a: Piece, b: Piece) -> Piece:
    if b == ONE:
        return a
    if b == ZERO:
        return ONE
    short = f"^{b.tokens[0]}"
    if len(b.tokens) == 1 and short in library and library[short].kind == "operator":
        return _joined(short, a)
    if b.tokens in (("0.5",), ("/", "1", "2")) and is_usable(library, "sqrt"):
        return _joined("sqrt", a)
    return _joined("/", ONE, a) if b.tokens == ("-1",) else _joined("^", a, b)


def _negated(library: SymbolLibrary, a: Piece) -> Piece:
    opposite = _without_sign(library, a)
    if opposite is not None:
        return opposite
    if len(a.tokens) == 1 and is_numeral(a.tokens[0]):
        return Piece((f"-{a.tokens[0]}",))
    return _joined("neg", a) if is_usable(library, "neg") else _joined("*", Piece(("-1",)), a)


def _without_sign(library: SymbolLibrary, a: Piece) -> Piece | None:
    """Return the piece without its minus sign; None if it has none."""
    tokens, at = a.tokens, 0
    while tokens[at] in ("*", "/"):  # to the first factor
        at += 1
    if tokens[at] == "neg" and library["neg"].kind == "operator":
        return Piece(tokens[:at] + tokens[at + 1 :], a.constants)
    if not (is_numeral(tokens[at]) and tokens[at].startswith("-")):
        return None
    positive = numeral(-float(tokens[at]))
    if positive == "1" and at > 0 and tokens[at - 1] == "*":
        return Piece(tokens[: at - 1] + tokens[at + 1 :], a.constants)
    return Piece((*tokens[:at], positive, *tokens[at + 1 :]), a.constants)


def _is_unit_fraction(piece: Piece) -> bool:
    return len(piece.tokens) == 3 and piece.tokens[:2] == ("/", "1") and is_numeral(piece.tokens[2])
