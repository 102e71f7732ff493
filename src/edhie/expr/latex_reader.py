"""Reading of LaTeX by SymPy's reader, with corrections of its known faults before and after."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import sympy
from sympy.core.function import AppliedUndef

from edhie.errors import MissingExtraError, ParseError, suggestion
from edhie.expr.expression import Expr
from edhie.expr.library import SymbolLibrary
from edhie.expr.symbols import ALIASES, FUNCTIONS, GREEK, OPERATORS, Symbol, latex_name
from edhie.expr.sympy_bridge import sympy_function
from edhie.expr.sympy_reader import from_sympy

_printed = {name: symbol.printed_name for name, symbol in FUNCTIONS.items() if "operatorname" not in symbol.latex}
NATIVE = {key: f"\\{text}" for name, text in _printed.items() if text for key in (name, text)}
NATIVE |= {name: f"\\{name}" for name in ("exp", "log")}
"""Commands of functions that SymPy's reader knows."""
COMMANDS = frozenset(
    "frac dfrac tfrac sqrt cdot times div pi left right varepsilon vartheta varphi varrho hbar ell".split()
)
COMMANDS |= GREEK | {command[1:] for command in NATIVE.values()}
LEFT_BAR = re.compile(r"\\left\s*(?:\||\\[lr]?vert(?![A-Za-z]))|\\lvert(?![A-Za-z])")
RIGHT_BAR = re.compile(r"\\right\s*(?:\||\\[lr]?vert(?![A-Za-z]))|\\rvert(?![A-Za-z])")
LOOKS_ONLY = re.compile(r"\\[,;:! ]|\\(?:quad|qquad|displaystyle|limits|left|right)(?![A-Za-z])\s*|\$")
NAMED = re.compile(r"\\(operatorname|mathrm|text|mathit)\*?\s*\{\s*((?:[^\W\d_]|\\?_)(?:[^\W_]|\\?_)*)\s*\}")
LETTER = re.compile(r"\\[A-Za-z]+|_(?:\{[^{}]*\}|.)|([^\W\d_])(?:_(?:\{((?:[^\W_]|\\?_)+)\}|([^\W_])))?")
SUBSCRIPT = re.compile(r"_\{((?:[^\W_]|\\?_)+)\}")
SCIENTIFIC = re.compile(
    r"(?<![\w^.}])(\d+\.?\d*)(?:[eE]([+-]?\d{1,3})(?!\d)|\s*\\(?:cdot|times)\s*10\^\{\s*([+-]?\d{1,3})\s*\})"
)
PIECE = re.compile(r"\\[A-Za-z]+|\d+|.", re.DOTALL)
PAIRS = {"(": ")", "{": "}", "[": "]"}
FIRST_PLACEHOLDER = 900_001
MAX_PREFIXES = 60


def from_latex(text: str, library: SymbolLibrary | None = None) -> Expr:
    r"""Read an expression from LaTeX mathematics, over `library` or every known symbol.

    Names are matched to the library's variables as LaTeX writes them; without a library
    `x_{0}` is read as x0 and `\theta_{max}` as theta_max. A lone `c` is the fitted
    constant, `e` and `\pi` the numbers, `\log` and `\ln` the natural logarithm.

    >>> str(from_latex(r"\frac{\theta_{max}^2}{2} + \sin x_0"))
    'theta_max^2/2 + sin(x0)'
    """
    _check_brackets(text)
    formula = _Formula(text, library)
    constant = library.constant if library else "c"
    value = _by_sympy(formula)
    with sympy.evaluate(False):
        value = _mended(value, formula)
    return from_sympy(value, library, constants=(constant,) if constant else (), as_written=True)


@dataclass
class _Formula:
    """A formula rewritten for SymPy's reader: known commands, one-letter names, numbers as subscripts."""

    text: str
    library: SymbolLibrary | None
    ready: str = ""
    origin: list[int] = field(default_factory=list)
    """Position in `text` of each character of `ready`, and of its end."""
    words: dict[str, str] = field(default_factory=dict)
    """Names and subscripts, by the number that replaces them."""
    wholes: set[str] = field(default_factory=set)
    """Numbers that replace a whole name."""

    def __post_init__(self) -> None:
        self.ready, self.origin = self.text, list(range(len(self.text) + 1))
        if self.function("abs") is not None:  # bars that say which side they are on: SymPy's reader would guess
            self._replace(LEFT_BAR, lambda match: f"f_{{{self.placeholder('abs')}}}(")
            self._replace(RIGHT_BAR, lambda match: ")")
        self._replace(LOOKS_ONLY, lambda match: " ")
        self._replace(NAMED, self._named)
        for match in re.finditer(r"\\([A-Za-z]+)", self.ready):
            if match[1] not in COMMANDS:
                what = f"unknown LaTeX command {match[0]!r}{suggestion(match[1], COMMANDS)}"
                raise ParseError(what, self.text, self.place(match))
        self._replace(LETTER, self._letter)
        self._replace(SUBSCRIPT, self._subscript)
        self._replace(SCIENTIFIC, lambda match: format(Decimal(f"{match[1]}e{match[2] or match[3]}"), "f"))

    def _replace(self, pattern: re.Pattern[str], new: Callable[[re.Match[str]], str]) -> None:
        text, origin, at = [], [], 0
        for match in pattern.finditer(self.ready):
            replaced = new(match)
            text += [self.ready[at : match.start()], replaced]
            origin += self.origin[at : match.start()] + [self.origin[match.start()]] * len(replaced)
            at = match.end()
        self.ready, self.origin = "".join(text) + self.ready[at:], origin + self.origin[at:]

    def placeholder(self, word: str) -> str:
        """Return a number that replaces a word, since SymPy's reader takes only numbers as subscripts."""
        number = str(FIRST_PLACEHOLDER + len(self.words))
        self.words[number] = word.replace("\\", "")
        return number

    def function(self, name: str) -> Symbol | None:
        """Return the operator of this name, or None for a variable or an unknown name."""
        if self.library is not None and name in self.library:
            return self.library[name] if self.library[name].arity else None
        built_in = OPERATORS.get(ALIASES.get(name, name))
        return built_in if built_in is not None and built_in.style == "function" else None

    def _named(self, match: re.Match[str]) -> str:
        name = match[2].replace("\\", "")
        symbol = self.function(name)
        if symbol is not None:
            return f"{NATIVE[name]} " if name in NATIVE else f"f_{{{self.placeholder(symbol.name)}}}"
        if match[1] == "operatorname" and not (self.library and name in self.library):
            known = [*OPERATORS, *(self.library.names if self.library else ())]
            raise ParseError(f"unknown function {name!r}{suggestion(name, known)}", self.text, self.place(match))
        return self._whole(name)

    def _letter(self, match: re.Match[str]) -> str:
        """Replace letters that SymPy's reader does not know, and d, which it reads as a differential."""
        if match[1] is None or not match[1].isalpha() or (match[1].isascii() and match[1] != "d"):
            return match[0]
        tail = match[2] or match[3]
        return self._whole(f"{match[1]}_{tail}" if tail else match[1])

    def _whole(self, name: str) -> str:
        number = self.placeholder(name)
        self.wholes.add(number)
        return f"v_{{{number}}}"

    def _subscript(self, match: re.Match[str]) -> str:
        is_simple = match[1].isdecimal() or (len(match[1]) == 1 and match[1].isalpha())
        return match[0] if is_simple else f"_{{{self.placeholder(match[1])}}}"

    def place(self, match: re.Match[str]) -> int:
        return self.origin[match.start()]


def _check_brackets(text: str) -> None:
    opened: list[int] = []
    for match in PIECE.finditer(re.sub(r"\\[{}]", "  ", text)):
        if match[0] in PAIRS:
            opened.append(match.start())
        elif match[0] in PAIRS.values() and (not opened or PAIRS[text[opened.pop()]] != match[0]):
            raise ParseError(f"this {match[0]!r} closes nothing", text, match.start())
    if opened:
        raise ParseError(f"this {text[opened[-1]]!r} is never closed", text, opened[-1])


def _by_sympy(formula: _Formula) -> Any:
    try:
        import antlr4  # noqa: F401  -- SymPy says only deep inside that it is missing
        from sympy.parsing.latex import LaTeXParsingError, parse_latex
    except ImportError as error:
        raise MissingExtraError("reading LaTeX", "latex") from error
    if not formula.ready.strip():
        raise ParseError("a formula is missing", formula.text, 0)

    def read(ready: str) -> Any:
        return parse_latex(ready, strict=True, backend="antlr")

    try:
        value = read(formula.ready)
    except RecursionError:
        raise ParseError("nested too deeply", formula.text, 0) from None
    except (LaTeXParsingError, AttributeError, TypeError, ValueError, IndexError):  # it raises what comes
        place = _fault(formula.ready, read)
        raise ParseError("not readable as LaTeX", formula.text, formula.origin[place]) from None
    if not isinstance(value, sympy.Expr):
        raise ParseError("not an expression but a relation or a list", formula.text, 0)
    return value


def _fault(ready: str, read: Callable[[str], Any]) -> int:
    """Return the end of the longest beginning that can be read."""
    ends = [match.end() for match in PIECE.finditer(ready) if not match[0].isspace()][:-1]
    for end in ends[: -MAX_PREFIXES - 1 : -1]:
        try:
            read(ready[:end])
        except Exception:  # whatever it is, this beginning is no formula
            continue
        return end + len(ready[end:]) - len(ready[end:].lstrip())
    return 0


def _mended(value: Any, formula: _Formula) -> Any:
    """Restore names and functions in SymPy's result, and read c(x + 1) as a product."""
    value = value.replace(lambda node: isinstance(node, AppliedUndef), lambda node: _applied(node, formula))
    value = value.replace(  # only \sqrt[3] gives this; x^{1/3} is not evaluated
        lambda node: node.is_Pow and node.exp == sympy.Rational(1, 3),
        lambda node: sympy_function(OPERATORS["cbrt"])(node.base),
    )
    known = {_bare(latex_name(name)): name for name in formula.library.variables} if formula.library else {}
    return value.xreplace({symbol: _true_symbol(symbol.name, known, formula) for symbol in value.free_symbols})


def _applied(node: Any, formula: _Formula) -> Any:
    name, operands = node.func.__name__, node.args
    if name in ("min", "max"):
        return sympy_function(OPERATORS[name])(*operands)
    head, _, tail = _bare(name).partition("_")
    symbol = formula.function(formula.words[tail]) if head == "f" and tail in formula.words else None
    if symbol is not None and len(operands) == symbol.arity:
        return sympy_function(symbol)(*operands)
    if symbol is not None or len(operands) != 1:
        word = formula.words.get(tail, name)
        raise ParseError(f"{word!r} does not take {len(operands)} operands", formula.text, 0)
    return sympy.Mul(sympy.Symbol(name), operands[0])


def _true_symbol(spelled: str, known: dict[str, str], formula: _Formula) -> Any:
    head, _, tail = _bare(spelled).partition("_")
    word = formula.words.get(tail, tail)
    is_word = tail in formula.wholes
    name = word if is_word else f"{head}_{word}" if word else head
    if name == "pi" and not (is_word and name in known):
        return sympy.pi
    if name == "e" and name not in known:
        return sympy.E
    return sympy.Symbol(known.get(name, _plain(name)), real=True)


def _bare(name: str) -> str:
    return re.sub(r"[{}\\ ]|mathrm", "", name)


def _plain(name: str) -> str:
    """Return x0 for x_0, and other names as they are."""
    head, _, tail = name.partition("_")
    return head + tail if len(head) == 1 and tail.isdecimal() else name
