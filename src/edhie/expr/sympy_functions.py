"""SymPy counterparts of the symbols that SymPy itself has no name for.

All are exact over the reals: the cube root of a negative number is negative, as NumPy has it.
"""

from __future__ import annotations

import sympy


def subtract(a: sympy.Expr, b: sympy.Expr) -> sympy.Expr:
    """The difference of a and b."""
    return sympy.Add(a, sympy.Mul(sympy.S.NegativeOne, b))


def divide(a: sympy.Expr, b: sympy.Expr) -> sympy.Expr:
    """A / b."""
    return sympy.Mul(a, invert(b))


def negate(a: sympy.Expr) -> sympy.Expr:
    """The negative of a."""
    return sympy.Mul(sympy.S.NegativeOne, a)


def invert(a: sympy.Expr) -> sympy.Expr:
    """1 / a."""
    return sympy.Pow(a, sympy.S.NegativeOne)


def power2(a: sympy.Expr) -> sympy.Expr:
    """a²."""
    return sympy.Pow(a, sympy.Integer(2))


def power3(a: sympy.Expr) -> sympy.Expr:
    """a³."""
    return sympy.Pow(a, sympy.Integer(3))


def power4(a: sympy.Expr) -> sympy.Expr:
    """a⁴."""
    return sympy.Pow(a, sympy.Integer(4))


def power5(a: sympy.Expr) -> sympy.Expr:
    """a⁵."""
    return sympy.Pow(a, sympy.Integer(5))


def real_cube_root(a: sympy.Expr) -> sympy.Expr:
    """The real cube root: sign(a)·|a|^(1/3)."""
    return sympy.Mul(sympy.sign(a), sympy.Pow(sympy.Abs(a), sympy.Rational(1, 3)))


def log10(a: sympy.Expr) -> sympy.Expr:
    """The decimal logarithm: log(a) / log(10)."""
    return sympy.Mul(sympy.log(a), invert(sympy.log(sympy.Integer(10))))
