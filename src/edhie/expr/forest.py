"""`Forest`: many expressions as flat arrays, for everything that has to be fast."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from edhie.arrays import Indices, Numbers
from edhie.errors import EdhieError, ExpressionError, shortened
from edhie.expr.expression import Expr
from edhie.expr.library import SymbolLibrary
from edhie.expr.numerals import is_numeral, numeral
from edhie.expr.symbols import NUMBER

TOKEN_TYPE = np.int16


@dataclass(frozen=True, eq=False)
class Forest:
    """Expressions over one library: prefix tokens end to end, and the offset of each.

    `values` holds, in token order, one number for every fitted constant (NaN while it is not fitted) and every number.
    """

    library: SymbolLibrary
    tokens: NDArray[np.int16]
    offsets: Indices
    values: Numbers

    # -- from and to expressions ------------------------------------------------------

    @classmethod
    def from_exprs(cls, exprs: Iterable[Expr], library: SymbolLibrary | None = None) -> Forest:
        """Return a forest of these expressions, over `library` or the first one's."""
        listed = list(exprs)
        if library is None:
            if not listed:
                raise ExpressionError("an empty forest needs a library: Forest.from_exprs([], library)")
            library = listed[0].library
        tokens: list[int] = []
        values: list[float] = []
        offsets = [0]
        ids = library.ids
        for expr in listed:
            constants = iter(expr.constants)
            for token in (expr if expr.library == library else expr.cast(library)).tokens:
                found = ids.get(token)
                if found is None:
                    found = ids[NUMBER.name]
                    values.append(float(token))
                elif token == library.constant:
                    value = next(constants)
                    values.append(np.nan if value is None else value)
                tokens.append(found)
            offsets.append(len(tokens))
        return cls(
            library,
            np.array(tokens, dtype=TOKEN_TYPE),
            np.array(offsets, dtype=np.int64),
            np.array(values, dtype=np.float64),
        )

    @classmethod
    def checked(
        cls, library: SymbolLibrary, tokens: NDArray[Any], offsets: NDArray[Any], values: NDArray[Any] | None = None
    ) -> Forest:
        """Return a forest from arrays of unknown origin; anything invalid raises."""
        from edhie.expr import forest_kernels as kernels

        tokens, offsets = row_of_integers(tokens, "tokens"), row_of_integers(offsets, "offsets")
        if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(tokens) or np.any(np.diff(offsets) < 0):
            raise ExpressionError(f"offsets must rise from 0 to the number of tokens, {len(tokens)}")
        outside = np.flatnonzero((tokens < 0) | (tokens >= len(library)))
        if len(outside):
            raise ExpressionError(
                f"token {outside[0]} is {tokens[outside[0]]}; the library has symbols 0 to {len(library) - 1}"
            )
        tokens = tokens.astype(TOKEN_TYPE)
        broken = kernels.first_broken(tokens, offsets, library.arities)
        if broken >= 0:
            names = " ".join(library.names[token] for token in tokens[offsets[broken] : offsets[broken + 1]])
            raise ExpressionError(f"expression {broken} of the forest is not one whole tree: {shortened(names)!r}")
        return cls(library, tokens, offsets, _checked_values(library, tokens, values))

    def __reduce__(self) -> tuple[Any, ...]:
        return Forest, (self.library, self.tokens, self.offsets, self.values)  # without what is cached

    def to_exprs(self) -> list[Expr]:
        """Every expression as an `Expr`."""
        return list(self)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[Expr]:
        return (self._expr(k) for k in range(len(self)))

    @overload
    def __getitem__(self, index: int) -> Expr: ...

    @overload
    def __getitem__(self, index: slice | NDArray[Any] | Sequence[int]) -> Forest: ...

    def __getitem__(self, index: int | slice | NDArray[Any] | Sequence[int]) -> Expr | Forest:
        """Return one expression, or the forest of a slice, of indices or of a mask."""
        if isinstance(index, (int, np.integer)):
            if not -len(self) <= index < len(self):
                raise IndexError(f"no expression {index}: the forest has {len(self)}")
            return self._expr(int(index) % len(self))
        return self.take(index)

    def take(self, chosen: slice | NDArray[Any] | Sequence[int]) -> Forest:
        """Return the forest of the expressions at these indices, in that order, or of a mask."""
        from edhie.expr import forest_kernels as kernels

        indices = np.arange(len(self))[chosen]  # as NumPy does, with its errors: compiled loops do not look
        if indices.ndim != 1:
            raise IndexError(f"expressions are chosen by one row of indices, not by an array of shape {indices.shape}")
        parts = kernels.gather(
            self.tokens, self.offsets, self.values, self.value_offsets, np.ascontiguousarray(indices)
        )
        return Forest(self.library, *parts)

    @staticmethod
    def concatenate(forests: Sequence[Forest]) -> Forest:
        """Join forests over the same library."""
        if not forests:
            raise ExpressionError("nothing to concatenate: give at least one forest")
        library = forests[0].library
        for forest in forests[1:]:
            if forest.library != library:
                raise ExpressionError(
                    f"forests over different libraries cannot be joined: ({library}) and ({forest.library}); "
                    "cast() one of them first"
                )
        starts = np.cumsum([0] + [len(forest.tokens) for forest in forests])
        shifted = [forest.offsets[1:] + start for forest, start in zip(forests, starts, strict=False)]
        return Forest(
            library,
            np.concatenate([forest.tokens for forest in forests]),
            np.concatenate([np.zeros(1, np.int64), *shifted]),
            np.concatenate([forest.values for forest in forests]),
        )

    def cast(self, library: SymbolLibrary) -> Forest:
        """Return the same expressions over another library; an error names a symbol that it lacks."""
        own = self.library
        if library == own:
            return self
        if not own.has_numbers or not any(is_numeral(name) for name in library.names if name not in own.ids):
            tokens = own.ids_in(library)[self.tokens]
            if tokens.min(initial=0) >= 0:
                return Forest(library, tokens, self.offsets, self.values)
        # expression by expression: numbers may be literals there, and errors name the expression
        return Forest.from_exprs((expr.cast(library) for expr in self), library)

    def with_values(self, values: Numbers) -> Forest:
        """Return the same trees with other values."""
        return Forest(self.library, self.tokens, self.offsets, values)

    def _expr(self, k: int) -> Expr:
        names = self.library.names
        first = self.value_offsets[k]
        tokens, constants = [], []
        for token in self.tokens[self.offsets[k] : self.offsets[k + 1]].tolist():
            if not self.library.has_slot[token]:
                tokens.append(names[token])
                continue
            value = float(self.values[first])
            first += 1
            if names[token] == NUMBER.name:
                tokens.append(numeral(value))
            else:
                tokens.append(names[token])
                constants.append(None if np.isnan(value) else value)
        return Expr.trusted(self.library, tuple(tokens), tuple(constants))

    # -- duplicates -------------------------------------------------------------------

    def grouped(self) -> tuple[Indices, Indices]:
        """Return the index of the first of each distinct expression, and each one's place among those."""
        from edhie.expr import forest_kernels as kernels

        # every NaN counts as the same unfitted constant, and 0 as -0
        values = np.where(np.isnan(self.values), np.nan, self.values + 0.0)
        return kernels.group(self.tokens, self.offsets, values.view(np.int64), self.value_offsets)

    def unique(self) -> Forest:
        """Return the distinct expressions, in the order of their first appearance."""
        return self.take(self.grouped()[0])

    # -- shape ------------------------------------------------------------------------

    @cached_property
    def sizes(self) -> Indices:
        """Number of nodes of each expression."""
        return np.diff(self.offsets)

    @cached_property
    def value_offsets(self) -> Indices:
        """Offset of each expression's values in `values`."""
        if len(self.values) == 0:
            return np.zeros(len(self.offsets), np.int64)
        return np.searchsorted(np.flatnonzero(self.library.has_slot[self.tokens]), self.offsets)

    @cached_property
    def value_owners(self) -> Indices:
        """The expression that each value belongs to."""
        return np.repeat(np.arange(len(self)), np.diff(self.value_offsets))

    @cached_property
    def _shape(self) -> tuple[Indices, Indices, NDArray[np.int32], NDArray[np.int32]]:
        from edhie.expr import forest_kernels as kernels

        return kernels.children(self.tokens, self.offsets, self.library.arities)

    @property
    def left(self) -> Indices:
        """Index of each node's first operand, -1 for leaves."""
        return self._shape[0]

    @property
    def right(self) -> Indices:
        """Index of each node's second operand, -1 where it has none."""
        return self._shape[1]

    @property
    def subtree_sizes(self) -> NDArray[np.int32]:
        """Size of each node's subtree, itself included."""
        return self._shape[2]

    @property
    def subtree_heights(self) -> NDArray[np.int32]:
        """Height of each node's subtree."""
        return self._shape[3]

    @property
    def heights(self) -> NDArray[np.int32]:
        """Height of each expression."""
        return self.subtree_heights[self.offsets[:-1]]

    @cached_property
    def depths(self) -> NDArray[np.int32]:
        """Depth of each node; 1 for a root."""
        nodes = np.arange(len(self.tokens))
        ended = np.cumsum(np.bincount(nodes + self.subtree_sizes, minlength=len(nodes) + 1))  # subtrees before a node
        return (nodes + 1 - ended[:-1]).astype(np.int32)

    @cached_property
    def owners(self) -> Indices:
        """The expression that each node belongs to."""
        return np.repeat(np.arange(len(self)), self.sizes)

    @cached_property
    def postorder(self) -> Indices:
        """Node indices, expression by expression, children before their parent."""
        nodes = np.arange(len(self.tokens))
        order = np.empty_like(nodes)
        order[nodes + self.subtree_sizes - self.depths] = nodes  # behind its descendants, before its ancestors
        return order

    def __repr__(self) -> str:
        shown = ", ".join(str(self._expr(k)) for k in range(min(3, len(self))))
        return f"Forest({len(self)} expressions, {len(self.tokens)} nodes: {shown}{', …' * (len(self) > 3)})"


def row_of_integers(array: NDArray[Any], what: str, error: type[EdhieError] = ExpressionError) -> Indices:
    """Return an array as one row of integers, or raise an error that names it."""
    given = np.asarray(array)
    if given.ndim != 1 or not (given.dtype.kind in "iu" or given.size == 0):
        raise error(f"{what} must be one row of integers, not {given.dtype} of shape {given.shape}")
    return np.ascontiguousarray(given, dtype=np.int64)


def _checked_values(library: SymbolLibrary, tokens: NDArray[np.int16], values: NDArray[Any] | None) -> Numbers:
    """Return the values that the tokens need: finite, or NaN for a constant that is not fitted."""
    carriers = tokens[library.has_slot[tokens]]
    checked = np.full(len(carriers), np.nan) if values is None else np.ascontiguousarray(values, dtype=np.float64)
    if checked.shape != carriers.shape:
        raise ExpressionError(f"the forest has {len(carriers)} constants and numbers, {checked.size} values were given")
    is_number = carriers == library.ids.get(NUMBER.name, -1)
    bad = np.flatnonzero(np.isinf(checked) | (np.isnan(checked) & is_number))
    if len(bad):
        raise ExpressionError(f"value {bad[0]} of the forest is {checked[bad[0]]}; it must be finite")
    return checked
