"""MathML, which browsers display, in the manner of `latex`.

Signs move to the front of a term, so that a + (-2)*b reads as a - 2·b.
"""

from __future__ import annotations

from html import escape, unescape

from edhie.expr.expression import Expr
from edhie.expr.notation import e_is_variable
from edhie.expr.numerals import formatted
from edhie.expr.symbols import FUNCTIONS, GREEK, OPERATORS, Precedence, is_name, name_and_subscript
from edhie.expr.writer import Piece, Syntax, Template, write
from edhie.safe_text import printable

TIMES = "<mo>⋅</mo>"
APPLY = "<mo>&#x2061;</mo>"  # the invisible "of" in sin of x
BETWEEN = '<mo form="infix" lspace="0" rspace="0.25em">'
SIGNS = {False: "<mo>+</mo>", True: "<mo>−</mo>"}
PARENTHESES = "<mrow><mo>(</mo>{0}<mo>)</mo></mrow>"
FUNCTION_NAMES = {name: f"<mi>{symbol.printed_name}</mi>" for name, symbol in FUNCTIONS.items() if symbol.printed_name}
FUNCTION_NAMES["log10"] = "<msub><mi>log</mi><mn>10</mn></msub>"


def to_mathml(expr: Expr, *, number_format: str = "", numbered: bool = False) -> str:
    """Return the expression as one element of presentation MathML, to go into `<math>`.

    `numbered` writes fitted constants as numbered letters in prefix order, not by their values.

    >>> from edhie.expr import parse
    >>> to_mathml(parse("x0^2"))
    '<msup><msub><mi>x</mi><mn>0</mn></msub><mn>2</mn></msup>'
    """
    return _write(expr, number_format, numbered).text


def mathml_terms(expr: Expr, *, number_format: str = "", numbered: bool = False) -> list[str]:
    """Return the terms of a sum, each with its sign, for lines that may be broken between them."""
    (is_negative, first), *rest = _terms(_write(expr, number_format, numbered))
    # a sign at the start of a row would be set close to what follows
    others = [f"<mrow>{SIGNS[sign].replace('<mo>', BETWEEN)}{text}</mrow>" for sign, text in rest]
    return [f"<mrow>{SIGNS[True]}{first}</mrow>" if is_negative else first, *others]


def mathml_name(name: str) -> str:
    """Return a variable's name: Greek letters, and subscripts as in LaTeX; other text becomes `<mtext>`.

    >>> mathml_name("theta_max"), mathml_name("x1"), mathml_name("a & b")
    ('<msub><mi>θ</mi><mi>max</mi></msub>', '<msub><mi>x</mi><mn>1</mn></msub>', '<mtext>a &amp; b</mtext>')
    """
    if not is_name(name):
        return f"<mtext>{escape(printable(name))}</mtext>"
    letter, subscript = name_and_subscript(name)
    letter = f"<mi>{unescape(f'&{letter};') if letter in GREEK else letter}</mi>"  # HTML names all Greek letters
    kind = "mn" if subscript.isdecimal() else "mi"
    return f"<msub>{letter}<{kind}>{subscript}</{kind}></msub>" if subscript else letter


def _write(expr: Expr, number_format: str, numbered: bool) -> Piece:
    if not numbered:
        return write(expr, MATHML, number_format=number_format).formula
    letters = [
        f'<msub class="constant"><mi>{expr.library.constant}</mi><mn>{i + 1}</mn></msub>'
        for i in range(len(expr.constants))
    ]
    return write(expr.free(), MATHML, number_format=number_format, constants=letters).formula


def _number(value: float, number_format: str) -> Piece:
    mantissa, _, exponent = formatted(abs(value), number_format).partition("e")
    text = f"<mn>{mantissa}</mn>"
    if exponent:
        power = f"<msup><mn>10</mn>{_number(int(exponent), '').text}</msup>"
        text = power if mantissa == "1" else f"<mrow>{text}{TIMES}{power}</mrow>"
    return _sum_of(((value < 0, text),), Precedence.PRODUCT if exponent else Precedence.ATOM)


# -- terms and their signs ------------------------------------------------------------


def _sum_of(terms: tuple[tuple[bool, str], ...], precedence: int) -> Piece:
    """Return the piece of one or more terms, as one element."""
    (is_negative, text), *rest = terms
    if is_negative or rest:
        others = "".join(SIGNS[sign] + other for sign, other in rest)
        text = f"<mrow>{SIGNS[True] if is_negative else ''}{text}{others}</mrow>"
    return Piece(text, precedence, terms=terms)


def _terms(piece: Piece) -> tuple[tuple[bool, str], ...]:
    return piece.terms or ((False, piece.text),)


def _sign_and_rest(piece: Piece, least: int) -> tuple[bool, str]:
    """Return the sign of a single term and its text, in parentheses where it binds less than `least`."""
    is_negative, text = piece.terms[0] if len(piece.terms) == 1 else (False, piece.text)
    return is_negative, text if piece.precedence >= least else PARENTHESES.format(text)


def _negation(piece: Piece) -> Piece:
    is_negative, text = _sign_and_rest(piece, Precedence.PRODUCT)
    return _sum_of(((not is_negative, text),), max(piece.precedence, Precedence.PRODUCT))


def _sum(left: Piece, right: Piece) -> Piece:
    return _sum_of(_terms(left) + _terms(right), Precedence.SUM)


def _product(left: Piece, right: Piece) -> Piece:
    (one_sign, one), (other_sign, other) = (_sign_and_rest(each, Precedence.PRODUCT) for each in (left, right))
    return _sum_of(((one_sign != other_sign, f"<mrow>{one}{TIMES}{other}</mrow>"),), Precedence.PRODUCT)


def _quotient(left: Piece, right: Piece) -> Piece:
    (one_sign, one), (other_sign, other) = (_sign_and_rest(each, 0) for each in (left, right))
    return _sum_of(((one_sign != other_sign, f"<mfrac>{one}{other}</mfrac>"),), Precedence.NEGATION)


def _function(name: str, arity: int) -> Template:
    operands = "{0}" if arity == 1 else "{0}<mo>,</mo>{1}"
    return Template(f"<mrow>{name}{APPLY}{PARENTHESES.format(operands)}</mrow>")


MATHML = Syntax(
    {
        "+": _sum,
        "-": lambda left, right: _sum(left, _negation(right)),
        "*": _product,
        "/": _quotient,
        "neg": _negation,
        "^": Template("<msup>{0}{1}</msup>", Precedence.POWER, (Precedence.ATOM, 0)),
        **{
            f"^{n}": Template(f"<msup>{{0}}<mn>{n}</mn></msup>", Precedence.POWER, (Precedence.ATOM,))
            for n in range(2, 6)
        },
        **{name: _function(text, OPERATORS[name].arity) for name, text in FUNCTION_NAMES.items()},
        "inv": Template("<mfrac><mn>1</mn>{0}</mfrac>", Precedence.NEGATION),
        "sqrt": Template("<msqrt>{0}</msqrt>"),
        "cbrt": Template("<mroot>{0}<mn>3</mn></mroot>"),
        "abs": Template('<mrow><mo form="prefix">|</mo>{0}<mo form="postfix">|</mo></mrow>'),
        "exp": Template("<msup><mi>e</mi>{0}</msup>", Precedence.POWER),
    },
    variants=((e_is_variable, {"exp": _function("<mi>exp</mi>", 1)}),),
    custom=lambda symbol: _function(f"<mi>{symbol.name}</mi>", symbol.arity),
    name=lambda symbol: mathml_name(symbol.name),
    literal={"pi": "<mi>π</mi>", "e": "<mi>e</mi>"}.get,
    number=_number,
    parentheses=PARENTHESES,
    is_signed=lambda piece: _terms(piece)[0][0],
)
