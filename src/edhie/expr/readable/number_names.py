"""Numbers by name: 6.283185307179586 is 2*pi, 0.3333333333333333 is 1/3."""

from __future__ import annotations

import math

from edhie.expr.expression import Expr
from edhie.expr.library import SymbolLibrary
from edhie.expr.numerals import numeral
from edhie.expr.readable.form import DEEPEST, readable_form
from edhie.expr.readable.nodes import Node, expr_of, operation, rebuilt, tree_of
from edhie.expr.symbols import NAMED_LITERALS, NUMBER, OPERATORS

EXACT = 2.0  # units in the last place
MULTIPLES, DIVISORS = 24, 12  # of pi and e
NUMERATORS, DENOMINATORS = 99, (3, 6, 7, 9, 11, 12)  # halves, quarters and fifths are decimals
SHORT = 6  # characters: 0.125 stays as it is
SAVED = 2  # digits from which on a reciprocal is written instead


def named_numbers(expr: Expr) -> Expr:
    """Write constants and numbers that are multiples of pi or e, or simple fractions, by name or as a fraction.

    Only values that agree to the last digit are written so. The result is in readable form, over the library extended
    by the symbols that it needs.

    >>> from edhie.expr import parse
    >>> str(named_numbers(parse("c*x0^c + 0.25").with_constants([6.283185307179586, 1 / 3])))
    '2*pi*x0^(1/3) + 0.25'
    """
    library = expr.library.extended(NUMBER, *NAMED_LITERALS.values(), OPERATORS["*"], OPERATORS["/"])
    if not {"*", "/"} <= library.built_in:
        return expr
    tokens: list[str] = []
    constants: list[float | None] = []
    for (_, _, symbol), token, value in zip(expr.walk(), expr.tokens, expr.values, strict=True):
        spelled = None if value is None or symbol.kind == "literal" else spelling(value, library)
        tokens += spelled or (token,)
        if symbol.kind == "constant" and spelled is None:
            constants.append(value)
    if tokens == list(expr.tokens):
        return expr
    found = readable_form(Expr(library, tokens, constants))
    used = (library[token] for token in dict.fromkeys(found.tokens))
    return found.cast(expr.library.extended(NUMBER, *(symbol for symbol in used if symbol.kind != "number")))


def short_reciprocals(expr: Expr, rounded: Expr) -> Expr:
    """Write a product for a quotient by a constant, or the other way round, where that needs fewer digits.

    `rounded` is the same tree with constants of as many digits as they need.

    >>> from edhie.expr import parse
    >>> expr = parse("x0/c + c*x1").with_constants([1 / 2.01, 0.3])
    >>> str(short_reciprocals(expr, expr.with_constants([0.497512, 0.3])))
    '2.01*x0 + 0.3*x1'
    """
    if not {"*", "/"} <= expr.library.built_in or expr.height > DEEPEST:
        return expr
    inverses: dict[float | None, float] = {
        value: inverse
        for value, short in zip(expr.constants, rounded.constants, strict=True)
        if value is not None and short and (inverse := _short_inverse(value, short)) is not None
    }

    def changed(node: Node) -> Node:
        for operator, other, place in (("/", "*", 1), ("*", "/", 0)):
            if node.op == operator and node.operands[place].value in inverses:
                constant, rest = node.operands[place], node.operands[1 - place]
                inverse = Node(constant.library, constant.token, (), inverses[constant.value])
                return operation(other, *((inverse, rest) if other == "*" else (rest, inverse)))
        return node

    return readable_form(expr_of(rebuilt(tree_of(expr), changed), expr.library)) if inverses else expr


def _short_inverse(value: float, short: float) -> float | None:
    """Return 1/value if it needs clearly fewer digits than the value; None otherwise."""
    digits, inverse = _significant(short), 1 / value
    is_short = math.isfinite(inverse) and _significant(float(f"{inverse:.{digits}g}")) + SAVED <= digits
    return inverse if is_short else None


def _significant(value: float) -> int:
    return len(numeral(abs(value)).partition("e")[0].replace(".", "").strip("0"))


def spelling(value: float, library: SymbolLibrary) -> tuple[str, ...] | None:
    """Return the tokens of a multiple of pi or e or of a simple fraction; None for any other number.

    >>> from edhie.expr import SymbolLibrary
    >>> spelling(-1.5707963267948966, SymbolLibrary.of(["*", "/"], ["x"], literals=["pi"], numbers=True))
    ('/', '*', '-1', 'pi', '2')
    """
    if not math.isfinite(value) or len(numeral(value)) <= SHORT:
        return None
    for below in DENOMINATORS:
        above = round(value * below)
        if 0 < abs(above) <= NUMERATORS and math.gcd(above, below) == 1 and _is_same(above / below, value):
            return ("/", str(above), str(below))
    for name, symbol in NAMED_LITERALS.items():
        if name not in library or library[name].kind != "literal":
            continue
        for below in range(1, DIVISORS + 1):
            above = round(value / symbol.value * below)
            is_near = 0 < abs(above) <= MULTIPLES and math.gcd(above, below) == 1
            if is_near and _is_same(above * symbol.value / below, value):
                top = (name,) if above == 1 else ("*", str(above), name)
                return top if below == 1 else ("/", *top, str(below))
    return None


def _is_same(one: float, other: float) -> bool:
    return abs(one - other) <= EXACT * math.ulp(other)
