"""Files of measurements: CSV, TSV and Parquet, by one reader."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from edhie.errors import DataError
from edhie.evaluate.table import Numbers, Table


def open_table(path: Path, *, decimal: str | None = None) -> Table:
    """Open a file of measurements, whose name or first bytes tell its format.

    `decimal` is the decimal mark of the numbers in a text, "," or "."; None to recognise it.
    """
    from edhie.evaluate.parquet_table import MAGIC, SUFFIXES, ParquetTable
    from edhie.evaluate.text_table import TextTable

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


def column_names(path: Path) -> tuple[str, ...]:
    """The names of a file's columns, each once."""
    return open_table(path).names


def read_numbers(path: Path, chosen: Sequence[str]) -> Numbers:
    """The columns of these names, of shape (rows, columns); what stands in others does not matter."""
    return open_table(path).numbers(chosen)
