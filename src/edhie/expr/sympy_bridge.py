"""From an expression to SymPy; the way back is in `sympy_reader`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import cache
from typing import Any

import sympy

from edhie.expr import sympy_functions
from edhie.expr.expression import Expr
from edhie.expr.library import SymbolLibrary
from edhie.expr.numerals import numeral
from edhie.expr.symbols import Symbol

MAX_POWER_BITS = 20_000  # a longer integer power, such as 9^9^9, is left as it stands


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


def constant_names(library: SymbolLibrary, count: int) -> list[str]:
    """Distinct SymPy names for `count` unfitted constants, none of them a variable's."""
    stem = library.constant or "c"
    while any(name.startswith(stem) and name[len(stem) :].isdigit() for name in library.variables):
        stem += "_"
    return [f"{stem}{i}" for i in range(count)]


def to_sympy(expr: Expr, *, evaluate: bool = True, exact: bool = False) -> sympy.Expr:
    """The same expression in SymPy, its variables real.

    Every unfitted constant is a symbol of its own (c0, c1, …), as their values need not
    agree. With `evaluate=False` SymPy keeps the tree as it is written; with `exact=True`
    a decimal such as 0.1 is the fraction 1/10 and not the double next to it.

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
                stack.append(_apply(symbol, operands))
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
    if symbol.name == "^" and all(each.is_Integer for each in operands):
        base, exponent = (int(each) for each in operands)
        if abs(exponent) * abs(base).bit_length() > MAX_POWER_BITS:
            return sympy.Pow(*operands, evaluate=False)
    return sympy_function(symbol)(*operands)


def _number(value: float, exact: bool) -> sympy.Expr:
    if value == int(value) and abs(value) < 1e16:
        return sympy.Integer(int(value))
    return sympy.Rational(numeral(value)) if exact else sympy.Float(value)
