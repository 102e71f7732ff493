"""From an expression to SymPy; the way back is in `sympy_reader`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import cache
from typing import Any

import sympy

from edhie.errors import ExpressionError
from edhie.expr import sympy_functions
from edhie.expr.expression import Expr
from edhie.expr.library import SymbolLibrary
from edhie.expr.numerals import numeral
from edhie.expr.symbols import Precedence, Symbol

MAX_BITS = 20_000  # with longer numbers, such as 9^9^9, SymPy would never end


@cache
def sympy_function(symbol: Symbol) -> Callable[..., Any]:
    """The SymPy function that an operator stands for."""
    if callable(symbol.sympy):
        return symbol.sympy
    if not symbol.sympy:  # a user's operator without one
        undefined: Callable[..., Any] = sympy.Function(symbol.name, real=True)
        return undefined
    found: Callable[..., Any] = getattr(sympy_functions, symbol.sympy, None) or getattr(sympy, symbol.sympy)
    return found


def constant_stem(library: SymbolLibrary) -> str:
    """What the SymPy names of unfitted constants begin with: no variable is called so with a number behind it."""
    stem = library.constant or "c"
    while any(name.startswith(stem) and name[len(stem) :].isdigit() for name in library.variables):
        stem += "_"
    return stem


def constant_names(library: SymbolLibrary, count: int) -> list[str]:
    """Distinct SymPy names for `count` unfitted constants, none of them a variable's."""
    stem = constant_stem(library)
    return [f"{stem}{i}" for i in range(count)]


def to_sympy(expr: Expr, *, evaluate: bool = True, exact: bool = False) -> sympy.Expr:
    """The same expression in SymPy, its variables real.

    Every unfitted constant is a symbol of its own (c0, c1, …), as their values need not
    agree. With `evaluate=False` SymPy keeps the tree as it is written; with `exact=True`
    a decimal such as 0.1 is the fraction 1/10 and not the double next to it. Numbers far
    beyond the doubles, such as 9^9^9, raise.

    >>> from edhie.expr import parse
    >>> to_sympy(parse("c*x0 + c*x0/2"))
    c0*x0 + c1*x0/2
    """
    names = constant_names(expr.library, len(expr.constants))
    slots = list(zip(names, expr.constants, strict=True))
    stack: list[sympy.Expr] = []
    with nullcontext() if evaluate else sympy.evaluate(False):
        for token in reversed(expr.tokens):
            symbol = expr.library[token]
            if symbol.kind == "operator":
                operands = [stack.pop() for _ in range(symbol.arity)]
                stack.append(_checked(_apply(symbol, operands)))
            elif symbol.kind == "variable":
                stack.append(sympy.Symbol(token, real=True))
            elif symbol.kind == "constant":
                name, value = slots.pop()
                stack.append(sympy.Symbol(name, real=True) if value is None else _number(value, exact))
            elif symbol.sympy:
                stack.append(getattr(sympy, str(symbol.sympy)))
            else:
                stack.append(_number(float(token), exact))
    return stack.pop()


def _apply(symbol: Symbol, operands: list[sympy.Expr]) -> sympy.Expr:
    if symbol.precedence == Precedence.POWER:
        base, exponent = operands if symbol.arity == 2 else (operands[0], sympy.Integer(symbol.name[1:]))
        if exponent.is_Integer and _bits(base) * abs(int(exponent)) > MAX_BITS:
            raise ExpressionError(f"the power of a number to the {sympy.N(exponent, 5)} is too long for SymPy")
    if symbol.name == "exp" and _has_long_power(operands[0]):
        raise ExpressionError(f"exp({operands[0]}) is too long a number for SymPy")
    try:
        return sympy_function(symbol)(*operands)
    except ValueError as error:
        if symbol.name in ("min", "max"):  # SymPy refuses to compare what is not real, such as sqrt(-1)
            raise ExpressionError(f"the {symbol.name} of {operands[0]} and {operands[1]} is no real number") from error
        raise
    except RecursionError as error:
        raise ExpressionError("the expression is nested too deeply for SymPy") from error


def _bits(base: sympy.Expr) -> int:
    """How long the number is that stands as a factor in the base of a power."""
    factor = base.as_coeff_Mul()[0]
    if not factor.is_Rational or factor in (0, 1, -1):
        return 0
    return max(int(factor.p).bit_length(), int(factor.q).bit_length())


def _has_long_power(exponent: sympy.Expr) -> bool:
    """Whether it may hold n·log(a) with large n, of which SymPy makes a^n."""
    logarithms = exponent.atoms(sympy.log)
    return any(each.args[0].is_Rational for each in logarithms) and any(
        abs(each) > MAX_BITS for each in exponent.atoms(sympy.Integer)
    )


def _checked(value: sympy.Expr) -> sympy.Expr:
    if value.is_Float and abs(value._mpf_[2] + value._mpf_[3]) > MAX_BITS:  # the exponents of 2 of its parts
        raise ExpressionError(f"a number in the expression is beyond 2^{MAX_BITS} or its inverse, too much for SymPy")
    return value


def _number(value: float, exact: bool) -> sympy.Expr:
    if value == int(value) and abs(value) < 1e16:
        return sympy.Integer(int(value))
    return sympy.Rational(numeral(value)) if exact else sympy.Float(value)
