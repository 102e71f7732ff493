"""Expressions in SymPy; `sympy_reader` reads them back.

Functions are exact over the reals: the cube root of a negative number is negative, as in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import cache
from typing import Any

import sympy

from edhie.errors import ExpressionError
from edhie.expr.expression import Expr
from edhie.expr.library import SymbolLibrary
from edhie.expr.numerals import numeral
from edhie.expr.symbols import Precedence, Symbol

MAX_BITS = 20_000  # with longer numbers, such as 9^9^9, SymPy would never end


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "subtract": lambda a, b: sympy.Add(a, sympy.Mul(-1, b)),
    "divide": lambda a, b: sympy.Mul(a, sympy.Pow(b, -1)),
    "negate": lambda a: sympy.Mul(-1, a),
    "invert": lambda a: sympy.Pow(a, -1),
    "real_cube_root": lambda a: sympy.Mul(sympy.sign(a), sympy.Pow(sympy.Abs(a), sympy.Rational(1, 3))),
    "log10": lambda a: sympy.Mul(sympy.log(a), sympy.Pow(sympy.log(10), -1)),
}
"""Functions that SymPy has no name for."""


@cache
def sympy_function(symbol: Symbol) -> Callable[..., Any]:
    """Return the SymPy function for an operator; an undefined function where it has none."""
    if callable(symbol.sympy):
        return symbol.sympy
    if symbol.style == "postfix":
        return lambda a: sympy.Pow(a, int(symbol.name[1:]))
    found: Callable[..., Any] = FUNCTIONS.get(symbol.sympy) or (
        getattr(sympy, symbol.sympy) if symbol.sympy else sympy.Function(symbol.name, real=True)
    )
    return found


def constant_stem(library: SymbolLibrary) -> str:
    """Return the text before the number in the SymPy names of unfitted constants; no variable has such a name."""
    stem = library.constant or "c"
    while any(name.startswith(stem) and name[len(stem) :].isdigit() for name in library.variables):
        stem += "_"
    return stem


def constant_names(library: SymbolLibrary, count: int) -> list[str]:
    """Return distinct SymPy names for `count` unfitted constants, none of them a variable's."""
    return [f"{constant_stem(library)}{i}" for i in range(count)]


def to_sympy(expr: Expr, *, evaluate: bool = True, exact: bool = False) -> sympy.Expr:
    """Return the expression in SymPy, with real variables.

    Each unfitted constant is a separate symbol (c0, c1, …), as their values may differ. With `evaluate=False` SymPy
    keeps the tree as it is. With `exact=True` a decimal such as 0.1 is the fraction 1/10, not the nearest double.
    Numbers far beyond the doubles, such as 9^9^9, raise.

    >>> from edhie.expr import parse
    >>> to_sympy(parse("c*x0 + c*x0/2"))
    c0*x0 + c1*x0/2
    """
    names = constant_names(expr.library, len(expr.constants))

    def leaf(symbol: Symbol, token: str, value: float | None) -> sympy.Expr:
        name = names.pop() if symbol.kind == "constant" else token
        if value is None:
            return sympy.Symbol(name, real=True)
        return getattr(sympy, str(symbol.sympy)) if symbol.sympy else _number(value, exact)

    with nullcontext() if evaluate else sympy.evaluate(False):
        return expr.fold(leaf, _apply)


def _apply(symbol: Symbol, operands: list[sympy.Expr]) -> sympy.Expr:
    if symbol.precedence == Precedence.POWER:
        base, exponent = operands if symbol.arity == 2 else (operands[0], sympy.Integer(symbol.name[1:]))
        if exponent.is_Integer and _bits(base) * abs(int(exponent)) > MAX_BITS:
            raise ExpressionError(f"a number to the power {sympy.N(exponent, 5)} is too long for SymPy")
    if symbol.name == "exp" and _has_long_power(operands[0]):
        raise ExpressionError(f"exp({operands[0]}) is too long a number for SymPy")
    try:
        value = sympy_function(symbol)(*operands)
    except ValueError as error:
        if symbol.name in ("min", "max"):  # SymPy refuses to compare what is not real, such as sqrt(-1)
            raise ExpressionError(f"the {symbol.name} of {operands[0]} and {operands[1]} is not real") from error
        raise
    except RecursionError as error:
        raise ExpressionError("the expression is nested too deeply for SymPy") from error
    if value.is_Float and abs(value._mpf_[2] + value._mpf_[3]) > MAX_BITS:  # the exponents of 2 of its parts
        raise ExpressionError(f"a number in the expression is beyond 2^{MAX_BITS} or its inverse, too much for SymPy")
    return value


def _bits(base: sympy.Expr) -> int:
    """Return the length of the numerical factor of a base."""
    factor = base.as_coeff_Mul()[0]
    if not factor.is_Rational or factor in (0, 1, -1):
        return 0
    return max(int(factor.p).bit_length(), int(factor.q).bit_length())


def _has_long_power(exponent: sympy.Expr) -> bool:
    """Return True where it may hold n·log(a) with large n, which SymPy turns into a^n."""
    logarithms = exponent.atoms(sympy.log)
    return any(each.args[0].is_Rational for each in logarithms) and any(
        abs(each) > MAX_BITS for each in exponent.atoms(sympy.Integer)
    )


def _number(value: float, exact: bool) -> sympy.Expr:
    if value == int(value) and abs(value) < 1e16:
        return sympy.Integer(int(value))
    return sympy.Rational(numeral(value)) if exact else sympy.Float(value)
