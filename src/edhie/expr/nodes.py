"""Expressions as nested nodes, which rewriting reads and builds."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from edhie.expr.expression import Expr
from edhie.expr.library import SymbolLibrary
from edhie.expr.numerals import numeral
from edhie.expr.symbols import Kind, Symbol

SUM = ("+", "-")
PRODUCT = ("*", "/", "neg")
PLAIN, VARIABLE, FUNCTION, FITTED, SIGN, BRACKETS, NEGATIVE_DIVISOR, NESTED = 1.0, 1.25, 2.5, 4.0, 0.25, 0.5, 1.0, 0.5
"""Costs, in symbols."""
ROOT = 2.0 * PLAIN  # no more than that of u^0.5
SHORT_NUMBER, EASY_DIGITS = 3, 3.0  # characters of a plain number; zeros that are easy to read


class MissingSymbolError(Exception):
    """The library lacks a symbol that a form needs."""


class Node:
    """A symbol over its operands, with the facts that rewriting asks for most; immutable, and its hash is cached."""

    __slots__ = ("_cost", "_hash", "is_fitted", "kind", "library", "number", "op", "operands", "size", "token", "value")

    def __init__(
        self, library: SymbolLibrary, token: str, operands: tuple[Node, ...] = (), value: float | None = None
    ) -> None:
        """Make a node; `value` is that of a fitted constant."""
        self.library, self.token, self.operands, self.value = library, token, operands, value
        self._hash = hash((token, operands)) if operands else hash((token, value, library))
        self._cost: float | None = None
        self.size = 1
        """Number of nodes, itself included."""
        self.number: float | None = None
        """Value of a number or of a fitted constant."""
        self.op = ""
        """Name of a built-in operator; empty for leaves and user-defined operators."""
        self.kind: Kind = "operator"
        if operands:
            if token in library.built_in:
                self.op = token
            self.is_fitted = True
            for each in operands:
                self.size += each.size
                self.is_fitted = self.is_fitted and each.is_fitted
        else:
            place = library.ids.get(token)
            self.kind = "number" if place is None else library.symbols[place].kind
            self.number = float(token) if place is None else value
            self.is_fitted = self.kind != "constant" or value is not None
            """True where no constant is left to be fitted."""

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        """Compare trees; 0.0 and -0.0 differ, since forms are cached."""
        return self is other or (
            isinstance(other, Node)
            and self._hash == other._hash
            and (self.token, self.operands, self.value) == (other.token, other.operands, other.value)
            and (bool(self.operands) or (self.library == other.library and repr(self.value) == repr(other.value)))
        )

    def __repr__(self) -> str:
        return f"Node(token={self.token!r}, operands={self.operands!r}, value={self.value!r})"

    @property
    def symbol(self) -> Symbol:
        """The symbol of the token."""
        return self.library[self.token]

    @property
    def is_coefficient(self) -> bool:
        """True for a leaf that people write before other factors."""
        return self.kind in ("constant", "number", "literal")

    @property
    def cost(self) -> float:
        """Trouble of reading it: 1 for a symbol, more for functions and for long, small and large numbers."""
        if self._cost is None:
            self._cost = self._own_cost() + sum(each.cost for each in self.operands)
        return self._cost

    def _own_cost(self) -> float:
        if self.number is not None:
            size = abs(self.number)
            zeros = abs(math.log10(size)) - EASY_DIGITS if size else 0.0
            own = PLAIN + (len(numeral(size)) > SHORT_NUMBER) if self.kind == "number" else FITTED
            return own + 0.5 * max(0.0, zeros)
        if self.op == "neg":
            return SIGN
        if self.kind == "variable":
            return VARIABLE
        if self.op == "sqrt":
            return ROOT
        if self.kind == "operator" and self.symbol.style == "function":
            return FUNCTION
        brackets = BRACKETS * sum(each.op in SUM for each in self.operands) if self.op not in SUM else 0.0
        if self.op != "/":
            return PLAIN + brackets
        divisor = self.operands[1]
        return PLAIN + brackets + NEGATIVE_DIVISOR * ((divisor.number or 0.0) < 0) + NESTED * divisor.has_quotient

    @property
    def has_quotient(self) -> bool:
        """True for a quotient, and for a sum with a term that is one."""
        return self.op == "/" or (self.op in SUM and any(each.has_quotient for each in self.operands))

    def over(self, *operands: Node) -> Node:
        """Return the same operator over other operands."""
        return Node(self.library, self.token, operands)


def operation(token: str, *operands: Node) -> Node:
    """Return a built-in operator over operands, or raise `MissingSymbolError`."""
    library = operands[0].library
    if token not in library.built_in:
        raise MissingSymbolError(token)
    return Node(library, token, operands)


def tree_of(expr: Expr) -> Node:
    """Return an expression as nodes."""
    library = expr.library

    def leaf(symbol: Symbol, token: str, value: float | None) -> Node:
        return Node(library, token, (), value if symbol.kind == "constant" else None)

    return expr.fold(leaf, lambda symbol, operands: Node(library, symbol.name, tuple(operands)))


def expr_of(node: Node, library: SymbolLibrary) -> Expr:
    """Return nodes as an expression over their library, or one that equals it."""
    every = walk(node)
    constants = tuple(each.value for each in every if each.kind == "constant")
    return Expr.trusted(library, tuple(each.token for each in every), constants)


def walk(node: Node) -> list[Node]:
    """Return the nodes in prefix order."""
    found, waiting = [], [node]
    while waiting:
        found.append(waiting.pop())
        waiting.extend(reversed(found[-1].operands))
    return found


def rebuilt(node: Node, change: Callable[[Node], Node]) -> Node:
    """Return the tree with every node as `change` makes it, operands first and from the right."""
    if not node.operands:
        return change(node)
    operands = tuple([rebuilt(each, change) for each in reversed(node.operands)][::-1])
    is_same = all(new is old for new, old in zip(operands, node.operands, strict=True))
    return change(node if is_same else node.over(*operands))


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
