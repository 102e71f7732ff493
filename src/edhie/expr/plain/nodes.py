"""An expression as nested nodes, and what can be said of one of them alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from edhie.expr.expression import Expr
from edhie.expr.library import SymbolLibrary
from edhie.expr.symbols import OPERATORS

EVEN = ("cos", "cosh", "abs", "^2", "^4")
ODD = ("sin", "tan", "asin", "atan", "sinh", "tanh", "cbrt", "sign", "inv", "^3", "^5")


class Node(NamedTuple):
    """A symbol over its operands; `value` is that of a fitted constant."""

    token: str
    operands: tuple[Node, ...] = ()
    value: float | None = None


class UnsayableError(Exception):
    """The library lacks a symbol that this way of writing needs."""


def tree_of(expr: Expr, build: Callable[[Node], Node] = lambda node: node) -> Node:
    """The expression as nodes, each of them as `build` makes it of its operands."""
    waiting: list[Node] = []
    constants = list(expr.constants)
    for token in reversed(expr.tokens):
        operands = tuple(waiting.pop() for _ in range(expr.library[token].arity))
        value = constants.pop() if token == expr.library.constant else None
        waiting.append(build(Node(token, operands, value)))
    (whole,) = waiting
    return whole


def expr_of(node: Node, library: SymbolLibrary) -> Expr:
    """Nodes as an expression again."""
    every = walk(node)
    constants = tuple(each.value for each in every if each.token == library.constant)
    return Expr.trusted(library, tuple(each.token for each in every), constants)


def walk(node: Node) -> list[Node]:
    """The nodes in prefix order."""
    found, waiting = [], [node]
    while waiting:
        found.append(waiting.pop())
        waiting.extend(reversed(found[-1].operands))
    return found


def size(node: Node) -> int:
    """How many nodes there are."""
    return len(walk(node))


def is_built_in(library: SymbolLibrary, name: str) -> bool:
    """Whether a name stands for the built-in operator here, and not for something of the user's."""
    return name in OPERATORS and name in library and library[name] == OPERATORS[name]


def joined(library: SymbolLibrary, token: str, *operands: Node) -> Node:
    """A built-in operator over operands; where the library lacks it this raises."""
    if not is_built_in(library, token):
        raise UnsayableError(token)
    return Node(token, operands)


def number_of(library: SymbolLibrary, node: Node) -> float | None:
    """What a fitted constant, or a number, stands for; None for anything else, and for what is to be fitted."""
    if node.token == library.constant:
        return node.value
    return float(node.token) if library[node.token].kind == "number" else None


def is_coefficient(library: SymbolLibrary, node: Node) -> bool:
    """Whether people write it before what it multiplies."""
    return node.token == library.constant or library[node.token].kind in ("number", "literal")
