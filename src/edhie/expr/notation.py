"""Prefix, postfix, infix notation and LaTeX; `parser` and `latex_reader` read the last two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from edhie.errors import ExpressionError, SymbolError, shortened
from edhie.expr.expression import Expr
from edhie.expr.library import SymbolLibrary
from edhie.expr.numerals import formatted, is_numeral
from edhie.expr.symbols import NAMED_LITERALS, OPERATORS, Precedence, Symbol
from edhie.expr.writer import Piece, Syntax, Template, Variant, number_piece, write

LEFT_ASSOCIATIVE = ("+", "-", "*", "/")


# -- prefix and postfix ---------------------------------------------------------------


def to_prefix_tokens(expr: Expr, *, number_format: str = "") -> list[str]:
    """Return the tokens in prefix (Polish) order; a constant with a value is that number.

    Numbers are written by `numerals.formatted`.

    >>> from edhie.expr import parse
    >>> to_prefix_tokens(parse("3.14159265*x0 + c").with_constants([0.5]), number_format=".3g")
    ['+', '*', '3.14', 'x0', '0.5']
    """
    constant = expr.library.constant
    return [
        formatted(value, number_format) if value is not None and (token == constant or is_numeral(token)) else token
        for token, value in zip(expr.tokens, expr.values, strict=True)
    ]


def to_postfix_tokens(expr: Expr) -> list[str]:
    """Return the tokens in postfix (reverse Polish) order."""
    tokens = to_prefix_tokens(expr)
    out = [""] * expr.size
    for i, depth, _ in expr.walk():
        out[expr.ends[i] - depth] = tokens[i]  # behind its descendants, before its ancestors
    return out


def to_prefix(expr: Expr) -> str:
    """Return prefix notation as text, with blanks between tokens."""
    return " ".join(to_prefix_tokens(expr))


def to_postfix(expr: Expr) -> str:
    """Return postfix notation as text, with blanks between tokens."""
    return " ".join(to_postfix_tokens(expr))


def from_prefix(text: str | Sequence[str], library: SymbolLibrary) -> Expr:
    """Read prefix text or tokens."""
    return Expr(library, _tokens(text))


def from_postfix(text: str | Sequence[str], library: SymbolLibrary) -> Expr:
    """Read postfix text or tokens."""
    tokens = _tokens(text)
    shown = repr(shortened(" ".join(tokens)))
    whole = 0
    for i, token in enumerate(tokens):
        try:
            arity = library[token].arity
        except SymbolError as error:
            raise SymbolError(f"{error}; it is token {i} of {shown}") from None
        if whole < arity:
            raise ExpressionError(f"{token!r} at {i} in {shown} lacks {arity - whole} of its operands")
        whole += 1 - arity
    if whole != 1:
        raise ExpressionError(f"the tokens {shown} form {whole} expressions, not one")
    return Expr(library, postfix_to_prefix(tokens, lambda token: library[token].arity))


def postfix_to_prefix(tokens: Sequence[str], arity: Callable[[str], int]) -> list[str]:
    """Reorder the tokens of one whole tree from postfix to prefix."""
    operands: list[list[int]] = []  # positions of the operands of each token
    finished: list[int] = []
    for i, token in enumerate(tokens):
        first = len(finished) - arity(token)
        operands.append(finished[first:])
        finished[first:] = [i]
    out, waiting = [], finished
    while waiting:
        i = waiting.pop()
        out.append(tokens[i])
        waiting += reversed(operands[i])
    return out


def _tokens(text: str | Sequence[str]) -> list[str]:
    return text.split() if isinstance(text, str) else list(text)


# -- infix, with the fewest parentheses that keep the tree ----------------------------


def to_infix_tokens(expr: Expr, *, number_format: str = "") -> list[str]:
    """Return the infix tokens with parentheses, as a sequence model reads them; `^2` is one token.

    Reading them back gives the same tree. A fitted constant with a value prints as that
    value, and so reads back as a number.
    """
    return write(expr, TOKENS, number_format=number_format).text.split()


def to_infix(expr: Expr, *, number_format: str = "") -> str:
    """Return the text that people read, and that `parse` reads back to the same tree.

    Numbers are written by `numerals.formatted`: with all digits unless `number_format` says otherwise.

    >>> from edhie.expr import parse
    >>> to_infix(parse("((x0 + 1) * x1) ** 2 - (3 - x0)"))
    '((x0 + 1)*x1)^2 - (3 - x0)'
    """
    return write(expr, TEXT, number_format=number_format).text


def _template(symbol: Symbol, gap: str) -> Template:
    """Return the template of an operator, with `gap` between its tokens."""
    name, precedence = symbol.name, symbol.precedence
    if symbol.style == "function":
        arguments = "{0}" if symbol.arity == 1 else f"{{0}}{gap}, {{1}}"
        return Template(f"{name}{gap}({gap}{arguments}{gap})")
    if symbol.style == "prefix":
        return Template(f"-{gap}{{0}}", precedence, (precedence + 1,))
    if symbol.style == "postfix":
        return Template(f"{{0}}{gap}{name}", precedence, (precedence + 1,))
    operands = (precedence, precedence + 1) if name in LEFT_ASSOCIATIVE else (precedence + 1, precedence)
    around = " " if precedence == Precedence.SUM else gap
    return Template(f"{{0}}{around}{name}{around}{{1}}", precedence, operands)


def _is_number(operands: Sequence[Piece], library: SymbolLibrary) -> bool:
    return operands[0].number is not None and operands[0].text not in NAMED_LITERALS


def _syntax(gap: str, *variants: Variant) -> Syntax:
    negated_number = Template(f"-{gap}({gap}{{0}}{gap})", Precedence.NEGATION)  # -(3) is a negated 3, -3 the number
    return Syntax(
        {name: _template(symbol, gap) for name, symbol in OPERATORS.items()},
        variants=((_is_number, {"neg": negated_number}), *variants),
        custom=partial(_template, gap=gap),
        literal={name: name for name in NAMED_LITERALS}.get,
        number=lambda value, number_format: number_piece(formatted(value, number_format), value),
        parentheses=f"({gap}{{0}}{gap})",
        # x + -y is legal but hard to read; so is --x
        is_signed=lambda piece: piece.precedence == Precedence.NEGATION,
    )


TEXT = _syntax(
    "",
    (  # where the library has both `^2` and `^`, x^2 is the former
        lambda operands, library: f"^{operands[1].text}" in library,
        {"^": Template("{0}^({1})", Precedence.POWER, (Precedence.POWER + 1, 0))},
    ),
    (  # x^-2
        lambda operands, library: (operands[1].number or 0.0) < 0,
        {"^": Template("{0}^{1}", Precedence.POWER, (Precedence.POWER + 1, 0))},
    ),
)
TOKENS = _syntax(" ")


# -- LaTeX -------------------------------------------------------------------------------

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


def _latex_template(symbol: Symbol) -> Template:
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


def _latex_number(value: float, number_format: str) -> Piece:
    text = formatted(value, number_format)
    mantissa, _, exponent = text.partition("e")
    if exponent:
        return Piece(rf"{mantissa} \cdot 10^{{{int(exponent)}}}", Precedence.PRODUCT)
    return number_piece(text, value)


LATEX = Syntax(
    {name: _latex_template(symbol) for name, symbol in OPERATORS.items()},
    variants=((e_is_variable, {"exp": Template(r"\exp\left({0}\right)")}),),
    custom=_latex_template,
    name=lambda symbol: symbol.latex,
    literal={name: symbol.latex for name, symbol in NAMED_LITERALS.items()}.get,
    number=_latex_number,
    parentheses=r"\left({0}\right)",
)
