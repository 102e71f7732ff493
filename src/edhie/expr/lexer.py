"""Splitting of a formula's text into numbers, names and signs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from edhie.errors import ParseError
from edhie.expr.symbols import is_in_names

TOKEN = re.compile(r"(?P<number>(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?)|(?P<sign>\*\*|[-+*/^(),])|(?P<blank>\s+)")
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
