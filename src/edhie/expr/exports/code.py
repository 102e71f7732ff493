"""Shared parts of exports to programming languages: templates, checks, the equation as a comment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from textwrap import wrap

from edhie.errors import ExpressionError, shortened
from edhie.expr.expression import Expr
from edhie.expr.infix import to_infix
from edhie.expr.library import SymbolLibrary
from edhie.expr.symbols import FUNCTIONS, OPERATORS, Precedence
from edhie.expr.writer import Piece, Template, Variant

WIDTH = 100
COMMON = {name: name for name, symbol in FUNCTIONS.items() if symbol.is_common}
"""Functions that have the same name in most languages."""


def arithmetic(space: str = " ", one: str = "1", *, stays_plain: bool = False) -> dict[str, Template]:
    """Return templates of sums, products and signs; with `stays_plain` only quotients wrap plain numbers."""
    negation, product = Precedence.NEGATION, Precedence.PRODUCT
    infix = {"+": Precedence.SUM, "-": Precedence.SUM, "*": product, "/": product}
    templates = {
        # a right operand of equal precedence keeps its parentheses
        **{name: Template(f"{{0}}{space}{name}{space}{{1}}", own, (own, own + 1)) for name, own in infix.items()},
        "neg": Template("-{0}", negation, (negation,)),
        "inv": Template(f"{one}{space}/{space}{{0}}", product, (product + 1,)),
    }
    plain = {name: replace(templates[name], stays_plain=True) for name in ("+", "-", "*", "neg") if stays_plain}
    return templates | plain


def calls(functions: Mapping[str, str], module: str = "", comma: str = ", ") -> dict[str, Template]:
    """Return templates that call functions, given by the names of operators."""
    operands = {1: "{0}", 2: f"{{0}}{comma}{{1}}"}
    return {
        name: Template(f"{module}{called}({operands[OPERATORS[name].arity]})") for name, called in functions.items()
    }


def by_number(operands: Sequence[Piece], library: SymbolLibrary) -> bool:
    """Return True where the last operand is a number other than 0."""
    return operands[-1].number is not None and operands[-1].number != 0


def of_variable(operands: Sequence[Piece], library: SymbolLibrary) -> bool:
    """Return True where the last operand is a variable."""
    return operands[-1].is_variable


# in edhie powers are products: a general power is rounded differently, and in plain Python raises where it overflows
PRODUCTS_FOR_POWERS: Variant = (
    of_variable,
    {
        "^2": Template("{0} * {0}", Precedence.PRODUCT),
        "^3": Template("{0} * {0} * {0}", Precedence.PRODUCT),
    },
)


def equation_lines(expr: Expr, target: str) -> list[str]:
    """Return the equation in infix notation, wrapped to lines of `WIDTH` characters."""
    return wrap(f"{target} = {to_infix(expr)}", WIDTH, break_long_words=False, break_on_hyphens=False)


def check_computable(expr: Expr, language: str) -> None:
    """Raise for operators added by the user, and for constants without values."""
    check_built_in(expr, language)
    missing = sum(value is None for value in expr.constants)
    if missing:
        plural = "s have no values" if missing > 1 else " has no value"
        raise ExpressionError(
            f"{missing} constant{plural} in {shortened(str(expr))!r}: fit them, or give values by with_constants(), "
            f"before writing it as {language}"
        )


def check_built_in(expr: Expr, language: str) -> None:
    """Raise for operators added by the user, which are Python functions."""
    custom = [token for token in dict.fromkeys(expr.tokens) if expr.library[token].is_custom]
    if custom:
        raise ExpressionError(
            f"the operator {custom[0]!r} in {shortened(str(expr))!r} is a Python function of your own, which cannot be "
            f"written as {language}; write it out in built-in operators, or export to 'latex' or 'json'"
        )
