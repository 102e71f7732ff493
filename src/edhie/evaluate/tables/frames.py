"""`FrameTable`: Parquet and Excel files, read by pandas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np

from edhie.errors import DataError, shortened
from edhie.evaluate.numbers import numbers_of, rows_named
from edhie.evaluate.tables.table import WHAT_NEXT, Missing, Numbers, Source, Table, checked_names

if TYPE_CHECKING:
    from pandas import DataFrame

SAMPLE = 2000  # rows that tell whether a column holds text


def parquet_table(source: Source, missing: Sequence[float | str]) -> FrameTable:
    """Read a Parquet file."""
    import pandas

    try:
        with source.open() as file:
            frame = pandas.read_parquet(file, engine="pyarrow")
    except ImportError as error:
        needs = "reading Parquet needs pyarrow; install it with: pip install pyarrow"
        raise DataError(f"{source.path}: {needs}, or save the table as CSV") from error
    except (ValueError, TypeError) as error:  # pyarrow's own errors are ValueErrors
        raise DataError(f"{source.path} cannot be read as Parquet: {error}") from error
    return FrameTable(source, frame, [str(name) for name in frame.columns], missing)


def excel_table(source: Source, missing: Sequence[float | str]) -> FrameTable:
    """Read the first sheet of an Excel file: its first row that is not empty holds the names."""
    import pandas

    try:
        with source.open() as file, pandas.ExcelFile(file, engine="openpyxl") as book:
            frame = pandas.read_excel(book, header=None, dtype=object).dropna(how="all").dropna(how="all", axis=1)
            sheets = [str(name) for name in book.sheet_names]
    except ImportError as error:
        needs = "reading Excel files needs openpyxl; install it with: pip install 'edhie[excel]'"
        raise DataError(f"{source.path}: {needs}, or save the table as CSV") from error
    except Exception as error:  # of many kinds: not a zip archive, no sheets, damaged sheets
        raise DataError(f"{source.path} cannot be read as an Excel file: {error}; save it as CSV") from error
    names = ["" if pandas.isna(name) else str(name) for name in frame.iloc[0]] if len(frame) else []
    table = FrameTable(source, frame.iloc[1:].infer_objects(), names, missing)
    if len(sheets) > 1:
        table.format_notes = (f"has {len(sheets)} sheets, of which the first, {shortened(sheets[0], 40)!r}, is read",)
    return table


class FrameTable(Table):
    """A file that pandas reads."""

    def __init__(self, source: Source, frame: DataFrame, names: Sequence[str], missing: Sequence[float | str]) -> None:
        self.path = source.path
        self.names = checked_names(source.path, names)
        self._frame = frame.set_axis(list(self.names), axis=1)
        self._missing = Missing(missing)

    def texts(self) -> Iterator[list[str]]:
        """Yield the rows as text; empty where a value is missing."""
        missing = self._frame.isna().to_numpy()
        for row, gaps in zip(self._frame.itertuples(index=False, name=None), missing, strict=True):
            yield ["" if is_gap else str(value) for value, is_gap in zip(row, gaps, strict=True)]

    def written_step(self, name: str) -> float | None:
        """Return None: the file has numbers and no texts."""
        return None

    def _is_text(self, names: Sequence[str]) -> list[bool]:
        samples = map(self._sample, names)
        return [2 * sum(not isinstance(cell, Number | np.bool_) for cell in cells) > len(cells) for cells in samples]

    def _sample(self, name: str) -> list[Any]:
        cells = self._frame[name].dropna().head(SAMPLE).tolist()
        return [cell for cell in cells if not (isinstance(cell, str) and self._missing.matches(cell))]

    def _read(self, chosen: Sequence[str], *, with_gaps: bool) -> Numbers:
        found = np.empty((len(self._frame), len(chosen)))
        for k, name in enumerate(chosen):
            place = f"{self.path}, column {name!r}"
            cells = self._frame[name].to_numpy(dtype=None, na_value=np.nan)
            if cells.dtype.kind == "O":
                is_gap = [isinstance(cell, str) and self._missing.matches(cell) for cell in cells]
                cells = np.where(is_gap, np.nan, cells)
            found[:, k] = self._missing.as_nan(numbers_of(cells, place))
            bad = np.flatnonzero(~np.isfinite(found[:, k]))
            if len(bad) and not with_gaps:
                what = "is empty" if np.isnan(found[bad[0], k]) else f"is {found[bad[0], k]}"
                raise DataError(f"{place} {what} in {rows_named(bad)}; {WHAT_NEXT}")
            found[bad, k] = np.nan
        return found
