"""Products for quotients by a constant, and quotients for products, where that takes fewer digits."""

from __future__ import annotations

import math

from edhie.expr.expression import Expr
from edhie.expr.nodes import Node, expr_of, operation, rebuilt, tree_of
from edhie.expr.numerals import numeral
from edhie.finish.form import tidied

SAVED = 2  # digits from which on a reciprocal is written instead


def with_short_reciprocals(expr: Expr, rounded: Expr) -> Expr:
    """Write a product for a quotient by a constant, or the other way round, where that needs fewer digits.

    `rounded` is the same tree with constants of as many digits as they need.

    >>> from edhie.expr import parse
    >>> expr = parse("x0/c + c*x1").with_constants([1 / 2.01, 0.3])
    >>> str(with_short_reciprocals(expr, expr.with_constants([0.497512, 0.3])))
    '2.01*x0 + 0.3*x1'
    """
    inverses: dict[float | None, float] = {
        value: inverse
        for value, short in zip(expr.constants, rounded.constants, strict=True)
        if value is not None and short and (inverse := _short_inverse(value, short)) is not None
    }
    if not inverses or not {"*", "/"} <= expr.library.built_in:
        return expr

    def changed(node: Node) -> Node:
        for operator, other, place in (("/", "*", 1), ("*", "/", 0)):
            if node.op == operator and node.operands[place].value in inverses:
                constant, rest = node.operands[place], node.operands[1 - place]
                inverse = Node(constant.library, constant.token, (), inverses[constant.value])
                return operation(other, *((inverse, rest) if other == "*" else (rest, inverse)))
        return node

    return tidied(expr_of(rebuilt(tree_of(expr), changed), expr.library))


def _short_inverse(value: float, short: float) -> float | None:
    """Return 1/value if it needs clearly fewer digits than the value; None otherwise."""
    digits, inverse = _significant(short), 1 / value
    is_short = math.isfinite(inverse) and _significant(float(f"{inverse:.{digits}g}")) + SAVED <= digits
    return inverse if is_short else None


def _significant(value: float) -> int:
    return len(numeral(abs(value)).partition("e")[0].replace(".", "").strip("0"))
