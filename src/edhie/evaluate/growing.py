"""Arrays and forests that grow at their end, in time that does not depend on their length."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from edhie.expr import Forest, SymbolLibrary

FIRST_CAPACITY = 1024


class GrowingArray:
    """A one-dimensional array whose capacity doubles when it is used up."""

    def __init__(self, dtype: DTypeLike) -> None:
        self._buffer = np.empty(FIRST_CAPACITY, dtype)
        self._count = 0

    def append(self, numbers: NDArray[Any]) -> None:
        """Append numbers."""
        needed = self._count + len(numbers)
        if needed > len(self._buffer):
            grown = np.empty(max(needed, 2 * len(self._buffer)), self._buffer.dtype)
            grown[: self._count] = self.array
            self._buffer = grown
        self._buffer[self._count : needed] = numbers
        self._count = needed

    @property
    def array(self) -> NDArray[Any]:
        """The numbers, as a view that later appends do not change."""
        return self._buffer[: self._count]

    def copied(self) -> GrowingArray:
        """Return a copy that shares the buffer: once one of the two grows, the other must not."""
        return copy(self)


class GrowingForest:
    """A forest that grows at its end."""

    def __init__(self, library: SymbolLibrary) -> None:
        self.library = library
        empty = Forest.from_exprs([], library)
        self._tokens, self._offsets = GrowingArray(empty.tokens.dtype), GrowingArray(np.int64)
        self._values, self._value_offsets = GrowingArray(np.float64), GrowingArray(np.int64)
        self._offsets.append(np.zeros(1, np.int64))
        self._value_offsets.append(np.zeros(1, np.int64))

    def __len__(self) -> int:
        return len(self._offsets.array) - 1

    def append(self, forest: Forest) -> None:
        """Append a forest over the same library."""
        self._offsets.append(forest.offsets[1:] + len(self._tokens.array))
        self._value_offsets.append(forest.value_offsets[1:] + len(self._values.array))
        self._tokens.append(forest.tokens)
        self._values.append(forest.values)

    def copied(self) -> GrowingForest:
        """Return a copy that shares the buffers: once one of the two grows, the other must not."""
        twin = copy(self)
        twin._tokens, twin._offsets = self._tokens.copied(), self._offsets.copied()
        twin._values, twin._value_offsets = self._values.copied(), self._value_offsets.copied()
        return twin

    @property
    def forest(self) -> Forest:
        """The whole forest, without a copy."""
        return Forest(self.library, self._tokens.array, self._offsets.array, self._values.array)

    def take(self, places: NDArray[np.int64]) -> Forest:
        """Return the expressions at these places."""
        from edhie.expr.forest_kernels import gather

        arrays = self._tokens.array, self._offsets.array, self._values.array, self._value_offsets.array
        return Forest(self.library, *gather(*arrays, np.ascontiguousarray(places)))
