"""`edhie predict`: predictions of an equation for new rows."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, TextIO

import numpy as np
import typer

from edhie.cli.outputs import Force, check_output
from edhie.cli.search_options import Decimal
from edhie.cli.show import Index, RunFolder, chosen_equation
from edhie.console import error_console, say
from edhie.errors import DataError, raised_as, shortened
from edhie.evaluate.tables import Numbers, Table, open_table
from edhie.fit import Discovery, Equation
from edhie.fit.run_folder import load


def predict(
    folder: RunFolder,
    data: Annotated[
        Path, typer.Argument(help="A table, CSV, TSV or Parquet, with the columns that the equation uses.")
    ],
    index: Index = None,
    std: Annotated[
        bool, typer.Option("--std", help="Add how far the constants' uncertainty may put each prediction off.")
    ] = False,
    doubt: Annotated[
        Literal["constants", "equations"],
        typer.Option(help="What --std includes: the uncertainty of constants, or also the doubt between equations."),
    ] = "constants",
    decimal: Decimal = None,
    out: Annotated[Path | None, typer.Option(help="The CSV file to write.", show_default="it is printed")] = None,
    force: Force = False,
) -> None:
    """Add the predictions of an equation to a table; a cell is empty where the equation has no value."""
    if out is not None:
        if out.exists() and data.exists() and out.samefile(data):
            raise DataError(f"{out} is the table that is read; choose another file for the predictions")
        check_output(out, force=force)
    found = load(folder, whole=False)
    equation = chosen_equation(found, index)
    table = open_table(data, decimal=decimal)
    with_others = std and doubt == "equations"
    others = [each for each in found.equations if each.weight] if with_others else []
    columns = _columns(found, [equation, *others], table)
    name = _free_name(found.target, table)
    new = {name: _values(equation.predict, columns)}
    if std:
        new[_free_name(f"{found.target}_std", table)] = _values(
            partial(found.standard_deviations, equation=equation) if with_others else equation.standard_deviations,
            columns,
        )
    _write(table, new, out)
    if name != found.target:
        say(f"{data} has a column {found.target!r} already; the predictions are in {name!r}", to=error_console)
    missing = int(np.isnan(new[name]).sum())
    if missing:
        rows = f"{missing:,} of {columns.shape[1]:,} rows"
        say(f"warning: the equation has no value in {rows}; their cells are empty", to=error_console)
    if out is not None:
        say(f"{out}: {columns.shape[1]:,} predictions by {equation}")


def _columns(found: Discovery, equations: Sequence[Equation], table: Table) -> Numbers:
    """Return the values of each variable, NaN where a cell is empty; 0 for variables that no equation uses."""
    variables = {name for each in equations for name in each.expr.variables}
    used = [k for k, name in enumerate(found.train.names) if name in variables]
    wanted = [found.columns[k] for k in used]
    missing = [name for name in wanted if name not in table.names]
    if missing:
        lacks = f"no column {missing[0]!r}" if len(missing) == 1 else f"no columns {', '.join(map(repr, missing))}"
        raise DataError(
            f"{table.path} has {lacks}, which the equation uses; it has {shortened(', '.join(table.names))}"
        )
    numbers = table.numbers(wanted, with_gaps=True)
    columns = np.zeros((len(found.columns), len(numbers)))
    columns[used] = numbers.T
    return columns


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


def _write(table: Table, new: dict[str, Numbers], out: Path | None) -> None:
    if out is None:
        _write_rows(table, new, sys.stdout)
        return
    wrong = f"cannot write the predictions to {out}"
    with raised_as(DataError, wrong), out.open("w", encoding="utf-8", newline="") as file:
        _write_rows(table, new, file)


def _write_rows(table: Table, new: dict[str, Numbers], file: TextIO) -> None:
    """Write the table as it was read, with more columns."""
    writer = csv.writer(file, delimiter=table.separator, lineterminator="\n")
    writer.writerow([*table.names, *new])
    cells = zip(*(_cells(values, table.decimal) for values in new.values()), strict=True)
    writer.writerows([*row, *more] for row, more in zip(table.texts(), cells, strict=True))


def _cells(values: Iterable[float], decimal: str) -> Iterator[str]:
    for value in values:
        yield "" if np.isnan(value) else repr(float(value)).replace(".", decimal)
