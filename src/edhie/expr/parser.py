"""Reading the formulas that people write.

A precedence-climbing parser by hand, since its errors are the interface: each points at
the character and says what was probably meant, which parser generators do not give.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from edhie.errors import ExpressionError, ParseError, SymbolError, suggestion
from edhie.expr.expression import Expr
from edhie.expr.library import SymbolLibrary
from edhie.expr.standard_libraries import everything
from edhie.expr.symbols import ALIASES, NAMED_LITERALS, OPERATORS, Precedence

TOKEN = re.compile(
    r"(?P<number>(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)|(?P<name>[^\W\d]\w*)|(?P<sign>\*\*|[-+*/^(),])|(?P<blank>\s+)"
)
BINARY = {"+": Precedence.SUM, "-": Precedence.SUM, "*": Precedence.PRODUCT, "/": Precedence.PRODUCT}
LOOK_ALIKES = {"−": "-", "–": "-", "·": "*", "×": "*", "÷": "/", "[": "(", "]": ")", "{": "(", "}": ")"}  # noqa: RUF001
MAX_DEPTH = 400  # nested parentheses beyond this are a mistake, and would exhaust Python's stack


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    position: int


def parse(text: str, library: SymbolLibrary | None = None, *, variables: Sequence[str] | None = None) -> Expr:
    """The expression that `text` spells, over `library`, or over every known symbol.

    Without a library the variables are those named, or else every name that is no known
    function; x0, x1, … keep their places. The fitted constant is `c`.

    >>> parse("3*x0^2 + sin(x1)/c").tokens
    ('+', '*', '3', '^2', 'x0', '/', 'sin', 'x1', 'c')
    >>> parse("x + sinn(x)")
    Traceback (most recent call last):
    ...
    edhie.errors.ParseError: unknown function 'sinn'; did you mean 'sin'? at 4 in 'x + sinn(x)'
      x + sinn(x)
          ^
    """
    tokens = _tokenise(text)
    if library is None:
        library = everything(list(variables) if variables is not None else _variables_in(tokens))
    elif variables is not None:
        raise TypeError("give parse() a library or the variables, not both")
    return _Parser(text, tokens, library).whole()


def _tokenise(text: str) -> list[_Token]:
    tokens, at = [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            meant = LOOK_ALIKES.get(text[at])
            hint = f"; did you mean {meant!r}?" if meant else ""
            raise ParseError(f"unexpected character {text[at]!r}{hint}", text, at)
        if match.lastgroup != "blank" and match.group("blank") is None:
            kind = "number" if match.group("number") else "name" if match.group("name") else "sign"
            tokens.append(_Token(kind, "^" if match.group() == "**" else match.group(), at))
        at = match.end()
    return [*tokens, _Token("end", "", len(text))]


def _variables_in(tokens: list[_Token]) -> list[str]:
    """Names that are not functions or literals: x0, x1, … by number, then the others as they come."""
    names = []
    for token, after in itertools.pairwise(tokens):
        known = ALIASES.get(token.text, token.text)
        is_leaf = token.kind == "name" and after.text != "("
        if is_leaf and token.text != "c" and known not in NAMED_LITERALS and known not in OPERATORS:
            names.append(token.text)
    found = list(dict.fromkeys(names))
    numbered = [int(name[1:]) for name in found if re.fullmatch(r"x(0|[1-9]\d{0,2})", name)]
    columns = [f"x{i}" for i in range(max(numbered) + 1)] if numbered else []
    return columns + [name for name in found if name not in columns]


class _Parser:
    """One pass over the tokens; every method returns prefix tokens."""

    def __init__(self, text: str, tokens: list[_Token], library: SymbolLibrary) -> None:
        self.text, self.tokens, self.library = text, tokens, library
        self.at = 0
        self.depth = 0

    def whole(self) -> Expr:
        if self.next.kind == "end":
            raise self.error("an expression is missing")
        prefix = self.expression(0)
        if self.next.kind != "end":
            raise self.unexpected()
        return Expr(self.library, prefix)

    @property
    def next(self) -> _Token:
        return self.tokens[self.at]

    def take(self) -> _Token:
        token = self.next
        self.at += 1
        return token

    def error(self, what: str, token: _Token | None = None) -> ParseError:
        return ParseError(what, self.text, (token or self.next).position)

    def unexpected(self) -> ParseError:
        token, before = self.next, self.tokens[self.at - 1]
        if token.text == ")":
            return self.error("this ')' closes nothing")
        if token.text == ",":
            return self.error("a comma belongs between the operands of a function")
        hint = f"; did you mean '{before.text}*{token.text}'?" if before.kind != "sign" or before.text == ")" else ""
        return self.error(f"an operator is missing before {token.text!r}{hint}")

    # -- the grammar ------------------------------------------------------------------

    def expression(self, least: int) -> list[str]:
        """Everything that binds more tightly than `least`."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error(f"more than {MAX_DEPTH} levels of nesting")
        left = self.operand()
        while True:
            token = self.next
            if token.text == "^" and least < Precedence.POWER:
                left = self.power(left)
            elif token.text in BINARY and least < BINARY[token.text]:
                self.take()
                left = [self.known(token.text, token), *left, *self.expression(BINARY[token.text])]
            else:
                self.depth -= 1
                return left

    def operand(self) -> list[str]:
        token = self.take()
        if token.kind == "number":
            return [self.number(token, "")]
        if token.kind == "name":
            return self.call(token) if self.next.text == "(" else self.leaf(token)
        if token.text == "(":
            inside = self.expression(0)
            self.close(token)
            return inside
        if token.text == "-":
            return self.negation(token)
        if token.text == "+":
            return self.expression(Precedence.NEGATION)
        self.at -= 1
        if token.kind == "end":
            raise self.error("the expression ends where an operand should be")
        raise self.error(f"an operand is missing before {token.text!r}")

    def close(self, opening: _Token) -> None:
        if self.next.text == ")":
            self.take()
            return
        if self.next.kind == "end":
            raise self.error("this '(' is never closed", opening)
        raise self.unexpected()

    def negation(self, sign: _Token) -> list[str]:
        number_is_base = self.tokens[min(self.at + 1, len(self.tokens) - 1)].text == "^"
        if self.next.kind == "number" and not number_is_base:
            return [self.number(self.take(), "-")]
        operand = self.expression(Precedence.NEGATION)
        if "neg" in self.library:
            return ["neg", *operand]
        for zero_or_less, name in (("-1", "*"), ("0", "-")):
            if name in self.library and (self.library.has_numbers or zero_or_less in self.library):
                return [name, zero_or_less, *operand]
        raise self.error(f"a minus sign needs 'neg' in the library ({self.library})", sign)

    def power(self, base: list[str]) -> list[str]:
        sign = self.take()
        exponent, after = self.next, self.tokens[min(self.at + 1, len(self.tokens) - 1)]
        if exponent.text.isdigit() and after.text != "^" and f"^{exponent.text}" in self.library:
            self.take()
            return [f"^{exponent.text}", *base]
        right = self.expression(Precedence.POWER - 1)
        if "^" not in self.library and len(right) == 1 and f"^{right[0]}" in self.library:
            return [f"^{right[0]}", *base]
        if base == ["e"] and not ("^" in self.library and "e" in self.library) and "exp" in self.library:
            return ["exp", *right]
        return [self.known("^", sign), *base, *right]

    def call(self, name: _Token) -> list[str]:
        function = self.function_name(name)
        opening = self.take()
        operands = []
        if self.next.text != ")":
            operands.append(self.expression(0))
            while self.next.text == ",":
                self.take()
                operands.append(self.expression(0))
        self.close(opening)
        arity = self.library[function].arity
        if len(operands) != arity:
            raise self.error(f"{name.text!r} takes {arity} operand{'s' * (arity > 1)}, not {len(operands)}", name)
        return [function, *(token for operand in operands for token in operand)]

    def function_name(self, name: _Token) -> str:
        for candidate in (name.text, ALIASES.get(name.text, "")):
            if candidate in self.library and self.library[candidate].arity:
                return candidate
        if name.text in self.library:
            raise self.error(f"{name.text!r} is no function; did you mean '{name.text}*('?", name)
        functions = [each for each in self.library.readable_names if each.isidentifier() and self._takes_operands(each)]
        known = ALIASES.get(name.text, name.text)
        if known in OPERATORS:
            raise self.error(f"the function {name.text!r} is not in the library ({self.library})", name)
        raise self.error(f"unknown function {name.text!r}{suggestion(name.text, functions)}", name)

    def _takes_operands(self, name: str) -> bool:
        return self.library[ALIASES.get(name, name) if name not in self.library else name].arity > 0

    def leaf(self, name: _Token) -> list[str]:
        for candidate in (name.text, ALIASES.get(name.text, "")):
            if candidate in self.library:
                if self.library[candidate].arity:
                    raise self.error(f"{name.text!r} is a function; give it operands in parentheses", name)
                return [candidate]
        literal = NAMED_LITERALS.get(ALIASES.get(name.text, name.text))
        if literal is not None and self.next.text == "^" and literal.name == "e" and "exp" in self.library:
            return ["e"]  # e^u, which power() turns into exp(u)
        if literal is not None and self.library.has_numbers:
            return [repr(literal.value)]
        leaves = [each for each in self.library.readable_names if not self._takes_operands(each)]
        raise self.error(f"unknown symbol {name.text!r}{suggestion(name.text, leaves)}", name)

    def number(self, token: _Token, sign: str) -> str:
        if not math.isfinite(float(token.text)):
            raise self.error(f"the number {token.text} is too large for a double", token)
        text = sign + token.text
        try:
            self.library.id_of(text)
        except SymbolError as error:
            raise self.error(str(error), token) from None
        return text

    def known(self, name: str, token: _Token) -> str:
        if name not in self.library:
            raise self.error(f"the operator {name!r} is not in the library ({self.library})", token)
        return name


def parse_lines(lines: Sequence[str], library: SymbolLibrary) -> list[Expr]:
    """Each line's expression; an error names the line, counted from 1."""
    out = []
    for number, line in enumerate(lines, start=1):
        try:
            out.append(parse(line, library))
        except (ParseError, ExpressionError) as error:
            raise ExpressionError(f"line {number}: {error}") from error
    return out
