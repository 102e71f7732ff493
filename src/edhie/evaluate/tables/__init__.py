"""Files of measurements (CSV, TSV, JSON lines, Parquet, NumPy, Excel), opened by one function."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path

from edhie.arrays import Numbers
from edhie.errors import DataError
from edhie.evaluate.tables.table import Header, Source, Table

__all__ = ["Header", "Numbers", "Table", "open_table"]

JSON_LINES, PARQUET, EXCEL = (".jsonl", ".ndjson"), (".parquet", ".pq"), (".xlsx", ".xlsm")
NPY, NPZ = ".npy", ".npz"
STARTS = {b"{": JSON_LINES[0], b"PAR1": PARQUET[0], b"PK\x03\x04": EXCEL[0], b"\x93NUM": NPY}
"""First bytes of files whose names do not tell what they are."""


def open_table(
    path: Path, *, decimal: str | None = None, missing: Sequence[float | str] = (), header: Header | None = None
) -> Table:
    """Open a file of measurements, or standard input ("-"); its name or first bytes tell its format.

    CSV, TSV, JSON lines, Parquet, NumPy and Excel files are read, also compressed by gzip (`.csv.gz`). `decimal` is the
    decimal mark of the numbers in a text, "," or "."; None to recognise it. `missing` are numbers or texts that stand
    for a missing value, such as -999; empty cells, NA and null always do. `header` is for text and
    Excel files whose first row does not name each column.
    """
    from edhie.evaluate.tables.columnar import npy_table, npz_table, parquet_table
    from edhie.evaluate.tables.frames import excel_table
    from edhie.evaluate.tables.text import JsonLinesTable, TextTable

    try:
        source = Source(path)
        start = source.head(4)
        format_ = next((suffix for magic, suffix in STARTS.items() if start.startswith(magic)), source.suffix)
        if format_ in PARQUET or source.suffix in PARQUET:
            return parquet_table(source, missing)
        if NPY in (format_, source.suffix):
            return npy_table(source, missing)
        if source.suffix == NPZ:  # it begins as Excel's files do
            return npz_table(source, missing)
        if format_ in EXCEL or source.suffix in EXCEL:
            return excel_table(source, missing, header)
        if format_ in JSON_LINES:
            return JsonLinesTable(source, missing=missing)
        return TextTable(source, decimal=decimal, missing=missing, header=header)
    except FileNotFoundError:
        raise DataError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise DataError(f"{path} is a folder; give a file of measurements: CSV, TSV, Excel or Parquet") from None
    except (OSError, EOFError, zlib.error) as error:  # a damaged archive, too
        raise DataError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
