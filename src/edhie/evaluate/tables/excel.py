"""Excel files: the first sheet, without its blank rows and columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from edhie.archives import check_zip
from edhie.errors import DataError, shortened
from edhie.evaluate.tables.frames import FrameTable
from edhie.evaluate.tables.table import Header, Source, checked_names

if TYPE_CHECKING:
    from pandas import DataFrame

MOST_ROWS = 1_048_576  # of a sheet; a file may declare rows far beyond
MOST_CELLS = 50_000_000  # of the table, blank ones included: a few cells may stand far apart
GAPS = frozenset(
    ("", "#N/A", "#N/A N/A", "#NA", "N/A", "NA", "n/a", "NULL", "null", "None", "<NA>", "NaN", "nan", "-NaN", "-nan")
)
"""Texts that count as missing values, the same as in pandas."""


class _Sheet(NamedTuple):
    rows: list[dict[int, Any]]
    """The values of each row that is not blank, by column."""
    numbers: list[int]
    """The numbers of these rows in the sheet, from 1."""
    sheets: list[str]
    """The names of all sheets."""


def excel_table(source: Source, missing: Sequence[float | str], header: Header | None = None) -> FrameTable:
    """Read the first sheet of an Excel file: its first row that is not empty holds the names."""
    try:
        rows, numbers, sheets = _first_sheet(source)
        frame = _frame(rows)
    except ImportError as error:
        needs = "reading Excel files needs openpyxl; install it with: pip install 'edhie[excel]'"
        raise DataError(f"{source.path}: {needs}, or save the table as CSV") from error
    except Exception as error:  # of many kinds: not a zip archive, no sheets, damaged sheets
        raise DataError(f"{source.path} cannot be read as an Excel file: {error}; save it as CSV") from error
    n_titles = _rows_of_titles(rows)
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


def _rows_of_titles(rows: Sequence[dict[int, Any]]) -> int:
    """Count the rows above the names in which only one cell is written; 0 unless a row of names is below them."""
    count = next((k for k, row in enumerate(rows) if len(row) > 1), 0)
    return count if count and all(isinstance(value, str) for value in rows[count].values()) else 0


def _first_sheet(source: Source) -> _Sheet:
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
            return _Sheet(rows, numbers, [str(name) for name in book.sheetnames])
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


def _frame(rows: Sequence[dict[int, Any]]) -> DataFrame:
    """Return the rows as a DataFrame of the columns that are not blank, by place; NaN where there is no value."""
    import pandas

    columns = sorted(set().union(*rows))
    if len(rows) * len(columns) > MOST_CELLS:
        raise ValueError(f"its cells span {len(rows):,} rows × {len(columns):,} columns, which are too many cells")
    table = np.full((len(rows), len(columns)), np.nan, dtype=object)
    places = {column: k for k, column in enumerate(columns)}
    for k, row in enumerate(rows):
        for column, value in row.items():
            table[k, places[column]] = value
    return pandas.DataFrame(table, columns=columns)
