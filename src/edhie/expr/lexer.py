"""Splitting of a formula into numbers, names and signs: of infix text, and of LaTeX."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from edhie.errors import ParseError, shortened, suggestion
from edhie.expr.library import SymbolLibrary
from edhie.expr.symbols import ALIASES, FUNCTIONS, GREEK, OPERATORS, Symbol, is_in_names

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


# -- LaTeX -------------------------------------------------------------------------------

OPEN_BAR, CLOSE_BAR = "open |", "close |"
SIGNS = {"cdot": "*", "times": "*", "div": "/", "lbrace": "{", "rbrace": "}", "vert": "|"}
SIGNS |= {"lvert": OPEN_BAR, "rvert": CLOSE_BAR}
_printed = {symbol.printed_name: name for name, symbol in FUNCTIONS.items() if "operatorname" not in symbol.latex}
NATIVE = {text: name for text, name in _printed.items() if text} | {"exp": "exp", "log": "log"}
"""Names of functions by their LaTeX commands."""
FRACTIONS = ("frac", "dfrac", "tfrac")
LETTERS = GREEK | frozenset("pi varepsilon vartheta varphi varrho hbar ell".split())
WORDS = ("operatorname", "mathrm", "text", "mathit")
COMMANDS = frozenset((*SIGNS, *NATIVE, *FRACTIONS, *LETTERS, *WORDS, "sqrt", "left", "right"))
_WORD = r"\\(?:operatorname|mathrm|text|mathit)\*?\s*\{[^{}]*\}"
_SUBSCRIPT = rf"(?:\s*_\s*(?:\{{\s*{_WORD}\s*\}}|\{{[^{{}}]*\}}|{_WORD}|\\[A-Za-z]+|[0-9]+|[^\W_]))?"
LATEX_TOKEN = re.compile(
    rf"""(?P<blank>\s+|\\[,;:!\ ]|\\(?:quad|qquad|displaystyle|limits)(?![A-Za-z])|\$)
    |\\(?P<side>left|right)(?:\s*(?P<bar>\||\\[lr]?vert(?![A-Za-z]))|(?![A-Za-z]))
    |(?P<word>{_WORD}){_SUBSCRIPT}
    |\\(?P<letter>{"|".join(sorted(LETTERS))})(?![A-Za-z]){_SUBSCRIPT}
    |\\(?P<command>[A-Za-z]+)|(?P<brace>\\[{{}}])
    |(?P<number>[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{{1,3}}(?![0-9]))?)
    |(?P<name>[^\W\d_]){_SUBSCRIPT}
    |(?P<sign>[-+*/:^_(){{}}\[\],|=<>])""",
    re.VERBOSE,
)
POWER_OF_TEN = re.compile(r"\s*\\(?:cdot|times)\s*10\s*\^\s*\{\s*([+-]?[0-9]{1,3})\s*\}")
MAX_LENGTH = 50_000


def tokenise_latex(text: str, library: SymbolLibrary | None) -> list[Token]:
    """Return the tokens of a formula, of kind number, name, function, sign, fraction or root, and an end token.

    The text of a name is its `key`, that of a function the name of its operator.
    """
    if len(text) > MAX_LENGTH:
        raise ParseError(f"the formula has {len(text):,} characters; at most {MAX_LENGTH:,} are read", text, 0)
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        match = LATEX_TOKEN.match(text, at)
        if match is None or (match["name"] and not match["name"].isidentifier()):  # such as ²
            raise ParseError(f"unexpected character {text[at]!r}", text, at)
        end = match.end()
        if match["word"] and not (library and key(match[0]) in library) and function_of(key(match["word"]), library):
            end = match.end("word")  # a subscript is the base of a logarithm
        if match["number"]:
            before = tokens[-1] if tokens else Token("", "", at)
            # these may take the digits, as in `\frac12` and `\frac{1}2`: no power of ten then
            takes_digits = before.text in ("^", "_", "}") or before.kind in ("fraction", "root", "number")
            power = None if takes_digits else POWER_OF_TEN.match(text, end)
            number = match["number"] if power is None else f"{match['number']}e{power[1]}"
            is_whole = power is None or not re.search("[eE]", match["number"])
            tokens.append(Token("number", number if is_whole else match["number"], at))
            end = power.end() if power is not None and is_whole else end
        elif not match["blank"]:
            tokens += _token(match, text, library)
        at = end
    return [*tokens, Token("end", "", len(text))]


def _token(match: re.Match[str], text: str, library: SymbolLibrary | None) -> list[Token]:
    at = match.start()
    if match["side"]:
        is_left = match["side"] == "left"
        return [Token("sign", OPEN_BAR if is_left else CLOSE_BAR, at)] if match["bar"] else []
    if match["word"]:
        return [_word(match, text, library)]
    if match["letter"] or match["name"]:
        is_pi = match["letter"] == "pi" and match[0] == r"\pi"
        return [Token("name", r"\pi" if is_pi else key(match[0]), at)]
    if match["command"]:
        return [_command(match["command"], text, at)]
    return [Token("sign", match["sign"] or match["brace"], at)]


def _word(match: re.Match[str], text: str, library: SymbolLibrary | None) -> Token:
    name = key(match[0])
    is_own = library is not None and name in library
    symbol = function_of(name if is_own else key(match["word"]), library)
    if symbol is not None:
        return Token("function", symbol.name, match.start())
    if match[0].startswith(r"\operatorname") and not (library and name in library):
        known = [*OPERATORS, *(library.names if library else ())]
        what = f"unknown function {shortened(name)!r}{suggestion(name, known)}"
        raise ParseError(what, text, match.start())
    return Token("name", name, match.start())


def _command(name: str, text: str, at: int) -> Token:
    if name in SIGNS:
        return Token("sign", SIGNS[name], at)
    if name in NATIVE:
        return Token("function", NATIVE[name], at)
    if name in FRACTIONS or name == "sqrt":
        return Token("root" if name == "sqrt" else "fraction", name, at)
    raise ParseError(f"unknown LaTeX command {shortened(f'{chr(92)}{name}')!r}{suggestion(name, COMMANDS)}", text, at)


def function_of(name: str, library: SymbolLibrary | None) -> Symbol | None:
    """Return the operator of this name, or None for a variable or an unknown name."""
    if library is not None and name in library:
        return library[name] if library[name].arity else None
    built_in = OPERATORS.get(ALIASES.get(name, name))
    return built_in if built_in is not None and built_in.style == "function" else None


def key(latex: str) -> str:
    r"""Return a name in LaTeX without its commands: theta_max for `\theta_{max}` and `\theta_\text{max}`."""
    return re.sub(rf"\\(?:{'|'.join(WORDS)})(?![A-Za-z])\*?|[{{}}\\\s]", "", latex)
