"""Files of predictions: a table as it was read, with more columns, written batch by batch as CSV or Parquet.

In CSV, texts that a spreadsheet would take for formulas get an apostrophe.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TextIO

import numpy as np

from edhie.errors import DataError, raised_as
from edhie.evaluate.tables import Numbers, Table
from edhie.evaluate.tables.frames import FrameTable
from edhie.safe_text import as_text_cell

PARQUET = (".parquet", ".pq")
Write = Callable[[Mapping[str, Numbers]], None]
"""Write the next rows, given the values of the new columns."""


@contextmanager
def writing(table: Table, names: Sequence[str], out: Path | None) -> Iterator[Write]:
    """Write a table with new columns of these names to a file, or print it; Parquet, if the file's name says so."""
    if out is None:
        yield _csv_writer(table, names, sys.stdout)
        return
    with raised_as(DataError, f"cannot write the predictions to {out}"):
        if out.suffix.lower() not in PARQUET:
            with out.open("w", encoding="utf-8", newline="") as file:
                yield _csv_writer(table, names, file)
            return
        with _parquet_writer(table, names, out) as write:
            yield write


def _csv_writer(table: Table, names: Sequence[str], file: TextIO) -> Write:
    writer = csv.writer(file, delimiter=table.separator, lineterminator="\n")
    texts = table.texts()
    is_begun = False

    def write(new: Mapping[str, Numbers]) -> None:
        nonlocal is_begun
        if not is_begun:
            writer.writerow(map(as_text_cell, (*table.names, *names)))
            is_begun = True
        cells = zip(*(_cells(values, table.decimal) for values in new.values()), strict=True)
        rows = islice(texts, len(next(iter(new.values()))))
        writer.writerows([*map(as_text_cell, row), *more] for row, more in zip(rows, cells, strict=True))

    return write


@contextmanager
def _parquet_writer(table: Table, names: Sequence[str], out: Path) -> Iterator[Write]:
    if not isinstance(table, FrameTable) or table.arrow is None:
        only = "only the columns of Parquet and NumPy files have types; write a CSV file instead"
        raise DataError(f"{table.path} cannot be written as Parquet: {only}")
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    batches, writer = table.arrow(), None

    def write(new: Mapping[str, Numbers]) -> None:
        nonlocal writer
        batch = next(batches, None)
        if batch is None:  # a table without rows
            return
        rows = pyarrow.Table.from_batches([batch])
        for name in names:
            rows = rows.append_column(name, pyarrow.array(new[name], from_pandas=True))  # NaN is no value
        writer = writer or ParquetWriter(str(out), rows.schema)
        writer.write_table(rows)

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()


def _cells(values: Iterable[float], decimal: str) -> Iterator[str]:
    for value in values:
        yield "" if np.isnan(value) else repr(float(value)).replace(".", decimal)
