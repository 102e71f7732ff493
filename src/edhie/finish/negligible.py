"""Expressions without one of their terms or factors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from edhie.expr.expression import Expr
from edhie.expr.nodes import SUM, MissingSymbolError, Node, expr_of, operation, tree_of
from edhie.finish.arithmetic import added, factors, quotient, summands


def without_each_term(expr: Expr) -> list[Expr]:
    """Return the expression without each term of a sum, and without each factor of a product, in turn.

    >>> from edhie.expr import parse
    >>> [str(each) for each in without_each_term(parse("x + 2*y"))]
    ['2*y', 'x', 'x + y', 'x + 2']
    """
    found: dict[Expr, None] = {}
    with suppress(MissingSymbolError):  # such as `neg`, where a column has this name
        for each in _shorter(tree_of(expr)):
            found[expr_of(each, expr.library)] = None
    return list(found)


def _shorter(node: Node) -> Iterator[Node]:
    if not node.operands:
        return
    if node.op in SUM:
        terms = summands(node)
        for k, (is_negative, term) in enumerate(terms):
            yield added(terms[:k] + terms[k + 1 :])
            for other in _shorter(term):
                yield added([*terms[:k], (is_negative, other), *terms[k + 1 :]])
    elif node.op in ("*", "/"):
        is_negative, above, below = factors(node)
        for side in (above, below):
            for k, factor in enumerate(side):
                rest = side[:k] + side[k + 1 :]
                if rest or side is below:
                    yield _signed(is_negative, *((rest, below) if side is above else (above, rest)))
                for other in _shorter(factor):
                    changed = [*side[:k], other, *side[k + 1 :]]
                    yield _signed(is_negative, *((changed, below) if side is above else (above, changed)))
    else:
        for k, operand in enumerate(node.operands):
            for other in _shorter(operand):
                yield node.over(*node.operands[:k], other, *node.operands[k + 1 :])


def _signed(is_negative: bool, above: list[Node], below: list[Node]) -> Node:
    found = quotient(above, below)
    return operation("neg", found) if is_negative else found
