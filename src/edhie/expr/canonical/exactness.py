"""Where canonical forms can serve as proofs: their numbers are doubles, and doubles round."""

from __future__ import annotations

import math
from fractions import Fraction

from edhie.expr.expression import Expr
from edhie.expr.numerals import is_numeral, numeral
from edhie.expr.symbols import Precedence, Symbol

# Rationals made of numbers of 16 bits in all differ by at least 2^-32, and have no more than 2^16
# in size, so that 53 bits tell them apart, a few rounding errors included.
MAX_BITS = 16.0


def folds_exactly(*exprs: Expr) -> bool:
    """Whether equal canonical forms of these expressions mean that the expressions are equal.

    Only few and short numbers may occur (1/3 and 0.25 are short, pi is not), and no function
    of numbers alone, such as sqrt(2).
    """
    return sum(_bits(expr) for expr in exprs) <= MAX_BITS


def _bits(expr: Expr) -> float:
    """How many bits the numbers in the expression have together, counted as often as powers repeat them."""
    values = list(expr.constants)
    stack: list[tuple[float, bool, str]] = []  # bits, whether a variable or free constant occurs, the leaf's text
    for token in reversed(expr.tokens):
        symbol = expr.library[token]
        if symbol.arity:
            stack.append(_of_operator(symbol, [stack.pop() for _ in range(symbol.arity)]))
            continue
        value = values.pop() if symbol.kind == "constant" else None
        text = token if value is None else numeral(value)
        is_number = value is not None or symbol.kind in ("number", "literal")
        stack.append((_length(text), False, text) if is_number else (0.0, True, ""))
    return stack.pop()[0]


def _of_operator(symbol: Symbol, operands: list[tuple[float, bool, str]]) -> tuple[float, bool, str]:
    bits = sum(operand[0] for operand in operands)
    varies = any(operand[1] for operand in operands)
    if symbol.precedence == Precedence.POWER:
        exponent = symbol.name[1:] or operands[1][2]
        if exponent.lstrip("-").isdigit():
            bits += (abs(int(exponent)) - 1) * operands[0][0]
        elif not all(operand[1] for operand in operands):
            return math.inf, varies, ""
    elif symbol.style == "function" and symbol.name != "inv" and not varies:
        return math.inf, varies, ""
    return bits, varies, ""


def _length(text: str) -> float:
    if not is_numeral(text):  # pi and e
        return math.inf
    number = Fraction(text)
    return float(number.numerator.bit_length() + number.denominator.bit_length() - 1)
