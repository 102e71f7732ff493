"""`FrameTable`: files that are read as DataFrames, batch by batch of rows; Excel files. For others see `columnar`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from numbers import Number
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from edhie.archives import check_zip
from edhie.arrays import Indices, Numbers
from edhie.errors import DataError, shortened
from edhie.evaluate.numbers import numbers_of, rows_named
from edhie.evaluate.tables.table import WHAT_NEXT, Header, Missing, Source, Table, checked_names

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
        columns = (first[name].dropna().head(SAMPLE).tolist() for name in names)
        samples = ([cell for cell in cells if not self._is_gap(cell)] for cells in columns)
        return [2 * sum(not isinstance(cell, Number | np.bool_) for cell in cells) > len(cells) for cells in samples]

    def _is_gap(self, cell: Any) -> bool:
        return isinstance(cell, str) and self._missing.matches(cell)

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
            cells = np.where([self._is_gap(cell) for cell in cells], np.nan, cells)
        return self._missing.as_nan(numbers_of(cells, f"{self.path}, column {name!r}", first_row=first_row))

    def _refuse(self, name: str, value: float, rows: Indices, frames: Iterator[DataFrame], next_row: int) -> NoReturn:
        """Raise an error for values that are not finite, after counting those of the frames to come."""
        every = [rows]
        for frame in frames:
            every.append(next_row + np.flatnonzero(~np.isfinite(self._column(frame, name, next_row))))
            next_row += len(frame)
        what = "is empty" if np.isnan(value) else f"is {value}"
        raise DataError(f"{self.path}, column {name!r} {what} in {rows_named(np.concatenate(every))}; {WHAT_NEXT}")


# -- Excel files: the first sheet, without its blank rows and columns ------------------

MOST_ROWS = 1_048_576  # of a sheet; a file may declare rows far beyond
MOST_CELLS = 50_000_000  # of the table, blank ones included: a few cells may stand far apart
GAPS = frozenset(
    ("", "#N/A", "#N/A N/A", "#NA", "N/A", "NA", "n/a", "NULL", "null", "None", "<NA>", "NaN", "nan", "-NaN", "-nan")
)
"""Texts that count as missing values, the same as in pandas."""


def excel_table(source: Source, missing: Sequence[float | str], header: Header | None = None) -> FrameTable:
    """Read the first sheet of an Excel file: its first row that is not empty holds the names."""
    import pandas

    try:
        rows, numbers, sheets = _first_sheet(source)
        columns = sorted(set().union(*rows))
        if len(rows) * len(columns) > MOST_CELLS:
            raise ValueError(f"its cells span {len(rows):,} rows × {len(columns):,} columns, which are too many cells")
        frame = pandas.DataFrame(rows, columns=columns, dtype=object)
    except ImportError as error:
        needs = "reading Excel files needs openpyxl; install it with: pip install 'edhie[excel]'"
        raise DataError(f"{source.path}: {needs}, or save the table as CSV") from error
    except Exception as error:  # of many kinds: not a zip archive, no sheets, damaged sheets
        raise DataError(f"{source.path} cannot be read as an Excel file: {error}; save it as CSV") from error
    first_wide = next((k for k, row in enumerate(rows) if len(row) > 1), 0)  # above it, one cell is written in each row
    n_titles = first_wide if first_wide and all(isinstance(each, str) for each in rows[first_wide].values()) else 0
    frame = frame.iloc[n_titles:].dropna(axis=1, how="all") if n_titles else frame
    first = ["" if name != name else str(name) for name in frame.iloc[0]] if len(frame) else []  # NaN is not itself
    names = checked_names(source.path, first, header)
    below = frame.iloc[0 if header == "no" else 1 :].infer_objects().set_axis(list(names), axis=1)
    table = FrameTable(source, names, lambda _: iter([below]), missing)
    table.lines = numbers[n_titles + (0 if header == "no" else 1) :]
    table.is_sheet = True
    table.positions = tuple(int(place) for place in frame.columns)
    if n_titles:
        table.format_notes = ("begins with remarks",)
    if len(sheets) > 1:
        table.format_notes += (f"has {len(sheets)} sheets, of which the first, {shortened(sheets[0], 40)!r}, is read",)
    return table


def _first_sheet(source: Source) -> tuple[list[dict[int, Any]], list[int], list[str]]:
    """Return the rows that are not blank, with values by column; the numbers of these rows; the names of all sheets."""
    from openpyxl import load_workbook

    with source.open() as file:
        check_zip(file)
        book = load_workbook(file, read_only=True, data_only=True, keep_links=False)
        try:
            sheet = book.worksheets[0]
            sheet.reset_dimensions()  # the declared size may be wrong
            rows, numbers = [], []
            for number, cells in enumerate(sheet.rows, start=1):
                if number > MOST_ROWS:
                    raise ValueError(f"it has more than {MOST_ROWS:,} rows")
                if row := _values(cells):
                    rows.append(row)
                    numbers.append(number)
            return rows, numbers, [str(name) for name in book.sheetnames]
        finally:
            book.close()


def _values(cells: Iterable[Any]) -> dict[int, Any]:
    """Return the values of a row by column, without blank cells and errors such as #DIV/0!."""
    found = {}
    for place, cell in enumerate(cells):
        value = cell.value
        if value is None or cell.data_type == "e" or (isinstance(value, str) and value in GAPS):
            continue
        found[place] = int(value) if isinstance(value, float) and value.is_integer() else value
    return found
