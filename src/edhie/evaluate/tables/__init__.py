"""Files of measurements: CSV, TSV and Parquet, opened by one function."""

from __future__ import annotations

from pathlib import Path

from edhie.errors import DataError
from edhie.evaluate.tables.table import Numbers, Table

__all__ = ["Numbers", "Table", "open_table"]


def open_table(path: Path, *, decimal: str | None = None) -> Table:
    """Open a file of measurements; its name or first bytes tell its format.

    `decimal` is the decimal mark of the numbers in a text, "," or "."; None to recognise it.
    """
    from edhie.evaluate.tables.parquet import MAGIC, SUFFIXES, ParquetTable
    from edhie.evaluate.tables.text import TextTable

    try:
        if path.exists() and not path.is_file() and not path.is_dir():  # a pipe is empty when it is read again
            raise DataError(f"{path} is no ordinary file; save what comes from it as one, then give that")
        with path.open("rb") as file:
            is_parquet = file.read(len(MAGIC)) == MAGIC or path.suffix.lower() in SUFFIXES
        return ParquetTable(path) if is_parquet else TextTable(path, decimal=decimal)
    except FileNotFoundError:
        raise DataError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise DataError(f"{path} is a folder; give a file of measurements: CSV, TSV or Parquet") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from error
