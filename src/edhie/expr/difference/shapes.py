"""The parts of an expression that are compared: neither values of constants nor the order of operands count.

A `Shape` has its sums and its products flattened, each operand with a sign: a - b + c and c + a - b are the same
shape. Numbers are constants, constants that stand together are one, and one that is free takes signs and divisions
in: c, -c, 1/c, 2*c and c^2 are the same. Each shape remembers the tokens that it is written with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Literal, NamedTuple

from edhie.errors import ExpressionError
from edhie.expr.expression import Expr
from edhie.expr.symbols import Symbol

Kind = Literal["constant", "variable", "unary", "pair", "sum", "product"]
OPERATORS: dict[tuple[Kind, int], str] = {("sum", 1): "+", ("sum", -1): "-", ("product", 1): "*", ("product", -1): "/"}
CHAINS = {name: chain for chain, name in OPERATORS.items()}
"""The kind of chain that an operator makes, and the sign of its second operand."""
UNDOING: dict[Kind, str] = {"sum": "neg", "product": "inv"}
COMMUTATIVE = frozenset({"+", "*", "min", "max"})
DEEPEST = 150  # levels: shapes are compared by recursion
LONGEST = 4  # operands of a chain that are divided in every way; of a longer one, one is split off at a time


class Part(NamedTuple):
    """An operand of a chain."""

    sign: int
    """1, or -1 where it is subtracted or divided by."""
    shape: Shape
    joint: int
    """The operator above it."""


@dataclass(frozen=True, eq=False)
class Shape:
    """A node and its operands."""

    kind: Kind
    label: str
    operands: tuple[Shape, ...] = ()
    parts: tuple[Part, ...] = ()
    """Operands of a sum or a product."""
    tokens: tuple[int, ...] = ()
    """Places of its own symbols in the expression; a chain's operators are its joints."""
    operators: tuple[int, ...] = ()
    """All operators of a chain, and of the chain that it is a part of."""
    _groups: dict[tuple[int, ...], Shape] = field(default_factory=dict, repr=False)

    @cached_property
    def key(self) -> str:
        """Text that is equal for equal shapes."""
        if self.parts:
            parts = sorted(f"{'+' if sign > 0 else '-'}{each.key}" for sign, each, _ in self.parts)
            return f"({self.kind} {' '.join(parts)})"
        inner = [each.key for each in self.operands]
        return f"({self.kind} {self.label} {' '.join(sorted(inner) if self.label in COMMUTATIVE else inner)})"

    @property
    def own_size(self) -> int:
        """Number of symbols without those of its operands."""
        return len(self.parts) - 1 if self.parts else 1

    @cached_property
    def size(self) -> int:
        """Number of symbols that it is written with."""
        return self.own_size + sum(each.size for each in self.operands)

    @cached_property
    def census(self) -> Counter[str]:
        """Count of each symbol; those of sums are alike, and those of products."""
        found = Counter({self.label: self.own_size})
        for each in self.operands:
            found.update(each.census)
        return found

    @cached_property
    def all_tokens(self) -> frozenset[int]:
        """Places of all its symbols."""
        own = (*self.tokens, *(each.joint for each in self.parts))
        return frozenset(own).union(*(each.all_tokens for each in self.operands))

    @cached_property
    def splits(self) -> tuple[Split, ...]:
        """Every form as an operator and two operands; none where it has fewer."""
        if self.kind == "pair":
            return (Split(self.label, self.operands[0], self.operands[1], self.tokens),)
        count = len(self.parts)
        most = 1 if self.is_long else count // 2
        chosen = [some for size in range(1, most + 1) for some in combinations(range(count), size)]
        if count % 2 == 0 and most == count // 2:  # halves come twice
            chosen = [some for some in chosen if len(some) < most or 0 in some]
        return tuple(self.split(some) for some in chosen)

    @property
    def is_long(self) -> bool:
        """True for a chain with too many operands to try every division of them."""
        return len(self.parts) > LONGEST

    def split(self, some: tuple[int, ...]) -> Split:
        """Return it as two chains, one of them of some operands."""
        others = tuple(k for k in range(len(self.parts)) if k not in some)
        is_taken_off = [all(self.parts[k].sign < 0 for k in group) for group in (some, others)]
        first, second = (some, others) if is_taken_off[1] else (others, some)
        joints = (*(self.parts[k].joint for k in (*second, *first)), *self.operators)
        operator = OPERATORS[self.kind, -1 if any(is_taken_off) else 1]
        return Split(operator, self.group(first), self.group(second), joints)

    def group(self, some: tuple[int, ...]) -> Shape:
        """Return the chain of some operands, with all signs changed where none is positive."""
        if some not in self._groups:
            self._groups[some] = chain_of(self.kind, [self.parts[k] for k in some], self.operators)
        return self._groups[some]


class Split(NamedTuple):
    """A shape as an operator of two operands."""

    operator: str
    first: Shape
    second: Shape
    tokens: tuple[int, ...]
    """Possible places of the operator, the likeliest first."""


def chain_of(kind: Kind, parts: Sequence[Part], operators: tuple[int, ...]) -> Shape:
    """Return the sum or product of one or more operands, with all signs changed where none is positive."""
    if len(parts) == 1:
        return parts[0].shape
    turn = 1 if any(sign > 0 for sign, _, _ in parts) else -1
    turned = tuple(Part(turn * sign, each, joint) for sign, each, joint in parts)
    return Shape(kind, OPERATORS[kind, 1], tuple(each.shape for each in parts), turned, operators=operators)


def shape_of(expr: Expr) -> Shape:
    """Return the shape of an expression.

    >>> from edhie.expr import parse
    >>> shape_of(parse("x - 2*y")).key == shape_of(parse("c*y + x")).key
    True
    """
    if expr.height > DEEPEST:
        raise ExpressionError(
            f"an expression of {expr.height} levels is too deep to be compared; {DEEPEST} are allowed"
        )
    waiting: list[Shape] = []
    symbols = [symbol for _, _, symbol in expr.walk()]
    for position in range(expr.size - 1, -1, -1):
        symbol = symbols[position]
        operands = tuple(waiting.pop() for _ in range(symbol.arity))
        waiting.append(_node(symbol, operands, position))
    return waiting[0]


def _node(symbol: Symbol, operands: tuple[Shape, ...], at: int) -> Shape:
    if symbol.kind == "variable":
        return Shape("variable", symbol.name, tokens=(at,))
    if all(each.kind == "constant" for each in operands):
        return Shape("constant", "c", tokens=(at, *(token for each in operands for token in each.tokens)))
    is_known = symbol.kind == "operator" and not symbol.is_custom
    if is_known and symbol.name in CHAINS:
        kind, sign = CHAINS[symbol.name]
        return _chain(kind, [Part(1, operands[0], at), Part(sign, operands[1], at)])
    if is_known and symbol.name in ("neg", "inv"):
        return _chain("sum" if symbol.name == "neg" else "product", [Part(-1, operands[0], at)])
    return Shape("unary" if symbol.arity == 1 else "pair", symbol.name, operands, tokens=(at,))


def _chain(kind: Kind, given: list[Part]) -> Shape:
    """Return a sum or a product of signed operands, each with the operator above it."""
    flat = [part for each in given for part in _flat(kind, *each)]
    taken_in = [token for _, each, _ in given if _is_unary(each, UNDOING[kind]) for token in each.tokens]
    signs: list[int] = []  # where signs of factors stand
    if kind == "product":  # a sign of a factor is one of the whole
        signs = [each.tokens[0] for _, each, _ in flat if _is_unary(each, "neg")]
        flat = [part for sign, each, at in flat for part in _flat(kind, sign, _bare(each), at)]
    flat = _with_one_constant([Part(1 if has_free_constant(each, kind) else sign, each, at) for sign, each, at in flat])
    own = [given[0].joint] if len(given) > 1 else []
    inner = [_bare(each, UNDOING[kind]) for _, each, _ in given]
    operators = (*own, *(token for each in inner if each.kind == kind for token in each.operators))
    found = chain_of(kind, flat, operators)
    if all(sign < 0 for sign, _, _ in flat):
        found = Shape("unary", UNDOING[kind], (found,), tokens=(*taken_in, given[0].joint))
    if len(signs) % 2 == 1 and not has_free_constant(found, "sum"):
        return _chain("sum", [Part(-1, found, signs[0])])
    return found


def _flat(kind: Kind, sign: int, shape: Shape, at: int) -> list[Part]:
    """Return an operand as operands of the chain above it."""
    if shape.kind == kind:
        return [Part(sign * own, each, joint) for own, each, joint in shape.parts]
    if _is_unary(shape, UNDOING[kind]):
        return _flat(kind, -sign, shape.operands[0], at)
    return [Part(sign, shape, at)]


def _bare(shape: Shape, label: str = "neg") -> Shape:
    return shape.operands[0] if _is_unary(shape, label) else shape


def _is_unary(shape: Shape, label: str) -> bool:
    return shape.kind == "unary" and shape.label == label


def _with_one_constant(flat: list[Part]) -> list[Part]:
    """Merge constants that stand together into the first."""
    constants = [part for part in flat if part.shape.kind == "constant"]
    if len(constants) < 2:
        return flat
    merged = Shape("constant", "c", tokens=tuple(token for part in constants for token in part.shape.tokens))
    return [
        Part(1, merged, part.joint) if part is constants[0] else part
        for part in flat
        if part is constants[0] or part.shape.kind != "constant"
    ]


def has_free_constant(shape: Shape, kind: str) -> bool:
    """Return True where a constant takes in the sign of the operand: a constant, or in a sum a product with one."""
    return shape.kind == "constant" or (
        kind == "sum" and shape.kind == "product" and any(each.kind == "constant" for each in shape.operands)
    )
