"""Keys of expressions, 128 bits of their tokens and values, and `KeyTable`: rows found by keys, many at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from edhie.arrays import Indices
from edhie.expr import Forest

Keys = NDArray[np.uint64]
FIRST_ROOM = 1024
SLOTS_PER_ROW = 4  # the table is at most a quarter full, so that a key is found within a step or two


def key_pairs(forest: Forest) -> NDArray[np.uint64]:
    """Return the keys of expressions, of shape (expressions, 2); different ones agree with a chance of 2^-128.

    Expressions differ by their tokens or values. Constants without a value are all the same, and 0 is -0, as in
    `Forest.grouped`.
    """
    from edhie.expr.forest_kernels import hashes

    bits = np.where(np.isnan(forest.values), np.nan, forest.values + 0.0).view(np.int64)
    other_tokens, other_bits = ~forest.tokens, bits ^ 0x5DEECE66D
    keys = np.empty((len(forest), 2), np.uint64)
    keys[:, 0] = hashes(forest.tokens, forest.offsets, bits, forest.value_offsets)
    keys[:, 1] = hashes(other_tokens, forest.offsets, other_bits, forest.value_offsets)
    return keys


class KeyTable:
    """Rows by key, numbered in the order in which they came; columns of numbers go with them.

    A row counts once all of it is written, so that an interruption leaves no incomplete row.
    """

    def __init__(self, **defaults: float) -> None:
        """Make an empty table with these columns, and the values that rows have by default."""
        self._defaults = defaults
        self._count = 0
        self._keys: Keys = np.empty((0, 2), np.uint64)
        self._columns: dict[str, NDArray[Any]] = {
            name: np.empty(0, np.int64 if isinstance(default, int) else np.float64)
            for name, default in defaults.items()
        }
        self._reserve(FIRST_ROOM)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, column: str) -> NDArray[Any]:
        """Return a column, as a view."""
        return self._columns[column][: self._count]

    @property
    def keys(self) -> Keys:
        """Key of each row, two numbers of 64 bits, as a view."""
        return self._keys[: self._count]

    def find(self, keys: Keys) -> Indices:
        """Return the rows of keys, -1 where there is none."""
        from edhie.evaluate import hash_table_kernels as kernels

        return kernels.find(keys, self._keys, self._count, self._slots)

    def add(self, keys: Keys, **values: NDArray[Any]) -> Indices:
        """Return the rows of keys; those without a row get one, with these values in its columns."""
        from edhie.evaluate import hash_table_kernels as kernels

        if self._count + len(keys) > len(self._keys):
            self._reserve(2 * (self._count + len(keys)))
        rows, new = kernels.insert(keys, self._keys, self._count, self._slots)
        end = self._count + len(new)
        for name, default in self._defaults.items():
            self._columns[name][self._count : end] = values[name][new] if name in values else default
        self._count = end
        return rows

    def _reserve(self, rows: int) -> None:
        from edhie.evaluate import hash_table_kernels as kernels

        keys = np.empty((rows, 2), np.uint64)
        keys[: self._count] = self.keys
        columns = {name: np.empty(rows, column.dtype) for name, column in self._columns.items()}
        for name, column in columns.items():
            column[: self._count] = self[name]
        self._keys, self._columns = keys, columns
        self._slots = kernels.index(self._keys, self._count, SLOTS_PER_ROW * len(self._keys))

    def chosen(self, rows: Indices, **values: NDArray[Any]) -> KeyTable:
        """Return a new table with these rows, and with `values` in place of the rows' own."""
        table = KeyTable(**self._defaults)
        table.add(self.keys[rows], **({name: self[name][rows] for name in self._defaults} | values))
        return table
