"""Expressions that are a*x + b in one variable, in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from edhie.expr.library import SymbolLibrary
from edhie.expr.plain.nodes import Node, is_built_in, number_of

ARITHMETIC = ("+", "-", "*", "/", "neg")


class Affine(NamedTuple):
    """slope*variable + offset; without a variable, the offset alone."""

    variable: str | None
    slope: Fraction
    offset: Fraction


def affine(library: SymbolLibrary, node: Node) -> Affine | None:
    """Read a node as a*x + b with constant coefficients; None where it is anything else."""
    number = number_of(library, node)
    if number is None and library[node.token].kind == "literal":
        number = library[node.token].value
    if number is not None:
        return Affine(None, Fraction(0), Fraction(number))
    if library[node.token].kind == "variable":
        return Affine(node.token, Fraction(1), Fraction(0))
    if node.token not in ARITHMETIC or not is_built_in(library, node.token):
        return None
    parts = [affine(library, each) for each in node.operands]
    if parts[0] is None or parts[-1] is None:
        return None
    return _joined(node.token, parts[0], parts[-1])


def _joined(token: str, a: Affine, b: Affine) -> Affine | None:
    if token == "neg":
        return Affine(a.variable, -a.slope, -a.offset)
    if token in ("+", "-"):
        if None not in (a.variable, b.variable) and a.variable != b.variable:
            return None
        sign = 1 if token == "+" else -1
        return Affine(a.variable or b.variable, a.slope + sign * b.slope, a.offset + sign * b.offset)
    if token == "*" and a.variable is None:
        a, b = b, a
    if b.variable is not None or (token == "/" and b.offset == 0):
        return None
    factor = b.offset if token == "*" else 1 / b.offset
    return Affine(a.variable, a.slope * factor, a.offset * factor)
