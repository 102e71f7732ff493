"""The choices that make up the structure of a formula in its normal form.

A structure is coded from the root down: for each node its class (a sum, a product, another operator, a variable, a
constant or a number); for a sum the numbers of positive and negative terms, and whether one of them is a constant or a
number; for a product the numbers of factors in numerator and denominator; and for nodes outside of sums and products
their sign. A constant can have any sign, so a term with one counts as positive.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from edhie.expr.symbols import Symbol
from edhie.selection.prior.versions import CONSTANT, Apply, Leaf, Node, Number, Product, Sum, has_constant, is_fixed

ROOT, TERM, ABOVE, BELOW = "root", "term", "above", "below"
"""Contexts that are not the operand of an operator."""
VARIABLE, FIXED, NUMBER, SUM, PRODUCT = "<variable>", "<constant>", "<number>", "<sum>", "<product>"
"""Classes that are not the name of an operator."""
CLASSES = (VARIABLE, FIXED, NUMBER, SUM, PRODUCT)
ARITHMETIC = ("+", "-", "neg", "*", "/", "inv")
"""Operators that sums, products and signs are made of."""
COMMUTATIVE = ("min", "max")
MOST_POSITIVE, MOST_NEGATIVE = 5, 4
MOST_ABOVE, MOST_BELOW = 6, 5
"""Larger numbers of operands are counted as these."""


class Event(NamedTuple):
    """One choice: of a class, of the shape of a sum or product, or of a sign."""

    kind: str
    """class, sum, product or sign."""
    context: str
    """Place of the node: the root, a term, a factor of a numerator or denominator, or an operand of an operator."""
    above: str
    """Place of the sum, product or operator of which it is an operand."""
    outcome: str


def operand(symbol: Symbol, place: int) -> str:
    """Return the context of an operand; operands of a commutative operator share one."""
    return symbol.name if symbol.arity == 1 or symbol.name in COMMUTATIVE else f"{symbol.name} {place + 1}"


def class_of(node: Node) -> str:
    """Return the class of a node that is not a negation."""
    if isinstance(node, Leaf):
        return FIXED if node == CONSTANT else VARIABLE
    if isinstance(node, Apply):
        return node.symbol.name
    return SUM if isinstance(node, Sum) else PRODUCT if isinstance(node, Product) else NUMBER


def events(root: Node) -> Iterator[Event]:
    """Yield the choices that make up a structure, from the root down."""
    waiting: list[tuple[Node, str, str]] = [(root, ROOT, "")]
    while waiting:
        node, context, above = waiting.pop()
        if context not in (TERM, ABOVE, BELOW):
            is_negated = isinstance(node, Sum) and len(node.terms) == 1
            if isinstance(node, Sum) and is_negated:
                node = node.terms[0][1]
            if not (has_constant(node) or isinstance(node, Sum | Number)):
                yield Event("sign", context, "", "-" if is_negated else "+")
        yield Event("class", context, above, class_of(node))
        if isinstance(node, Sum):
            yield Event("sum", context, "", _shape_of_sum(node))
            waiting += [(each, TERM, context) for _, each in node.terms if not is_fixed(each)]
        elif isinstance(node, Product):
            yield Event("product", context, "", _shape_of_product(node))
            waiting += [(each, ABOVE, context) for each in node.above if not is_fixed(each)]
            waiting += [(each, BELOW, context) for each in node.below if not is_fixed(each)]
        elif isinstance(node, Apply):
            waiting += [(each, operand(node.symbol, i), context) for i, each in enumerate(node.operands)]


def _shape_of_sum(node: Sum) -> str:
    """Return the shape of a sum: its fixed term, and the numbers of positive and negative other terms."""
    fixed = [each for _, each in node.terms if is_fixed(each)]
    free = [sign > 0 or has_constant(each) for sign, each in node.terms if not is_fixed(each)]
    kind = "c" if CONSTANT in fixed else "n" if fixed else "-"
    return f"{kind} {min(sum(free), MOST_POSITIVE)} {min(len(free) - sum(free), MOST_NEGATIVE)}"


def _shape_of_product(node: Product) -> str:
    """Return the shape of a product: its fixed factors, and the numbers of others in numerator and denominator."""
    sides = (node.above, node.below)
    numbers, divisors = (any(isinstance(each, Number) for each in side) for side in sides)
    above, below = (sum(not is_fixed(each) for each in side) for side in sides)
    kind = "c" if CONSTANT in (*node.above, *node.below) else f"{'n' * numbers}{'d' * divisors}" or "-"
    return f"{kind} {min(above, MOST_ABOVE)} {min(below, MOST_BELOW)}"
