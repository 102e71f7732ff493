"""Infix notation out: with the fewest parentheses that keep the tree as it is."""

from __future__ import annotations

from edhie.expr.expression import Expr
from edhie.expr.numerals import formatted
from edhie.expr.symbols import Precedence, Symbol

LEFT_ASSOCIATIVE = ("+", "-", "*", "/")
Pieces = list[str | int]  # what a node prints: tokens, and the positions of its operands


def to_infix_tokens(expr: Expr, *, number_format: str = "") -> list[str]:
    """The infix tokens with parentheses, such as a sequence model reads; `^2` is one token.

    Reading them back gives the same tree. A fitted constant with a value prints as that
    value, and so reads back as a number.
    """
    return _Printer(expr, number_format, for_text=False).whole()


def to_infix(expr: Expr, *, number_format: str = "") -> str:
    """The text a person reads, and `parse` reads back to the same tree.

    Numbers are spelled as `numerals.formatted` does: with all digits unless `number_format` says otherwise.

    >>> from edhie.expr import parse
    >>> to_infix(parse("((x0 + 1) * x1) ** 2 - (3 - x0)"))
    '((x0 + 1)*x1)^2 - (3 - x0)'
    """
    return "".join(_spaced(_Printer(expr, number_format, for_text=True).whole()))


class _Printer:
    """Prints from the root down with a stack of its own, so that no tree is too deep or too long."""

    def __init__(self, expr: Expr, number_format: str, for_text: bool) -> None:
        self.expr, self.for_text = expr, for_text
        self.symbols = [symbol for _, _, symbol in expr.walk()]
        self.numbers = _numbers(expr, self.symbols, number_format)

    def whole(self) -> list[str]:
        out: list[str] = []
        waiting: Pieces = [0]
        while waiting:
            piece = waiting.pop()
            if isinstance(piece, str):
                out.append(piece)
            elif self.symbols[piece].arity:
                waiting.extend(reversed(self.operator(self.symbols[piece], *self.expr.child_positions(piece))))
            else:
                out.append(self.leaf(piece))
        return out

    def leaf(self, position: int) -> str:
        return self.numbers.get(position, self.expr.tokens[position])

    def precedence(self, position: int) -> int:
        """How tightly what is printed for a node binds; a negative number binds like a negation: (-3)^2."""
        is_negative = self.numbers.get(position, "").startswith("-")
        return Precedence.NEGATION if is_negative else self.symbols[position].precedence

    def within(self, position: int, least: int) -> Pieces:
        """An operand, in parentheses unless it binds at least as tightly as `least`."""
        return [position] if self.precedence(position) >= least else ["(", position, ")"]

    def operator(self, symbol: Symbol, first: int, second: int = -1) -> Pieces:
        name, precedence = symbol.name, symbol.precedence
        if symbol.style == "function":
            return [name, "(", first, ")"] if second < 0 else [name, "(", first, ",", second, ")"]
        if symbol.style == "prefix":
            # -(3) is a negated 3, -3 the number; -(-x) is kinder to the eye than --x
            is_bare = self.precedence(first) > Precedence.NEGATION and first not in self.numbers
            return ["-", first] if is_bare else ["-", "(", first, ")"]
        if symbol.style == "postfix":
            exponent = ["^", name[1:]] if self.for_text else [name]
            return [*self.within(first, Precedence.POWER + 1), *exponent]
        if name in LEFT_ASSOCIATIVE:
            # a sign right after an operator (x + -y) is legal but hard to read, so it gets parentheses
            is_sign = self.precedence(second) == Precedence.NEGATION
            right = self.within(second, Precedence.NEGATION + 1 if is_sign else precedence + 1)
            return [*self.within(first, precedence), name, *right]
        # where the library has both `^2` and `^`, x^2 is the former and x^(2) the latter
        is_ambiguous = self.for_text and f"^{self.leaf(second)}" in self.expr.library
        right = self.within(second, Precedence.ATOM + 1 if is_ambiguous else Precedence.POWER)
        return [*self.within(first, Precedence.POWER + 1), name, *right]


def _numbers(expr: Expr, symbols: list[Symbol], number_format: str) -> dict[int, str]:
    """The text of every number, literal number and fitted constant with a value, by position."""
    fitted = iter(expr.constants)
    texts = {}
    for i, (token, symbol) in enumerate(zip(expr.tokens, symbols, strict=True)):
        value = next(fitted) if symbol.kind == "constant" else None
        if symbol.kind == "number" or (symbol.kind == "literal" and token[-1].isdigit()):
            value = float(token)
        if value is not None:
            texts[i] = formatted(value, number_format)
    return texts


def _spaced(tokens: list[str]) -> list[str]:
    """Blanks around binary + and -, and after commas."""
    out: list[str] = []
    for i, token in enumerate(tokens):
        is_binary = token in ("+", "-") and i > 0 and tokens[i - 1] not in ("(", ",", "+", "-", "*", "/", "^")
        out.append(f" {token} " if is_binary else ", " if token == "," else token)
    return out
