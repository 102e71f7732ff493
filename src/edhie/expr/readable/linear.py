"""Expressions that are a*x + b in one variable, in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from edhie.expr.readable.arithmetic import PRODUCT, SUM
from edhie.expr.readable.nodes import Node


class Linear(NamedTuple):
    """slope*variable + offset; without a variable, the offset alone."""

    variable: str | None
    slope: Fraction
    offset: Fraction


def linear(node: Node) -> Linear | None:
    """Read a node as a*x + b with constant coefficients; None where it is anything else."""
    number = node.symbol.value if node.kind == "literal" else node.number
    if number is not None:
        return Linear(None, Fraction(0), Fraction(number))
    if node.kind == "variable":
        return Linear(node.token, Fraction(1), Fraction(0))
    if node.op not in SUM and node.op not in PRODUCT:
        return None
    parts = [linear(each) for each in node.operands]
    a, b = parts[0], parts[-1]
    if a is None or b is None:
        return None
    if node.op == "neg":
        return Linear(a.variable, -a.slope, -a.offset)
    if node.op in SUM:
        if None not in (a.variable, b.variable) and a.variable != b.variable:
            return None
        sign = 1 if node.op == "+" else -1
        return Linear(a.variable or b.variable, a.slope + sign * b.slope, a.offset + sign * b.offset)
    if node.op == "*" and a.variable is None:
        a, b = b, a
    if b.variable is not None or (node.op == "/" and b.offset == 0):
        return None
    factor = b.offset if node.op == "*" else 1 / b.offset
    return Linear(a.variable, a.slope * factor, a.offset * factor)
