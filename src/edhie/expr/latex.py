"""LaTeX, by the templates of the symbol table; `latex_reader` reads it."""

from __future__ import annotations

from collections.abc import Sequence

from edhie.expr.expression import Expr
from edhie.expr.library import SymbolLibrary
from edhie.expr.numerals import formatted
from edhie.expr.symbols import NAMED_LITERALS, OPERATORS, Precedence, Symbol
from edhie.expr.writer import Piece, Syntax, Template, number_piece, write

FRACTIONS = ("/", "inv")  # they enclose their operands, and need parentheses only under an exponent


def to_latex(expr: Expr, *, number_format: str = "") -> str:
    r"""Return the expression in LaTeX's mathematics.

    >>> from edhie.expr import parse
    >>> to_latex(parse("c*cos(x0) + (x0 + 1)^2/theta_1"))
    'c \\cdot \\cos\\left(x_{0}\\right) + \\frac{\\left(x_{0} + 1\\right)^{2}}{\\theta_{1}}'
    """
    return write(expr, LATEX, number_format=number_format).text


def e_is_variable(operands: Sequence[Piece], library: SymbolLibrary) -> bool:
    """Return True where e^x would be read as a power of a variable."""
    return "e" in library.variables


def _template(symbol: Symbol) -> Template:
    precedence, text = symbol.precedence, symbol.latex
    if symbol.name in FRACTIONS:
        return Template(text, Precedence.NEGATION)
    if symbol.style == "function":
        return Template(text, Precedence.POWER if symbol.name == "exp" else Precedence.ATOM)
    if symbol.style == "prefix":
        return Template(text, precedence, (Precedence.PRODUCT,))
    if precedence == Precedence.POWER:
        return Template(text, precedence, (Precedence.ATOM, 0))
    return Template(text, precedence, (precedence, precedence + 1))


def _number(value: float, number_format: str) -> Piece:
    text = formatted(value, number_format)
    mantissa, _, exponent = text.partition("e")
    if exponent:
        return Piece(rf"{mantissa} \cdot 10^{{{int(exponent)}}}", Precedence.PRODUCT)
    return number_piece(text, value)


LATEX = Syntax(
    {name: _template(symbol) for name, symbol in OPERATORS.items()},
    variants=((e_is_variable, {"exp": Template(r"\exp\left({0}\right)")}),),
    custom=_template,
    name=lambda symbol: symbol.latex,
    literal={name: symbol.latex for name, symbol in NAMED_LITERALS.items()}.get,
    number=_number,
    parentheses=r"\left({0}\right)",
)
