"""MathML out: mathematics that browsers set by themselves, in the manner of `latex`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape, unescape

from edhie.expr.expression import Expr
from edhie.expr.numerals import formatted, is_numeral
from edhie.expr.symbols import GREEK, Precedence, Symbol, is_name

TIMES = "<mo>⋅</mo>"
APPLY = "<mo>&#x2061;</mo>"  # the invisible "of" in sin of x
BETWEEN = '<mo form="infix" lspace="0" rspace="0.25em">'
SIGNS = {False: "<mo>+</mo>", True: "<mo>−</mo>"}
LITERALS = {"pi": "<mi>π</mi>", "e": "<mi>e</mi>"}
ENCLOSING = {
    "inv": "<mfrac><mn>1</mn>{0}</mfrac>",
    "sqrt": "<msqrt>{0}</msqrt>",
    "cbrt": "<mroot>{0}<mn>3</mn></mroot>",
    "abs": '<mrow><mo form="prefix">|</mo>{0}<mo form="postfix">|</mo></mrow>',
}
"""Those that need no parentheses around their operand."""
FUNCTION_NAMES = {
    "exp": "<mi>exp</mi>",
    "log": "<mi>ln</mi>",
    "log10": "<msub><mi>log</mi><mn>10</mn></msub>",
    "asin": "<mi>arcsin</mi>",
    "acos": "<mi>arccos</mi>",
    "atan": "<mi>arctan</mi>",
    "sign": "<mi>sgn</mi>",
}
"""Where they are not called what the symbol is."""


@dataclass(frozen=True)
class _Piece:
    """What a subtree prints: terms with their signs, so that a - 2·b need not be a + (-2)·b."""

    terms: tuple[tuple[bool, str], ...]
    """Whether it is taken away, and the MathML of one element."""
    precedence: int

    @property
    def is_sum(self) -> bool:
        return len(self.terms) > 1

    @property
    def lines(self) -> list[str]:
        """One element for each term, its sign in it."""
        first = self.terms[0]
        # a sign that opens a row would be set as one of its own, close to what follows
        rest = [f"<mrow>{SIGNS[sign].replace('<mo>', BETWEEN)}{text}</mrow>" for sign, text in self.terms[1:]]
        return [f"<mrow>{SIGNS[True]}{first[1]}</mrow>" if first[0] else first[1], *rest]

    @property
    def row(self) -> str:
        """All of it as one element."""
        (sign, text), *rest = self.terms
        if not sign and not rest:
            return text
        return f"<mrow>{SIGNS[True] if sign else ''}{text}{''.join(SIGNS[s] + t for s, t in rest)}</mrow>"

    def within(self, least: int) -> str:
        """As an operand, in parentheses unless it binds at least as tightly as `least` and has no sign."""
        is_bare = self.precedence >= least and not self.is_sum and not self.terms[0][0]
        return self.row if is_bare else _parenthesised(self.row)

    def split(self, least: int) -> tuple[bool, str]:
        """A sign that can go to the front, and the rest as an operand."""
        if self.is_sum:
            return False, _parenthesised(self.row)
        sign, text = self.terms[0]
        return sign, text if self.precedence >= least else _parenthesised(text)


def to_mathml(expr: Expr, *, number_format: str = "", numbered: bool = False) -> str:
    """The expression as one element of presentation MathML, to stand in `<math>`.

    `numbered` writes fitted constants as letters with numbers, in prefix order, whatever their values.

    >>> from edhie.expr import parse
    >>> to_mathml(parse("x0^2"))
    '<msup><msub><mi>x</mi><mn>0</mn></msub><mn>2</mn></msup>'
    """
    return _piece(expr, number_format, numbered).row


def mathml_terms(expr: Expr, *, number_format: str = "", numbered: bool = False) -> list[str]:
    """The terms of a sum, each with its sign, for lines that may be broken between them; one where it is no sum."""
    return _piece(expr, number_format, numbered).lines


def mathml_name(name: str) -> str:
    """A variable's name: Greek letters, and subscripts as in LaTeX; what is no name is text.

    >>> mathml_name("theta_max"), mathml_name("x1"), mathml_name("a & b")
    ('<msub><mi>θ</mi><mi>max</mi></msub>', '<msub><mi>x</mi><mn>1</mn></msub>', '<mtext>a &amp; b</mtext>')
    """
    if not is_name(name):
        return f"<mtext>{escape(name)}</mtext>"
    head, underscore, tail = name.partition("_")
    if not underscore:
        stem = name.rstrip("0123456789")
        head, tail = stem, name[len(stem) :]
    is_word = len(head) != 1 and head not in GREEK
    if is_word or (underscore and not tail):
        return f"<mi>{escape(name)}</mi>"
    letter = f"<mi>{unescape(f'&{head};') if head in GREEK else head}</mi>"  # HTML knows all Greek letters by name
    if not tail:
        return letter
    kind = "mn" if tail.isdecimal() else "mi"
    return f"<msub>{letter}<{kind}>{escape(tail)}</{kind}></msub>"


def _piece(expr: Expr, number_format: str, numbered: bool) -> _Piece:
    values = list(expr.constants)
    e_is_taken = "e" in expr.library.variables
    stack: list[_Piece] = []
    for token in reversed(expr.tokens):
        symbol = expr.library[token]
        if symbol.arity:
            operands = [stack.pop() for _ in range(symbol.arity)]
            stack.append(_apply(symbol, operands, e_is_taken=e_is_taken))
        elif symbol.kind == "constant":
            number, value = len(values), values.pop()
            if numbered:
                stack.append(_atom(f'<msub class="constant"><mi>{escape(token)}</mi><mn>{number}</mn></msub>'))
            else:
                stack.append(_atom(mathml_name(token)) if value is None else _number(value, number_format))
        elif is_numeral(token):
            stack.append(_number(float(token), number_format))
        else:
            stack.append(_atom(LITERALS[token] if symbol.kind == "literal" else mathml_name(token)))
    return stack.pop()


def _atom(text: str) -> _Piece:
    return _Piece(((False, text),), Precedence.ATOM)


def _number(value: float, number_format: str) -> _Piece:
    mantissa, _, exponent = formatted(abs(value), number_format).partition("e")
    text = f"<mn>{mantissa}</mn>"
    if exponent:
        power = f"<msup><mn>10</mn>{_number(int(exponent), '').row}</msup>"
        text = power if mantissa == "1" else f"<mrow>{text}{TIMES}{power}</mrow>"
    return _Piece(((value < 0, text),), Precedence.PRODUCT if exponent else Precedence.ATOM)


def _parenthesised(text: str) -> str:
    return f"<mrow><mo>(</mo>{text}<mo>)</mo></mrow>"


def _apply(symbol: Symbol, operands: Sequence[_Piece], *, e_is_taken: bool) -> _Piece:
    name, first, last = symbol.name, operands[0], operands[-1]
    if name in ("+", "-"):
        return _sum(first, last, taken_away=name == "-")
    if name in ("*", "/"):
        return _product(first, last, is_quotient=name == "/")
    if name == "neg":
        return _negated(first)
    if name == "^" or symbol.style == "postfix":
        exponent = last.row if name == "^" else f"<mn>{name[1:]}</mn>"
        return _Piece(((False, f"<msup>{first.within(Precedence.ATOM)}{exponent}</msup>"),), Precedence.POWER)
    if name == "exp" and not e_is_taken:
        return _Piece(((False, f"<msup><mi>e</mi>{first.row}</msup>"),), Precedence.POWER)
    if name in ENCLOSING:
        is_fraction = name == "inv"  # which needs parentheses under an exponent
        text = ENCLOSING[name].format(first.row)
        return _Piece(((False, text),), Precedence.NEGATION if is_fraction else Precedence.ATOM)
    called = FUNCTION_NAMES.get(name, f"<mi>{escape(name)}</mi>")
    return _atom(f"<mrow>{called}{APPLY}{_parenthesised('<mo>,</mo>'.join(each.row for each in operands))}</mrow>")


def _sum(left: _Piece, right: _Piece, *, taken_away: bool) -> _Piece:
    added = _negated(right) if taken_away else right
    return _Piece(left.terms + added.terms, Precedence.SUM)


def _product(left: _Piece, right: _Piece, *, is_quotient: bool) -> _Piece:
    """A product or fraction; signs of both go to its front."""
    least = 0 if is_quotient else Precedence.PRODUCT
    (left_sign, one), (right_sign, other) = (
        (False, each.row) if is_quotient and each.is_sum else each.split(least) for each in (left, right)
    )
    if is_quotient:
        return _Piece(((left_sign != right_sign, f"<mfrac>{one}{other}</mfrac>"),), Precedence.NEGATION)
    return _Piece(((left_sign != right_sign, f"<mrow>{one}{TIMES}{other}</mrow>"),), Precedence.PRODUCT)


def _negated(piece: _Piece) -> _Piece:
    if piece.is_sum:
        return _Piece(((True, _parenthesised(piece.row)),), Precedence.PRODUCT)
    sign, text = piece.terms[0]
    return _Piece(((not sign, text),), piece.precedence)
