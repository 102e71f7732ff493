"""From a tree to the text of a formula in some language, by a table of how that language spells the operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count

from edhie.errors import ExpressionError, shortened
from edhie.expr.expression import Expr
from edhie.expr.symbols import Precedence, Symbol

MAX_DEPTH = 40  # Python allows 200 parentheses inside one another, some C compilers 256: deeper parts get a name
FREELY = (0, 0)


@dataclass(frozen=True)
class Spelling:
    """How a language writes one operator."""

    template: str
    """Text with {0} and {1} for the operands."""
    precedence: int = Precedence.ATOM
    """How tightly the whole binds."""
    least: tuple[int, ...] = FREELY
    """How tightly each operand must bind to stand without parentheses; 0 where nothing can be misread."""
    helper: str = ""
    """The function it calls that the language does not have."""
    wraps_all: bool = False
    """Whether a plain number as an operand is always wrapped, not only where all of the operands are."""
    stays_plain: bool = False
    """Whether it can do with plain numbers alone, and gives one."""


def infix(sign: str, precedence: Precedence, *, stays_plain: bool = False) -> Spelling:
    """A left-associative operator between its operands: a right operand of equal rank keeps its parentheses."""
    return Spelling(f"{{0}}{sign}{{1}}", precedence, (precedence, precedence + 1), stays_plain=stays_plain)


def call(function: str, *, arity: int = 1, wraps_all: bool = False) -> Spelling:
    """A function of the language."""
    return Spelling(f"{function}({', '.join(f'{{{i}}}' for i in range(arity))})", wraps_all=wraps_all)


def helped(helper: str, *, arity: int = 1) -> Spelling:
    """A function that is written out above the formula."""
    return Spelling(f"{helper}({', '.join(f'{{{i}}}' for i in range(arity))})", helper=helper)


@dataclass(frozen=True)
class Dialect:
    """All that the writer knows of a language."""

    operators: Mapping[str, Spelling]
    """By the operator's name in edhie; what follows goes before it."""
    literals: Mapping[str, str]
    """pi and e, where it has names for them."""
    number: Callable[[float], str] = repr
    of_variable: Mapping[str, Spelling] = field(default_factory=dict)
    """Where the operand is a variable, which may be written more than once."""
    by_number: Mapping[str, Spelling] = field(default_factory=dict)
    """Where the last operand is a number other than 0."""
    of_known: Mapping[str, Spelling] = field(default_factory=dict)
    """Where no operand holds a variable."""
    wrap: str = "{0}"
    """Makes a plain number what the language's functions take: an array, a tensor, a symbol."""
    has_plain_literals: bool = True
    """Whether pi and e are plain numbers there."""
    assign: str = ""
    """A statement that gives {0} the value {1}; without it the formula is one text, however deep."""
    max_length: int | None = None
    helpers: Mapping[str, str] = field(default_factory=dict)
    """The text of each function that spellings call for."""


@dataclass(frozen=True)
class Written:
    """A formula: the functions it calls, the statements before it, and the formula itself."""

    helpers: tuple[str, ...]
    statements: tuple[str, ...]
    value: str


@dataclass(frozen=True)
class Piece:
    """The text of a subtree."""

    text: str
    precedence: int = Precedence.ATOM
    depth: int = 1
    symbol: Symbol | None = None
    """What it is, where it is a leaf."""
    number: float | None = None
    """Its value, where it is a number."""
    is_plain: bool = False
    """Whether it is what the language has for a number, and not an array, a tensor, a symbol."""
    is_known: bool = False
    """Whether it holds no variable."""

    def within(self, least: int, *, leads: bool) -> str:
        """The text as an operand; a sign after an operator (x - -3) is misread or no C at all."""
        is_misread = self.precedence < least or (least and not leads and self.text.startswith("-"))
        return f"({self.text})" if is_misread else self.text


def write(expr: Expr, dialect: Dialect, names: Mapping[str, str], constants: tuple[str, ...] = ()) -> Written:
    """The formula in a dialect, with variables by `names`; `constants` name those without values."""
    writer = _Writer(dialect, set(names.values()) | set(constants))
    values = list(expr.constants)
    free = list(constants)
    stack: list[Piece] = []
    for token in reversed(expr.tokens):
        symbol = expr.library[token]
        if symbol.arity:
            stack.append(writer.operator(symbol.name, [stack.pop() for _ in range(symbol.arity)]))
        elif symbol.kind == "variable":
            stack.append(Piece(names[token], symbol=symbol))
        elif symbol.kind == "constant":
            value = values.pop()
            stack.append(Piece(free.pop(), symbol=symbol) if value is None else writer.number(value))
        else:
            value = symbol.value if symbol.kind == "literal" else float(token)
            stack.append(writer.number(value, dialect.literals.get(token, "")))
    formula = writer.wrapped(stack.pop()).text
    helpers = tuple(dialect.helpers[name] for name in sorted(writer.helpers))
    return Written(helpers, tuple(writer.statements), formula)


class _Writer:
    """Writes pieces from the leaves up, and notes what must stand before the formula."""

    def __init__(self, dialect: Dialect, taken: set[str]) -> None:
        self.dialect = dialect
        self.helpers: set[str] = set()
        self.statements: list[str] = []
        self.fresh = (name for name in (f"t{i}" for i in count()) if name not in taken)

    def number(self, value: float, spelled: str = "") -> Piece:
        text = spelled or self.dialect.number(value)
        precedence = Precedence.NEGATION if text.startswith("-") else Precedence.ATOM
        is_plain = not spelled or self.dialect.has_plain_literals
        return Piece(text, precedence, number=value, is_plain=is_plain, is_known=True)

    def operator(self, name: str, operands: list[Piece]) -> Piece:
        spelling = self._spelling(name, operands)
        if spelling.helper:
            self.helpers.add(spelling.helper)
        is_plain = all(piece.is_plain for piece in operands)
        if spelling.wraps_all or (is_plain and not spelling.stays_plain):
            operands = [self.wrapped(piece) for piece in operands]
            is_plain = False
        texts = [
            piece.within(least, leads=spelling.template.startswith(f"{{{i}}}"))
            for i, (piece, least) in enumerate(zip(operands, spelling.least, strict=False))
        ]
        text, depth = spelling.template.format(*texts), 1 + max(piece.depth for piece in operands)
        self.check_length(text)
        is_known = all(piece.is_known for piece in operands)
        if depth > MAX_DEPTH and self.dialect.assign:
            local = next(self.fresh)
            self.statements.append(self.dialect.assign.format(local, text))
            return Piece(local, is_plain=is_plain, is_known=is_known)
        return Piece(text, spelling.precedence, depth, is_plain=is_plain, is_known=is_known)

    def wrapped(self, piece: Piece) -> Piece:
        if not piece.is_plain or self.dialect.wrap == "{0}":
            return piece
        return Piece(self.dialect.wrap.format(piece.text), is_known=True)

    def check_length(self, text: str) -> None:
        limit = self.dialect.max_length
        if limit is not None and len(text) > limit:
            raise ExpressionError(
                f"{shortened(text, 40)!r} is longer than the {limit} characters that a formula may have there; "
                "split the expression by subtree(), or choose another format"
            )

    def _spelling(self, name: str, operands: list[Piece]) -> Spelling:
        dialect, last = self.dialect, operands[-1]
        is_variable = last.symbol is not None and last.symbol.kind == "variable"
        special = (
            (dialect.of_known, all(piece.is_known for piece in operands)),
            (dialect.by_number, last.number is not None and last.number != 0),
            (dialect.of_variable, is_variable),
        )
        tables = [table for table, applies in special if applies and name in table]
        return tables[0][name] if tables else dialect.operators[name]


def check_computable(expr: Expr, language: str) -> None:
    """Raise where a formula cannot be computed elsewhere: operators of the user's, constants without values."""
    check_built_in(expr, language)
    missing = sum(value is None for value in expr.constants)
    if missing:
        plural = "s have no values" if missing > 1 else " has no value"
        raise ExpressionError(
            f"{missing} constant{plural} in {shortened(str(expr))!r}: fit them, or give values by with_constants(), "
            f"before writing it as {language}"
        )


def check_built_in(expr: Expr, language: str) -> None:
    """Raise where an operator is a Python function of the user's."""
    custom = [token for token in dict.fromkeys(expr.tokens) if expr.library[token].is_custom]
    if custom:
        raise ExpressionError(
            f"the operator {custom[0]!r} in {shortened(str(expr))!r} is a Python function of your own, which cannot be "
            f"written as {language}; write it out in built-in operators, or export to 'latex' or 'json'"
        )
