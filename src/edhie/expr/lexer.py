"""Splitting of a formula's text into numbers, names and signs."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from edhie.errors import ParseError, shortened
from edhie.expr.symbols import Symbol, is_in_names

TOKEN = re.compile(r"(?P<number>(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?)|(?P<sign>\*\*|[-+*/^(),])|(?P<blank>\s+)")
FOLDED = ("min", "max")  # of three and more operands, taken two by two
LOOK_ALIKES = {"−": "-", "–": "-", "×": "*", "÷": "/", "[": "(", "]": ")", "{": "(", "}": ")"}  # noqa: RUF001
LOOK_ALIKES |= {"\u00b7": "*", "\u0387": "*", "\u22c5": "*"}  # three dots that look the same
LOOK_ALIKES |= {superscript: f"^{digit}" for digit, superscript in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}


@dataclass(frozen=True)
class Token:
    """A piece of a formula's text."""

    kind: str
    """number, name, sign, power (`^2` where it is one token) or end."""
    text: str
    position: int


class TokenReader:
    """What parsers share: the place in the tokens of a text, the last of which is an end token."""

    def __init__(self, text: str, tokens: list[Token]) -> None:
        self.text, self.tokens, self.at = text, tokens, 0

    @property
    def next(self) -> Token:
        """The token that comes next."""
        return self.tokens[self.at]

    def take(self) -> Token:
        """Return the next token, and go on behind it."""
        self.at += 1
        return self.tokens[self.at - 1]

    def error(self, what: str, token: Token | None = None) -> ParseError:
        """Return an error that points at a token, by default the next one."""
        return ParseError(what, self.text, (token or self.next).position)

    def finite(self, token: Token) -> float:
        """Return the value of a number; raise an error if a double cannot hold it."""
        value = float(token.text)
        if not math.isfinite(value):
            raise self.error(f"the number {shortened(token.text, 40)} is too large for a double", token)
        return value

    def check_operands(self, symbol: Symbol, count: int, token: Token) -> None:
        """Raise an error unless a function takes so many operands."""
        arity = symbol.arity
        if count != arity and not (symbol.name in FOLDED and count > arity):
            raise self.error(f"{token.text!r} takes {arity} operand{'s' * (arity > 1)}, not {count}", token)


def tokenise(text: str) -> list[Token]:
    """Return the tokens of a text without blanks; an unknown character raises."""
    tokens, at = [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        end = match.end() if match else at
        if match is None and text[at].isidentifier():
            while end < len(text) and is_in_names(text[end]):
                end += 1
        if end == at:
            meant = LOOK_ALIKES.get(text[at])
            hint = f"; did you mean {meant!r}?" if meant else ""
            raise ParseError(f"unexpected character {text[at]!r}{hint}", text, at)
        if match is None:
            tokens.append(Token("name", text[at:end], at))
        elif not match.group("blank"):
            kind = "number" if match.group("number") else "sign"
            tokens.append(Token(kind, "^" if match.group() == "**" else match.group(), at))
        at = end
    return tokens
