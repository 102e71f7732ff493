"""Reading of formulas in infix notation.

A precedence parser written by hand: each error points at a character and says what was probably meant, which parser
generators do not offer. It keeps its own stack, so a formula may have any length and depth.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from edhie.errors import SymbolError, shortened, suggestion
from edhie.expr.expression import Expr
from edhie.expr.lexer import FOLDED, Token, TokenReader, tokenise
from edhie.expr.library import SymbolLibrary
from edhie.expr.notation import postfix_to_prefix
from edhie.expr.numerals import is_numeral, numeral
from edhie.expr.standard_libraries import everything
from edhie.expr.symbols import ALIASES, NAMED_LITERALS, OPERATORS, Precedence, is_name

BINARY = {"+": Precedence.SUM, "-": Precedence.SUM, "*": Precedence.PRODUCT, "/": Precedence.PRODUCT}


@dataclass
class _Waiting:
    """An operator that waits for its last operand, or an open parenthesis, which binds nothing."""

    symbol: str
    binds: int
    token: Token
    name: Token | None = None
    """Name as it was written, for a function called with parentheses."""
    operands: int = 0
    """Number of the call's operands that are read, but for the last."""


def parse(text: str, library: SymbolLibrary | None = None, *, variables: Sequence[str] | None = None) -> Expr:
    """Read an expression from infix text, over `library` or every known symbol.

    Without a library the variables are those given, or else all names that are no known function; x0, x1, … keep their
    places. The fitted constant is `c`.

    >>> parse("3*x0^2 + sin(x1)/c").tokens
    ('+', '*', '3', '^2', 'x0', '/', 'sin', 'x1', 'c')
    >>> parse("x + sinn(x)")
    Traceback (most recent call last):
    ...
    edhie.errors.ParseError: unknown function 'sinn'; did you mean 'sin'? at 4 in 'x + sinn(x)'
      x + sinn(x)
          ^
    """
    tokens = [*tokenise(text), Token("end", "", len(text))]
    if library is None:
        library = everything(variables if variables is not None else _variables_in(tokens))
    elif variables is not None:
        raise TypeError("give parse() a library or the variables, not both")
    return _Parser(text, tokens, library).whole()


def from_infix_tokens(tokens: Sequence[str], library: SymbolLibrary) -> Expr:
    """Read infix tokens; `^2` as one token differs from `^`, `2`."""
    text = " ".join(tokens)
    read, at = [], 0
    for token in tokens:
        if token in library and library[token].style == "postfix":
            read.append(Token("power", token, at))
        elif is_numeral(token):
            read.append(Token("number", token, at))
        else:
            read += [Token(piece.kind, piece.text, at + piece.position) for piece in tokenise(token)]
        at += len(token) + 1
    return _Parser(text, [*read, Token("end", "", len(text))], library, has_power_tokens=True).whole()


def _variables_in(tokens: list[Token]) -> list[str]:
    """Return names that are not functions or literals: x0, x1, … by number, then the others in order."""
    names = []
    for token, after in itertools.pairwise(tokens):
        known = ALIASES.get(token.text, token.text)
        is_leaf = token.kind == "name" and after.text != "("
        if is_leaf and token.text != "c" and known not in NAMED_LITERALS and known not in OPERATORS:
            names.append(token.text)
    found = dict.fromkeys(names)
    numbered = [int(name[1:]) for name in found if re.fullmatch(r"x(0|[1-9]\d{0,2})", name)]
    columns = dict.fromkeys(f"x{i}" for i in range(max(numbered, default=-1) + 1))
    return list(columns | found)


class _Parser(TokenReader):
    """Reads the tokens in one pass and writes them in postfix order, each operator after its operands."""

    def __init__(self, text: str, tokens: list[Token], library: SymbolLibrary, has_power_tokens: bool = False) -> None:
        super().__init__(text, tokens)
        self.library, self.has_power_tokens = library, has_power_tokens
        self.out: list[str] = []
        self.waiting: list[_Waiting] = []

    def whole(self) -> Expr:
        if self.next.kind == "end":
            raise self.error("an expression is missing")
        self.operand()
        while self.next.kind != "end":
            self.after_operand()
        self.finish()
        if self.waiting:
            raise self.error("this '(' is never closed", self.waiting[-1].token)
        return Expr(self.library, postfix_to_prefix(self.out, lambda token: self.library[token].arity))

    @property
    def shown_library(self) -> str:
        return shortened(str(self.library))

    # -- operands ---------------------------------------------------------------------

    def operand(self) -> None:
        """Read a leaf, and the signs, parentheses and functions that open before it."""
        while not self.reads_leaf():
            pass

    def reads_leaf(self) -> bool:
        """Take one step; return True for the leaf, False for something that opens before it."""
        token = self.take()
        if token.kind == "number":
            return self.number(token)
        if token.kind == "name":
            return self.call(token) if self.next.text == "(" else self.leaf(token)
        if token.text == "(":
            self.waiting.append(_Waiting("", 0, token))
        elif token.text == "-":
            return self.negation(token)
        elif token.text == "+":
            self.waiting.append(_Waiting("", Precedence.NEGATION, token))
        else:
            what = "the expression ends where an operand should be"
            raise self.error(what if token.kind == "end" else f"an operand is missing before {token.text!r}", token)
        return False

    def number(self, token: Token, sign: str = "") -> bool:
        self.finite(token)
        try:
            self.library.id_of(sign + token.text)
        except SymbolError as error:
            raise self.error(str(error), token) from None
        self.out.append(sign + token.text)
        return True

    def negation(self, sign: Token) -> bool:
        after = self.tokens[min(self.at + 1, len(self.tokens) - 1)]
        if self.next.kind == "number" and self.next.text[0] != "-" and not _is_power(after):
            return self.number(self.take(), "-")
        if "neg" in self.library:
            self.waiting.append(_Waiting("neg", Precedence.NEGATION, sign))
            return False
        for zero_or_less, name in (("-1", "*"), ("0", "-")):
            if name in self.library and (self.library.has_numbers or zero_or_less in self.library):
                self.out.append(zero_or_less)
                self.waiting.append(_Waiting(name, Precedence.NEGATION, sign))
                return False
        raise self.error(f"a minus sign needs 'neg' in the library ({self.shown_library})", sign)

    def leaf(self, name: Token) -> bool:
        for candidate in (name.text, ALIASES.get(name.text, "")):
            if candidate in self.library:
                if self.library[candidate].arity:
                    raise self.error(f"{name.text!r} is a function; give it operands in parentheses", name)
                self.out.append(candidate)
                return True
        literal = NAMED_LITERALS.get(ALIASES.get(name.text, name.text))
        if literal is not None and literal.name == "e" and self.next.text == "^" and "exp" in self.library:
            self.waiting.append(_Waiting("exp", Precedence.POWER, self.take()))  # e^u
            return False
        if literal is not None and self.library.has_numbers:
            self.out.append(numeral(literal.value))
            return True
        raise self.error(f"unknown symbol {shortened(name.text)!r}{self.hint(name, are_functions=False)}", name)

    def call(self, name: Token) -> bool:
        function = self.function_name(name)
        self.waiting.append(_Waiting(function, 0, self.take(), name))
        if self.next.text == ")":
            self.check_operands(self.library[function], 0, name)
        return False

    def function_name(self, name: Token) -> str:
        for candidate in (name.text, ALIASES.get(name.text, "")):
            if candidate in self.library and self.library[candidate].arity:
                return candidate
        shown = shortened(name.text)
        if name.text in self.library:
            raise self.error(f"{shown!r} is no function; did you mean '{shown}*('?", name)
        if ALIASES.get(name.text, name.text) in OPERATORS:
            raise self.error(f"the function {shown!r} is not in the library ({self.shown_library})", name)
        raise self.error(f"unknown function {shown!r}{self.hint(name, are_functions=True)}", name)

    def hint(self, name: Token, *, are_functions: bool) -> str:
        """Return the name that was probably meant, or else all known names."""
        known = []
        for each in self.library.readable_names:
            symbol = self.library[each if each in self.library else ALIASES[each]]
            if is_name(each) and (symbol.arity > 0) == are_functions:
                known.append(each)
        listed = f"; there are {shortened(', '.join(known))}" if known else ""
        return suggestion(name.text, known) or listed

    # -- after an operand -------------------------------------------------------------

    def after_operand(self) -> None:
        """Read an operator and its next operand, a power, a comma or a closing parenthesis."""
        token = self.take()
        if token.kind == "power":
            self.out.append(token.text)
        elif token.text == "^":
            self.power(token)
        elif token.text in BINARY:
            self.finish(BINARY[token.text])
            self.waiting.append(_Waiting(self.known(token.text, token), BINARY[token.text], token))
            self.operand()
        elif token.text == ",":
            self.comma(token)
        elif token.text == ")":
            self.close(token)
        else:
            before = self.tokens[self.at - 2]
            hint = f"; did you mean '{shortened(before.text, 40)}*{shortened(token.text, 40)}'?"
            raise self.error(f"an operator is missing before {shortened(token.text)!r}{hint}", token)

    def finish(self, least: int = 1) -> None:
        """Write the waiting operators that bind at least as tightly as `least`, back to the last '('."""
        while self.waiting and self.waiting[-1].binds >= least:
            symbol = self.waiting.pop().symbol
            if symbol:  # a plus sign leaves nothing
                self.out.append(symbol)

    def known(self, name: str, token: Token) -> str:
        if name not in self.library:
            raise self.error(f"the operator {name!r} is not in the library ({self.shown_library})", token)
        return name

    def power(self, sign: Token) -> None:
        """Read `^`, which binds to the right; before a whole number it may be the library's symbol `^2`."""
        number, end = self.exponent()
        # where the library has both, x^2 is the one and x^(2) the other
        may_be_short = "^" not in self.library or (end == self.at + 1 and not self.has_power_tokens)
        if may_be_short and number.kind == "number" and not _is_power(self.tokens[end]):
            symbol = f"^{numeral(self.finite(number))}"
            if symbol in self.library:
                self.at = end
                self.out.append(symbol)
                return
        self.waiting.append(_Waiting(self.known("^", sign), Precedence.POWER, sign))
        self.operand()

    def exponent(self) -> tuple[Token, int]:
        """Return the next token, or the only one within the parentheses that come next, and where it ends."""
        ahead = self.tokens[self.at : self.at + 3]
        is_wrapped = [token.text for token in ahead[::2]] == ["(", ")"]
        return (ahead[1], self.at + 3) if is_wrapped else (ahead[0], self.at + 1)

    def comma(self, token: Token) -> None:
        self.finish()
        if not self.waiting or self.waiting[-1].name is None:
            raise self.error("a comma belongs between the operands of a function", token)
        call = self.waiting[-1]
        call.operands += 1
        if call.symbol in FOLDED and call.operands > 1:
            self.out.append(call.symbol)
        self.operand()

    def close(self, token: Token) -> None:
        self.finish()
        if not self.waiting:
            raise self.error("this ')' closes nothing", token)
        opened = self.waiting.pop()
        if opened.name is not None:
            self.check_operands(self.library[opened.symbol], opened.operands + 1, opened.name)
            self.out.append(opened.symbol)


def _is_power(token: Token) -> bool:
    return token.text == "^" or token.kind == "power"
