"""`Expr`: one immutable expression, for people and interfaces."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Any, TypeVar

from edhie.errors import ExpressionError, SymbolError, shortened, suggestion
from edhie.expr.library import SymbolLibrary
from edhie.expr.numerals import numeral
from edhie.expr.symbols import NUMBER, Symbol

if TYPE_CHECKING:
    import sympy
    from numpy.typing import ArrayLike, NDArray

T = TypeVar("T")


class Expr:
    """A tree of symbols, kept as tokens in prefix order, with the values of its fitted constants.

    A tree of height four and its three notations, in the manner of the paper's figure:

    >>> from edhie.expr import parse, to_infix, to_postfix, to_prefix
    >>> e = parse("c*cos(x) + x^2/c", variables=["x"])
    >>> e.height
    4
    >>> to_infix(e)
    'c*cos(x) + x^2/c'
    >>> to_prefix(e)
    '+ * c cos x / ^2 x c'
    >>> to_postfix(e)
    'c x cos * x ^2 c / +'
    """

    __slots__ = ("__dict__", "constants", "library", "tokens")
    library: SymbolLibrary
    """Its symbols."""
    tokens: tuple[str, ...]
    """Names of its symbols in prefix order; a number is its own text."""
    constants: tuple[float | None, ...]
    """Values of its fitted constants in prefix order, None where not fitted."""

    def __init__(
        self, library: SymbolLibrary, tokens: Sequence[str], constants: Sequence[float | None] | None = None
    ) -> None:
        """Check that `tokens` form one whole tree over `library`; `constants` are values for its `c`s, in order."""
        names = _checked_tokens(library, tuple(tokens))
        slots = sum(name == library.constant for name in names)
        values = (None,) * slots if constants is None else _checked_values(constants)
        if len(values) != slots:
            raise ExpressionError(f"the expression has {slots} fitted constants, {len(values)} values were given")
        self._set(library, names, values)

    def _set(self, library: SymbolLibrary, tokens: tuple[str, ...], constants: tuple[float | None, ...]) -> None:
        object.__setattr__(self, "library", library)
        object.__setattr__(self, "tokens", tokens)
        object.__setattr__(self, "constants", constants)

    @classmethod
    def trusted(
        cls, library: SymbolLibrary, tokens: Sequence[str], constants: tuple[float | None, ...] | None = None
    ) -> Expr:
        """Return an expression of parts that are known to be valid; without `constants` they are not fitted."""
        new = cls.__new__(cls)
        unfitted = (None,) * tokens.count(library.constant or "") if constants is None else constants
        new._set(library, tuple(tokens), unfitted)
        return new

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"an Expr cannot be changed, so {name!r} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"an Expr cannot be changed, so {name!r} cannot be deleted")

    def __reduce__(self) -> tuple[Any, ...]:
        return (Expr.trusted, (self.library, self.tokens, self.constants))

    # -- parts ------------------------------------------------------------------------

    @property
    def symbol(self) -> Symbol:
        """The symbol at the root."""
        return self.library[self.tokens[0]]

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self.tokens)

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """End of each node's subtree, in prefix order."""
        ends = [0] * self.size
        open_ends: list[int] = []  # ends of finished subtrees, the leftmost on top
        for i in range(self.size - 1, -1, -1):
            end = i + 1
            for _ in range(self.library[self.tokens[i]].arity):
                end = open_ends.pop()
            ends[i] = end
            open_ends.append(end)
        return tuple(ends)

    @cached_property
    def height(self) -> int:
        """The number of nodes on the longest path from the root to a leaf."""
        return max(depth for _, depth, _ in self.walk())

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The variables that occur, in the library's order."""
        present = set(self.tokens)
        return tuple(name for name in self.library.variables if name in present)

    @cached_property
    def values(self) -> tuple[float | None, ...]:
        """Value of each number, literal and fitted constant; None for all other tokens."""
        fitted, name = iter(self.constants), self.library.constant
        ids, literals = self.library.ids, self.library.literals
        return tuple(
            next(fitted) if token == name else literals.get(token) if token in ids else float(token)
            for token in self.tokens
        )

    @property
    def children(self) -> tuple[Expr, ...]:
        """The operands of the root, left to right."""
        return tuple(self.subtree(i) for i in self.child_positions(0))

    def child_positions(self, position: int) -> tuple[int, ...]:
        """Return the positions of the operands of the node at `position`."""
        positions, at = [], position + 1
        for _ in range(self.library[self.tokens[position]].arity):
            positions.append(at)
            at = self.ends[at]
        return tuple(positions)

    def walk(self) -> Iterator[tuple[int, int, Symbol]]:
        """Yield position, depth (the root's is 1) and symbol of every node, in prefix order."""
        waiting = [1]
        for i, token in enumerate(self.tokens):
            depth = waiting.pop()
            symbol = self.library[token]
            waiting.extend([depth + 1] * symbol.arity)
            yield i, depth, symbol

    def fold(self, leaf: Callable[[Symbol, str, float | None], T], operator: Callable[[Symbol, list[T]], T]) -> T:
        """Compute a result from the leaves up, from right to left.

        `leaf` gets the symbol, the text and the value (as in `values`) of a leaf; `operator` gets a symbol and the
        results of its operands.
        """
        stack = list[T]()
        ids, symbols = self.library.ids, self.library.symbols
        for token, value in zip(reversed(self.tokens), reversed(self.values), strict=True):
            symbol = symbols[ids[token]] if token in ids else NUMBER
            if symbol.arity:
                stack.append(operator(symbol, [stack.pop() for _ in range(symbol.arity)]))
            else:
                stack.append(leaf(symbol, token, value))
        return stack.pop()

    # -- other expressions ------------------------------------------------------------

    def subtree(self, position: int) -> Expr:
        """Return the subtree at `position` (in prefix order)."""
        start, end, first, last = self._bounds(position)
        return Expr.trusted(self.library, self.tokens[start:end], self.constants[first:last])

    def replace(self, position: int, other: Expr) -> Expr:
        """Return this expression with the subtree at `position` replaced by `other`."""
        if other.library != self.library:
            other = other.cast(self.library)
        start, end, first, last = self._bounds(position)
        return Expr.trusted(
            self.library,
            self.tokens[:start] + other.tokens + self.tokens[end:],
            self.constants[:first] + other.constants + self.constants[last:],
        )

    def substitute(self, values: Mapping[str, float | Expr]) -> Expr:
        """Return this expression with variables (or literals by name) replaced by numbers or expressions.

        The library is extended where it does not allow numbers.
        """
        leaves = [symbol.name for symbol in self.library.symbols if symbol.kind in ("variable", "literal", "constant")]
        for name in values:
            if name not in leaves:
                hint = suggestion(name, leaves) or f"; there are {shortened(', '.join(leaves))}"
                raise SymbolError(f"cannot substitute {name!r}: not a leaf here{hint}")
        library = self.library
        if any(not isinstance(value, Expr) for value in values.values()):
            library = library.with_numbers()
        new = {
            name: value.cast(library) if isinstance(value, Expr) else Expr(library, [numeral(value)])
            for name, value in values.items()
        }
        tokens: list[str] = []
        constants: list[float | None] = []
        fitted = iter(self.constants)
        for token in self.tokens:
            own = (next(fitted),) if token == self.library.constant else ()
            tokens += new[token].tokens if token in new else (token,)
            constants += new[token].constants if token in new else own
        return Expr.trusted(library, tuple(tokens), tuple(constants))

    def with_constants(self, values: Sequence[float | None]) -> Expr:
        """Return the same tree with these values for its fitted constants."""
        return Expr(self.library, self.tokens, values)

    def free(self) -> Expr:
        """Return the same tree with its constants unfitted."""
        return Expr.trusted(self.library, self.tokens)

    def numbers_to_constants(self) -> Expr:
        """Return the same tree with every number and literal as a constant to be fitted that keeps its value."""
        name = self.library.constant
        if name is None:
            raise SymbolError(f"the library ({self.library}) has no fitted constant to turn numbers into")
        is_number = [symbol.kind not in ("operator", "variable") for _, _, symbol in self.walk()]
        tokens = (name if found else token for token, found in zip(self.tokens, is_number, strict=True))
        return Expr.trusted(self.library, tuple(tokens), tuple(compress(self.values, is_number)))

    def cast(self, library: SymbolLibrary) -> Expr:
        """Return the same tree over another library; an error names the symbol that it lacks."""
        if library == self.library:
            return self
        names: dict[str, str] = {}
        for token in dict.fromkeys(self.tokens):
            ours = self.library[token]
            name = library.constant if ours.kind == "constant" and library.constant else token
            theirs = library[name]
            if theirs.role != ours.role:
                raise SymbolError(
                    f"{token!r} in {shortened(str(self))!r} is {ours.kind}, with {ours.arity} operands; in the other "
                    f"library ({library}) it is {theirs.kind}, with {theirs.arity}; rename one of them"
                )
            names[token] = name
        return Expr.trusted(library, tuple(names[token] for token in self.tokens), self.constants)

    # -- as a value -------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Expr):
            return NotImplemented
        if self.tokens != other.tokens or self.constants != other.constants:
            return False
        # over another library the same name may mean another thing: a variable e, and the number e
        return self.library is other.library or all(
            self.library[token].role == other.library[token].role for token in set(self.tokens)
        )

    def __hash__(self) -> int:
        return hash((self.tokens, self.constants))

    def __str__(self) -> str:
        return format(self)

    def __format__(self, spec: str) -> str:
        """`f"{expr:.3g}"` rounds fitted constants and numbers that need it."""
        from edhie.expr.notation import to_infix

        return to_infix(self, number_format=spec)

    def __repr__(self) -> str:
        return f"Expr({str(self)!r})"

    def __call__(self, /, **columns: ArrayLike) -> NDArray[Any]:
        """Return its values by NumPy, for columns given by name: `e(x0=[1, 2, 3])`."""
        from edhie.expr.interpret import interpret

        return interpret(self, columns)

    def sympy(self) -> sympy.Expr:
        """Return this expression in SymPy."""
        from edhie.expr.sympy_bridge import to_sympy

        return to_sympy(self)

    def latex(self) -> str:
        """Return this expression in LaTeX."""
        from edhie.expr.notation import to_latex

        return to_latex(self)

    # -- helpers ----------------------------------------------------------------------

    def _bounds(self, position: int) -> tuple[int, int, int, int]:
        """Return where a subtree starts and ends among the tokens, and among the fitted constants."""
        if not -self.size <= position < self.size:
            raise IndexError(f"no node {position}: the expression has {self.size}")
        start = position % self.size
        end, name = self.ends[start], self.library.constant or ""
        return start, end, self.tokens[:start].count(name), self.tokens[:end].count(name)


def _checked_tokens(library: SymbolLibrary, tokens: tuple[str, ...]) -> tuple[str, ...]:
    """Return the tokens of one whole tree, each in its one spelling."""
    names, missing = [], 1
    shown = repr(shortened(" ".join(tokens)))
    for i, token in enumerate(tokens):
        try:
            symbol = library[token]
        except SymbolError as error:
            raise SymbolError(f"{error}; it is token {i} of {shown}") from None
        if token == NUMBER.name:
            raise ExpressionError("the token '#' stands for any number: write the number itself")
        names.append(numeral(float(token)) if symbol.kind == "number" else symbol.name)
        if missing == 0:
            raise ExpressionError(f"the tokens {shown} are more than one expression: the first ends before token {i}")
        missing += symbol.arity - 1
    if missing:
        raise ExpressionError(f"the tokens {shown} lack {missing} operand{'s' * (missing > 1)} at the end")
    return tuple(names)


def _checked_values(values: Iterable[float | None]) -> tuple[float | None, ...]:
    checked = tuple(None if value is None else float(value) for value in values)
    for i, value in enumerate(checked):
        if value is not None and not math.isfinite(value):
            raise ExpressionError(f"fitted constant {i} cannot have the value {value}; give a finite one, or None")
    return checked
