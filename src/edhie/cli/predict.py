"""`edhie predict`: predictions of an equation for new rows, written batch by batch as CSV or Parquet.

In CSV, texts that a spreadsheet would take for formulas get an apostrophe.
"""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Literal, TextIO

import numpy as np
import typer

from edhie.arrays import Numbers
from edhie.cli.outputs import Force, check_output
from edhie.cli.search_options import DECIMAL_MARK, Mark
from edhie.cli.show import Index, RunFolder, chosen_equation
from edhie.console import error_console, say
from edhie.errors import DataError, raised_as, shortened
from edhie.evaluate.tables import Table, open_table
from edhie.evaluate.tables.frames import FrameTable
from edhie.fit import Discovery, Equation
from edhie.fit.run_folder import load
from edhie.safe_text import as_text_cell

PARQUET = (".parquet", ".pq")
Write = Callable[[Mapping[str, Numbers]], None]
"""Write the next rows, given the values of the new columns."""


def predict(
    folder: RunFolder,
    data: Annotated[
        Path, typer.Argument(help="A table, CSV, TSV, Parquet or NumPy, with the columns that the equation uses.")
    ],
    index: Index = None,
    std: Annotated[bool, typer.Option("--std", help="Add the standard deviation of each prediction.")] = False,
    doubt: Annotated[
        Literal["constants", "equations"],
        typer.Option(help="What --std includes: the uncertainty of the constants, or also that about the equation."),
    ] = "constants",
    decimal: Annotated[Mark | None, typer.Option(help=DECIMAL_MARK, metavar="MARK", show_default=False)] = None,
    out: Annotated[
        Path | None, typer.Option(help="The CSV or Parquet file to write.", show_default="standard output")
    ] = None,
    force: Force = False,
) -> None:
    """Add the predictions of an equation to a table; a cell is empty where the equation has no value."""
    if out is not None and out.exists() and data.exists() and out.samefile(data):
        raise DataError(f"{out} is the table that is read; choose another file for the predictions")
    check_output(out, force=force)
    found = load(folder, whole=False)
    equation = chosen_equation(found, index)
    table = open_table(data, decimal=decimal)
    with_others = std and doubt == "equations"
    others = [each for each in found.equations if each.weight] if with_others else []
    batches = _columns(found, [equation, *others], table)
    name = _free_name(found.target, table)
    functions = {name: equation.predict}
    if std:
        whole = partial(found.standard_deviations, equation=equation)
        functions[_free_name(f"{found.target}_std", table)] = whole if with_others else equation.standard_deviations
    n_rows, n_missing = 0, 0
    first = next(batches)  # before the file is opened: something may be wrong with the table
    with writing(table, list(functions), out) as write:
        for columns in chain([first], batches):
            new = {name: _values(function, columns) for name, function in functions.items()}
            write(new)
            n_rows += columns.shape[1]
            n_missing += int(np.isnan(new[name]).sum())
    if name != found.target:
        say(f"{data} has a column {found.target!r} already; the predictions are in {name!r}", to=error_console)
    if n_missing:
        rows = f"{n_missing:,} of {n_rows:,} rows"
        say(f"warning: the equation has no value in {rows}; their cells are empty", to=error_console)
    if out is not None:
        say(f"{out}: {n_rows:,} predictions by {equation}")


def _columns(found: Discovery, equations: Sequence[Equation], table: Table) -> Iterator[Numbers]:
    """Yield the values of each variable, NaN where a cell is empty; 0 for variables that no equation uses."""
    variables = {name for each in equations for name in each.expr.variables}
    used = [k for k, name in enumerate(found.train.names) if name in variables]
    wanted = [found.columns[k] for k in used]
    missing = [name for name in wanted if name not in table.names]
    if missing:
        lacks = f"no column {missing[0]!r}" if len(missing) == 1 else f"no columns {', '.join(map(repr, missing))}"
        raise DataError(
            f"{table.path} has {lacks}, which the equation uses; it has {shortened(', '.join(table.names))}"
        )
    n_batches = 0
    for n_batches, numbers in enumerate(table.batches(wanted, with_gaps=True), start=1):  # noqa: B007
        columns = np.zeros((len(found.columns), len(numbers)))
        columns[used] = numbers.T
        yield columns
    if n_batches == 0:
        yield np.zeros((len(found.columns), 0))


def _values(function: Callable[[Numbers], Numbers], columns: Numbers) -> Numbers:
    """Return the values of a function on complete rows; NaN for others, and where it is not finite."""
    whole = np.isfinite(columns).all(axis=0)
    values = np.full(columns.shape[1], np.nan)
    if whole.any():
        values[whole] = function(np.ascontiguousarray(columns[:, whole]))
    values[~np.isfinite(values)] = np.nan
    return values


def _free_name(name: str, table: Table) -> str:
    """Return the name, or another if the table has a column of that name."""
    while name in table.names:
        name += "_predicted"
    return name


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
    writer.writerow(map(as_text_cell, (*table.names, *names)))
    texts = table.texts()

    def cell(value: float) -> str:
        return "" if math.isnan(value) else repr(value).replace(".", table.decimal)

    def write(new: Mapping[str, Numbers]) -> None:
        cells = zip(*(map(cell, values.tolist()) for values in new.values()), strict=True)
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
