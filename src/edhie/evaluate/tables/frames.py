"""`FrameTable`: files that are read as DataFrames, batch by batch of rows; see `columnar` and `excel`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from numbers import Number
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from edhie.errors import DataError
from edhie.evaluate.numbers import numbers_of, rows_named
from edhie.evaluate.tables.table import WHAT_NEXT, Missing, Numbers, Source, Table

if TYPE_CHECKING:
    from pandas import DataFrame

SAMPLE = 2000  # rows that tell whether a column holds text

Frames = Callable[[Sequence[str]], "Iterator[DataFrame]"]
"""From names of columns to DataFrames that have these, and maybe others, batch by batch of rows."""


class FrameTable(Table):
    """A file that is read as DataFrames."""

    is_sheet = False

    def __init__(
        self,
        source: Source,
        names: tuple[str, ...],
        frames: Frames,
        missing: Sequence[float | str],
        *,
        n_rows: int | None = None,
        arrow: Callable[[], Iterator[Any]] | None = None,
    ) -> None:
        self.path = source.path
        self.names = names
        self.n_rows = n_rows
        self.frames = frames
        """The columns of some names, batch by batch."""
        self.arrow = arrow
        """All columns as batches of Arrow, with their own types, of the same rows; None if the file has no types."""
        self.lines: Sequence[int] | None = None
        """The row of a sheet that each row of data is in; None for files without such rows."""
        self._missing = Missing(missing)

    def texts(self) -> Iterator[list[str]]:
        """Yield the rows as text; empty where a value is missing."""
        for frame in self.frames(self.names):
            missing = frame.isna().to_numpy()
            for row, gaps in zip(frame.itertuples(index=False, name=None), missing, strict=True):
                yield ["" if is_gap else str(value) for value, is_gap in zip(row, gaps, strict=True)]

    def line_of(self, row: int) -> int:
        """Return the row of the sheet, or the row of data of a file without one."""
        return row + 1 if self.lines is None else self.lines[row]

    def written_step(self, name: str) -> float | None:
        """Return None: the file has numbers and no texts."""
        return None

    def _is_text(self, names: Sequence[str]) -> list[bool]:
        first = next(self.frames(names), None)
        if first is None:
            return [False] * len(names)
        samples = (self._sample(first[name].dropna().head(SAMPLE).tolist()) for name in names)
        return [2 * sum(not isinstance(cell, Number | np.bool_) for cell in cells) > len(cells) for cells in samples]

    def _sample(self, cells: list[Any]) -> list[Any]:
        return [cell for cell in cells if not (isinstance(cell, str) and self._missing.matches(cell))]

    def _read(self, chosen: Sequence[str], *, with_gaps: bool) -> Iterator[Numbers]:
        first_row, frames = 0, self.frames(chosen)
        for frame in frames:
            found = np.empty((len(frame), len(chosen)))
            for k, name in enumerate(chosen):
                column = self._column(frame, name, first_row)
                bad = np.flatnonzero(~np.isfinite(column))
                if len(bad) and not with_gaps:
                    self._refuse(name, float(column[bad[0]]), first_row + bad, frames, first_row + len(frame))
                column[bad] = np.nan
                found[:, k] = column
            yield found
            first_row += len(frame)

    def _column(self, frame: DataFrame, name: str, first_row: int) -> Numbers:
        """Return the numbers of a column, NaN where they are missing."""
        cells = frame[name].to_numpy(dtype=None, na_value=np.nan)
        if cells.dtype.kind == "O":
            is_gap = [isinstance(cell, str) and self._missing.matches(cell) for cell in cells]
            cells = np.where(is_gap, np.nan, cells)
        return self._missing.as_nan(numbers_of(cells, f"{self.path}, column {name!r}", first_row=first_row))

    def _refuse(
        self, name: str, value: float, rows: NDArray[np.int64], frames: Iterator[DataFrame], next_row: int
    ) -> NoReturn:
        """Raise an error for values that are not finite, after counting those of the frames to come."""
        every = [rows]
        for frame in frames:
            every.append(next_row + np.flatnonzero(~np.isfinite(self._column(frame, name, next_row))))
            next_row += len(frame)
        what = "is empty" if np.isnan(value) else f"is {value}"
        raise DataError(f"{self.path}, column {name!r} {what} in {rows_named(np.concatenate(every))}; {WHAT_NEXT}")
