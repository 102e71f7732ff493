"""LaTeX in, through SymPy's reader, with its known faults mended before and after."""

from __future__ import annotations

import re
from typing import Any

from edhie.errors import MissingExtraError, ParseError, suggestion
from edhie.expr.expression import Expr
from edhie.expr.library import SymbolLibrary
from edhie.expr.symbols import GREEK, latex_name

FUNCTIONS = {name: f"\\{name}" for name in "sin cos tan sinh cosh tanh exp log ln min max".split()}
FUNCTIONS |= {f"arc{name}": f"\\arc{name}" for name in ("sin", "cos", "tan")}
FUNCTIONS |= {f"a{name}": f"\\arc{name}" for name in ("sin", "cos", "tan")}
COMMANDS = frozenset(
    "frac dfrac tfrac sqrt cdot times div pi left right varepsilon vartheta varphi varrho hbar ell".split()
)
COMMANDS |= GREEK | {command[1:] for command in FUNCTIONS.values()}
LOOKS_ONLY = re.compile(r"\\[,;:! ]|\\(?:quad|qquad|displaystyle|limits|left|right)(?![A-Za-z])\s*|\$")
NAMED = re.compile(r"\\(?:operatorname|mathrm|text|mathit)\*?\s*\{\s*([A-Za-z][\w\\]*)\s*\}")
WORD_SUBSCRIPT = re.compile(r"_\{([A-Za-z0-9]*[A-Za-z][A-Za-z0-9]+|[0-9]+[A-Za-z])\}")
FIRST_PLACEHOLDER = 900_001


def from_latex(text: str, library: SymbolLibrary | None = None) -> Expr:
    r"""The expression that LaTeX mathematics spells, over `library` or every known symbol.

    Names are matched to the library's variables as LaTeX writes them; without a library
    `x_{0}` is read as x0 and `\theta_{max}` as theta_max. A lone `c` is the fitted
    constant, `e` and `\pi` the numbers, `\log` and `\ln` the natural logarithm.

    >>> str(from_latex(r"\frac{1}{\sqrt{2 \pi}} e^{-\frac{x_0^2}{2}}"))
    'exp(-x0^2/2)/sqrt(2*pi)'
    """
    import sympy

    from edhie.expr.sympy_functions import real_cube_root
    from edhie.expr.sympy_reader import from_sympy

    known = {_bare(latex_name(name)): name for name in library.variables} if library else {}
    words: dict[str, str] = {}
    value = _mended(_by_sympy(_prepared(text, words, known), text), words, known)
    if r"\sqrt[3]" in text:
        value = value.replace(
            lambda each: each.is_Pow and each.exp == sympy.Rational(1, 3), lambda each: real_cube_root(each.base)
        )
    return from_sympy(value, library)


def _prepared(text: str, words: dict[str, str], known: dict[str, str]) -> str:
    """What SymPy's reader takes: known commands, one-letter names, numbers as subscripts."""

    def placeholder(name: str) -> str:
        words[str(FIRST_PLACEHOLDER + len(words))] = name
        return str(FIRST_PLACEHOLDER + len(words) - 1)

    def named(match: re.Match[str]) -> str:
        name = match[1].replace("\\", "")
        return f"{FUNCTIONS[name]} " if name in FUNCTIONS else f"v_{{{placeholder(name)}}}"

    ready = NAMED.sub(named, LOOKS_ONLY.sub(" ", text))
    ready = re.sub(r"\\[lr]vert\b", "|", ready)
    for match in re.finditer(r"\\([A-Za-z]+)", ready):
        if match[1] not in COMMANDS:
            at = max(text.find(match[0]), 0)
            raise ParseError(f"unknown LaTeX command {match[0]!r}{suggestion(match[1], COMMANDS)}", text, at)
    ready = WORD_SUBSCRIPT.sub(lambda match: f"_{{{placeholder(match[1])}}}", ready)
    return re.sub(r"(?<=\d)[eE]([+-]?\d+)", r"\\times 10^{\1}", ready)


def _by_sympy(ready: str, text: str) -> Any:
    import sympy

    try:
        import antlr4  # noqa: F401  -- SymPy says only deep inside that it is missing
        from sympy.parsing.latex import LaTeXParsingError, parse_latex
    except ImportError as error:
        raise MissingExtraError("reading LaTeX", "latex") from error
    try:
        value = parse_latex(ready, strict=True, backend="antlr")
    except LaTeXParsingError as error:
        reason = str(error).splitlines()[0] if str(error) else "no reason given"
        raise ParseError(f"not readable as LaTeX ({reason})", text, _caret(str(error), text)) from error
    if not isinstance(value, sympy.Expr):
        raise ParseError("not an expression but a relation or a list", text, 0)
    return value


def _mended(value: Any, words: dict[str, str], known: dict[str, str]) -> Any:
    """SymPy's reading with true names, and with c(x + 1) as a product."""
    import sympy
    from sympy.core.function import AppliedUndef

    value = value.replace(sympy.Function("min"), sympy.Min).replace(sympy.Function("max"), sympy.Max)
    value = value.replace(
        lambda each: isinstance(each, AppliedUndef), lambda each: sympy.Symbol(each.func.__name__) * each.args[0]
    )
    names = {}
    for symbol in value.free_symbols:
        name = _bare(symbol.name)
        head, _, tail = name.partition("_")
        tail = words.get(tail, tail)
        name = tail if head == "v" and tail in words.values() else f"{head}_{tail}" if tail else head
        if name == "pi" or (name == "e" and "e" not in known):
            names[symbol] = sympy.pi if name == "pi" else sympy.E
        else:
            names[symbol] = sympy.Symbol(known.get(name, _plain(name)), real=True)
    return value.xreplace(names).doit()


def _bare(name: str) -> str:
    return re.sub(r"[{}\\ ]|mathrm", "", name)


def _plain(name: str) -> str:
    """x0 for x_0, and names as they are."""
    head, _, tail = name.partition("_")
    return head + tail if len(head) == 1 and tail.isdigit() else name


def _caret(message: str, text: str) -> int:
    """Where SymPy's message puts its mark, as far as it gives one."""
    marks = [line.index("^") for line in message.splitlines() if line.strip(" ~") == "^"]
    return min(marks[0] if marks else 0, len(text))
