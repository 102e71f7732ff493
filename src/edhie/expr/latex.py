"""LaTeX out, from the table's own templates, and in, through SymPy's reader."""

from __future__ import annotations

import re
from dataclasses import dataclass

from edhie.errors import MissingExtraError, ParseError
from edhie.expr.expression import Expr
from edhie.expr.library import SymbolLibrary
from edhie.expr.numerals import numeral
from edhie.expr.symbols import GREEK, Precedence, Symbol, latex_name

FRACTION_PRECEDENCE = Precedence.PRODUCT
ENCLOSING = ("/", "inv")  # their LaTeX encloses the operands, which then need no parentheses


@dataclass(frozen=True)
class _Piece:
    text: str
    precedence: int

    def within(self, least: int) -> str:
        return self.text if self.precedence >= least else rf"\left({self.text}\right)"


def to_latex(expr: Expr, *, number_format: str = "") -> str:
    r"""The expression in LaTeX's mathematics.

    >>> from edhie.expr import parse
    >>> to_latex(parse("c*cos(x0) + (x0 + 1)^2/theta_1"))
    'c \\cdot \\cos\\left(x_{0}\\right) + \\frac{\\left(x_{0} + 1\\right)^{2}}{\\theta_{1}}'
    """
    values = list(expr.constants)
    stack: list[_Piece] = []
    for token in reversed(expr.tokens):
        symbol = expr.library[token]
        if symbol.arity:
            operands = [stack.pop() for _ in range(symbol.arity)]
            stack.append(_apply(symbol, operands))
            continue
        value = values.pop() if symbol.kind == "constant" else float(token) if symbol.kind == "number" else None
        stack.append(
            _Piece(symbol.latex, _sign_precedence(symbol.latex)) if value is None else _number(value, number_format)
        )
    return stack.pop().text


def _sign_precedence(text: str) -> int:
    return Precedence.SUM if text.startswith("-") else Precedence.ATOM


def _number(value: float, number_format: str) -> _Piece:
    text = format(value, number_format) if number_format else numeral(value)
    mantissa, _, exponent = text.partition("e")
    if exponent:
        text = rf"{mantissa} \cdot 10^{{{int(exponent)}}}"
    return _Piece(text, Precedence.SUM if value < 0 else Precedence.PRODUCT if exponent else Precedence.ATOM)


def _apply(symbol: Symbol, operands: list[_Piece]) -> _Piece:
    if symbol.style == "function" or symbol.name in ENCLOSING:
        text = symbol.latex.format(*(operand.text for operand in operands))
        if symbol.name in ENCLOSING:
            return _Piece(text, FRACTION_PRECEDENCE)
        return _Piece(text, Precedence.POWER if symbol.name == "exp" else Precedence.ATOM)
    if symbol.style == "prefix":
        return _Piece(symbol.latex.format(operands[0].within(Precedence.PRODUCT)), Precedence.SUM)
    if symbol.style == "postfix":
        return _Piece(symbol.latex.format(operands[0].within(Precedence.ATOM)), Precedence.POWER)
    left, right = operands
    if symbol.name == "^":
        return _Piece(symbol.latex.format(left.within(Precedence.ATOM), right.text), Precedence.POWER)
    bound = symbol.precedence
    # a right operand of equal rank keeps its parentheses, but a fraction is closed in itself
    right_text = right.text if right.text.startswith(r"\frac") else right.within(bound + 1)
    return _Piece(symbol.latex.format(left.within(bound), right_text), bound)


def from_latex(text: str, library: SymbolLibrary | None = None) -> Expr:
    r"""The expression that LaTeX mathematics spells, over `library` or every known symbol.

    Names are matched to the library's variables as LaTeX writes them; without a library
    `x_{0}` is read as x0 and `\theta_{max}` as theta_max. A lone `c` is the fitted
    constant, `e` and `\pi` the numbers, `\log` and `\ln` the natural logarithm.
    """
    import sympy

    from edhie.expr.sympy_reader import from_sympy

    try:
        from sympy.parsing.latex import parse_latex
        from sympy.parsing.latex.errors import LaTeXParsingError

        parsed = parse_latex(_tidy(text))
    except ImportError as error:
        raise MissingExtraError("reading LaTeX", "latex") from error
    except LaTeXParsingError as error:
        what, position = _fault(str(error), text)
        raise ParseError(f"not readable as LaTeX ({what})", text, position) from error
    if not isinstance(parsed, sympy.Expr):
        raise ParseError("not an expression but a relation or a list", text, 0)
    parsed = parsed.doit()
    known = {_bare(latex_name(name)): name for name in library.variables} if library else {}
    renamed = {}
    for symbol in parsed.free_symbols:
        bare = _bare(symbol.name)
        if bare == "pi":
            renamed[symbol] = sympy.pi
        elif bare == "e" and "e" not in known:
            renamed[symbol] = sympy.E
        else:
            renamed[symbol] = sympy.Symbol(known.get(bare) or _plain_name(bare), real=True)
    return from_sympy(parsed.subs(renamed, simultaneous=True), library)


def _tidy(text: str) -> str:
    """Without what only concerns the looks of a formula."""
    text = text.strip().strip("$")
    text = re.sub(r"\\[,;:! ]|\\(?:quad|qquad|displaystyle|limits)\b", " ", text)
    return re.sub(r"\\(?:mathrm|mathit|text|operatorname)\{(\w+)\}", r"\1", text)


def _bare(name: str) -> str:
    return re.sub(r"[{}\\ ]|mathrm", "", name)


def _plain_name(bare: str) -> str:
    head, _, tail = bare.partition("_")
    if tail.isdigit() and len(head) == 1:
        return head + tail
    return (
        f"{head}_{tail}" if tail else head if head in GREEK or head.isidentifier() else f"v_{abs(hash(head)) % 10**6}"
    )


def _fault(message: str, text: str) -> tuple[str, int]:
    """SymPy's message and the place of its caret, as far as it gives one."""
    lines = message.splitlines()
    caret = next((line.index("^") for line in lines if line.strip() in ("^", "~~^") or line.strip().endswith("^")), 0)
    return lines[0] if lines else "no reason given", min(caret, len(text))
