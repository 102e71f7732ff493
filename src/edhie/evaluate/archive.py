"""`Archive`: every expression that an evaluator has scored, in bounded memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from edhie.arrays import Indices, Numbers
from edhie.errors import ExpressionError
from edhie.expr import Forest, SymbolLibrary

FIRST_CAPACITY = 1024
FORGOTTEN_AT_ONCE = 4  # a quarter of the capacity, so that it happens rarely
FOREST = {"tokens": np.int16, "offsets": np.int64, "values": np.float64, "value_offsets": np.int64}
ROWS = {"errors": np.float64, "complexities": np.float64, "ages": np.int64, "executed_at": np.int64}


class GrowingArray:
    """Rows of numbers that grow at their end; the capacity doubles when it is used up."""

    def __init__(self, dtype: DTypeLike, *shape: int) -> None:
        """Make an empty array; `shape` is that of a row, without one for single numbers."""
        self.buffer = np.empty((FIRST_CAPACITY, *shape), dtype)
        """The rows, and room for more."""
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def reserve(self, more: int) -> bool:
        """Make room for more rows; return whether the buffer is a new one."""
        needed = self._count + more
        if needed <= len(self.buffer):
            return False
        grown = np.empty((max(needed, 2 * len(self.buffer)), *self.buffer.shape[1:]), self.buffer.dtype)
        grown[: self._count] = self.array
        self.buffer = grown
        return True

    def append(self, rows: NDArray[Any], *, at: int | None = None) -> None:
        """Append rows; `at` is where they belong, if an interruption may have left others there."""
        self._count = self._count if at is None else at
        self.reserve(len(rows))
        self.buffer[self._count : self._count + len(rows)] = rows
        self._count += len(rows)

    @property
    def array(self) -> NDArray[Any]:
        """The rows, as a view that later appends do not change."""
        return self.buffer[: self._count]


class Archive:
    """Scored expressions in the order in which they came; the oldest and worst go first when there are too many.

    An expression's place is what `add` returned for it; `forget` renumbers places.
    """

    capacity = 1_000_000
    """Largest number of expressions that are kept."""
    errors: Numbers
    """Error at each place; infinite without finite predictions, and where a bound cut the expression short."""
    complexities: Numbers
    """Complexity at each place."""
    ages: Indices
    """Number of expressions added before that at each place."""
    executed_at: Indices
    """Number of distinct expressions executed when the error at each place became known, itself included."""

    def __init__(self, library: SymbolLibrary) -> None:
        self.library = library
        self.n_seen = 0
        """The number of expressions ever added, those forgotten included."""
        self._clear()

    def _clear(self) -> None:
        self._arrays = {name: GrowingArray(dtype) for name, dtype in (FOREST | ROWS).items()}
        for name in ("offsets", "value_offsets"):
            self._arrays[name].append(np.zeros(1, np.int64))
        self._show_rows()

    def _show_rows(self) -> None:
        self.errors, self.complexities, self.ages, self.executed_at = (self._arrays[name].array for name in ROWS)

    def __len__(self) -> int:
        return len(self.errors)

    def add(self, forest: Forest, errors: Numbers, complexities: NDArray[Any], executed_at: Indices) -> Indices:
        """Keep scored expressions; return their places."""
        first = len(self)
        ages = np.arange(self.n_seen, self.n_seen + len(forest))
        self._append(forest, errors, complexities, ages, executed_at)
        self.n_seen += len(forest)
        return np.arange(first, len(self))

    def _append(self, forest: Forest, *rows: NDArray[Any]) -> None:
        arrays = self._arrays
        arrays["offsets"].append(forest.offsets[1:] + len(arrays["tokens"].array))
        arrays["value_offsets"].append(forest.value_offsets[1:] + len(arrays["values"].array))
        arrays["tokens"].append(forest.tokens)
        arrays["values"].append(forest.values)
        for name, row in zip(ROWS, rows, strict=True):
            arrays[name].append(row)
        self._show_rows()

    @property
    def forest(self) -> Forest:
        """The expressions, with their constants, without a copy."""
        return Forest(self.library, *(self._arrays[name].array for name in ("tokens", "offsets", "values")))

    def take(self, places: Indices) -> Forest:
        """Return the expressions at these places."""
        from edhie.expr.forest_kernels import gather

        tokens, offsets, values, value_offsets = (self._arrays[name].array for name in FOREST)
        return Forest(self.library, *gather(tokens, offsets, values, value_offsets, np.ascontiguousarray(places)))

    def forget(self) -> Indices | None:
        """Drop the worst of the older half if there are too many expressions, but never the best of all.

        Return the new place for each old one, or -1; None if nothing is dropped.
        """
        count = len(self)
        if count <= self.capacity:
            return None
        surplus = max(count - self.capacity, self.capacity // FORGOTTEN_AT_ONCE)
        older = max(count // 2, surplus + 1)
        worst_first = np.argsort(-self.errors[:older], kind="stable")
        keep = np.ones(count, np.bool_)
        keep[worst_first[:surplus]] = False
        kept, rows = self.take(np.flatnonzero(keep)), [self._arrays[name].array[keep] for name in ROWS]
        self._clear()
        self._append(kept, *rows)
        return np.where(keep, np.cumsum(keep) - 1, -1)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the state as arrays, which stay unchanged when more is added."""
        names = ("tokens", "offsets", "values", *ROWS)
        return {**{name: self._arrays[name].array for name in names}, "n_seen": np.array(self.n_seen)}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Restore what `state` returned."""
        forest = Forest.checked(self.library, state["tokens"], state["offsets"], state["values"])
        rows = [state[name] for name in ROWS]
        if {len(row) for row in rows} != {len(forest)}:
            raise ExpressionError(f"a state with {len(forest)} expressions and other numbers of errors is damaged")
        self._clear()
        self._append(forest, *rows)
        self.n_seen = int(state["n_seen"])

    def __repr__(self) -> str:
        return f"Archive({len(self)} of {self.n_seen} expressions)"
