"""Expressions as text: one writer, and a `Syntax` for each notation or language.

The writer walks the tree and decides on parentheses. A syntax is a table: templates of the operators with their
precedences, and the look of numbers, names and parentheses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import NamedTuple

from edhie.errors import ExpressionError, shortened
from edhie.expr.expression import Expr
from edhie.expr.library import SymbolLibrary
from edhie.expr.symbols import Precedence, Symbol

MAX_DEPTH = 40  # Python allows 200 nested parentheses, some C compilers 256: deeper parts are assigned to local names


class Piece(NamedTuple):
    """Text of a subtree, with the properties that matter where it is an operand."""

    text: str
    precedence: int = Precedence.ATOM
    depth: int = 1
    number: float | None = None
    """Value of a number or literal."""
    is_variable: bool = False
    is_known: bool = False
    """True for a subtree without variables and without constants to be fitted."""
    is_plain: bool = False
    """True for a number of the language itself, False for an array, a tensor or a symbol."""
    terms: tuple[tuple[bool, str], ...] = ()
    """Terms of a sum as (is negative, text), in syntaxes that move signs to the front."""


@dataclass(frozen=True)
class Template:
    """Text of one operator in a syntax."""

    text: str
    """Text with {0} and {1} for the operands."""
    precedence: int = Precedence.ATOM
    operands: tuple[int, ...] = (0, 0)
    """Lowest precedence of each operand without parentheses; 0 where the text encloses the operand."""
    wraps_numbers: bool = False
    """Wrap each operand that is a plain number, not only where all operands are."""
    stays_plain: bool = False
    """Accept plain numbers alone, and give one."""

    @cached_property
    def function(self) -> str:
        """Name of the function that the text is a call of."""
        return self.text.partition("(")[0]


Rule = Template | Callable[..., Piece]  # a function makes the piece of an operator from those of its operands
Condition = Callable[[Sequence[Piece], SymbolLibrary], bool]
Variant = tuple[Condition, Mapping[str, Rule]]


def number_piece(text: str, value: float, *, is_plain: bool = True) -> Piece:
    """Return the piece of a number; a negative one binds like a negation: (-3)^2."""
    precedence = Precedence.NEGATION if text.startswith("-") else Precedence.ATOM
    return Piece(text, precedence, number=value, is_known=True, is_plain=is_plain)


@dataclass(frozen=True)
class Syntax:
    """Table of how a notation or language is written."""

    operators: Mapping[str, Rule]
    """Rule for each built-in operator."""
    variants: Sequence[Variant] = ()
    """Rules for some operands only, which go before those of `operators`; the first that applies is taken."""
    custom: Callable[[Symbol], Rule] | None = None
    """Rule for an operator added by the user."""
    name: Callable[[Symbol], str] = lambda symbol: symbol.name
    """Text of a variable, and of a constant without a value."""
    literal: Callable[[str], str | None] = lambda name: None
    """Text of a literal such as pi; None to write it as a number."""
    number: Callable[[float, str], Piece] = lambda value, number_format: number_piece(repr(value), value)
    """Piece of a number, given the format asked for."""
    parentheses: str = "({0})"
    is_signed: Callable[[Piece], bool] = lambda piece: piece.text.startswith("-")
    """True for a piece that needs parentheses after an operator, as in x - (-3)."""
    wrap: str = ""
    """Text that makes a plain number {0} an array, a tensor or a symbol, where functions need one."""
    has_plain_literals: bool = True
    """True where pi and e are plain numbers."""
    helpers: Mapping[str, str] = field(default_factory=dict)
    """Definitions of functions that the language lacks, by name; those called are put before the formula."""
    assign: str = ""
    """Statement that assigns {1} to {0}; without one the formula is a single text of any depth."""
    max_length: int | None = None

    def rule(self, symbol: Symbol, operands: Sequence[Piece], library: SymbolLibrary) -> Rule:
        """Return the rule for an operator with these operands."""
        for applies, rules in self.variants:
            if symbol.name in rules and applies(operands, library):
                return rules[symbol.name]
        return self.custom(symbol) if self.custom and symbol.is_custom else self.operators[symbol.name]


class Written(NamedTuple):
    """A formula, the statements before it, and the definitions of helpers that it calls."""

    formula: Piece
    statements: tuple[str, ...]
    helpers: tuple[str, ...]

    @property
    def text(self) -> str:
        """The formula alone."""
        return self.formula.text


def write(
    expr: Expr,
    syntax: Syntax,
    *,
    number_format: str = "",
    names: Mapping[str, str] | None = None,
    constants: Sequence[str] = (),
) -> Written:
    """Write an expression in a syntax.

    `names` has other names for variables, and `constants` names for the constants without values, one for each
    constant of the expression in prefix order.
    """
    names, waiting = names or {}, list(constants)
    writer = _Writer(syntax, expr.library, {*names.values(), *constants})

    def leaf(symbol: Symbol, token: str, value: float | None) -> Piece:
        if symbol.kind == "variable":
            return Piece(names.get(token) or syntax.name(symbol), is_variable=True)
        name = waiting.pop() if symbol.kind == "constant" and constants else None
        if value is None:
            return Piece(name or syntax.name(symbol))
        if symbol.kind == "literal" and (text := syntax.literal(token)):
            return number_piece(text, value, is_plain=syntax.has_plain_literals)
        return syntax.number(value, number_format)

    formula = writer.wrapped(expr.fold(leaf, writer.operator))
    return Written(formula, tuple(writer.statements), tuple(syntax.helpers[name] for name in sorted(writer.helpers)))


class _Writer:
    """Writes pieces from the leaves up, and collects what goes before the formula."""

    def __init__(self, syntax: Syntax, library: SymbolLibrary, taken: set[str]) -> None:
        self.syntax, self.library = syntax, library
        self.helpers: set[str] = set()
        self.statements: list[str] = []
        self.local_names = (name for name in (f"t{i}" for i in count()) if name not in taken)

    def operator(self, symbol: Symbol, operands: list[Piece]) -> Piece:
        rule = self.syntax.rule(symbol, operands, self.library)
        if not isinstance(rule, Template):
            return rule(*operands)
        first, last = operands[0], operands[-1]
        is_plain = first.is_plain and last.is_plain
        if rule.wraps_numbers or (is_plain and not rule.stays_plain):
            operands = [self.wrapped(piece) for piece in operands]
            is_plain = False
        text = rule.text.format(*[self._operand(rule, i, piece) for i, piece in enumerate(operands)])
        limit = self.syntax.max_length
        if limit is not None and len(text) > limit:
            raise ExpressionError(
                f"{shortened(text, 40)!r} is longer than the {limit} characters that a formula may have there; "
                "split the expression by subtree(), or choose another format"
            )
        if rule.function in self.syntax.helpers:
            self.helpers.add(rule.function)
        depth = 1 + max(piece.depth for piece in operands)
        piece = Piece(text, rule.precedence, depth, is_known=first.is_known and last.is_known, is_plain=is_plain)
        if depth <= MAX_DEPTH or not self.syntax.assign:
            return piece
        name = next(self.local_names)
        self.statements.append(self.syntax.assign.format(name, piece.text))
        return Piece(name, is_known=piece.is_known, is_plain=piece.is_plain)

    def wrapped(self, piece: Piece) -> Piece:
        if not (piece.is_plain and self.syntax.wrap):
            return piece
        return Piece(self.syntax.wrap.format(piece.text), is_known=True)

    def _operand(self, rule: Template, index: int, piece: Piece) -> str:
        """Return the text of an operand, in parentheses where it would be misread without."""
        least = rule.operands[index]
        if not least:
            return piece.text
        is_leading = index == 0 and rule.text.startswith("{0}")  # no sign before it to confuse
        is_misread = piece.precedence < least or (not is_leading and self.syntax.is_signed(piece))
        return self.syntax.parentheses.format(piece.text) if is_misread else piece.text
