"""The data of `edhie fit` and `edhie revise`: read with the options of the command, and summarised for the user."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from edhie.cli.terminal import only_warnings
from edhie.console import error_console, say
from edhie.errors import shortened
from edhie.evaluate.tables import Header
from edhie.expr import SymbolLibrary
from edhie.fit.measured import Measured, read_file

CONSTANT = "c"  # an unknown constant in formulas
MOST_TOLD = 20  # columns that have another name in equations


def read_measured(
    path: Path,
    target: str,
    features: str,
    validation: Path | None = None,
    *,
    sigma: str | None = None,
    decimal: str | None = None,
    exclude: str = "",
    missing: Sequence[float | str] = (),
    drop_missing: bool = False,
    header: Header | None = None,
    sample: int | None = None,
) -> Measured:
    """Read a file as `read_file` does; `features` and `exclude` are lists as in CSV."""
    return read_file(
        path, target, features=listed(features), exclude=listed(exclude), validation=validation, sigma=sigma,
        decimal=decimal, missing=missing, drop_missing=drop_missing, header=header, sample=sample,
    )  # fmt: skip


def tell(measured: Measured, *, quiet: bool = False) -> None:
    """Print a summary of the data; if `quiet`, print nothing, and from here on only warnings."""
    if quiet:
        only_warnings()
        return
    if measured.notes:
        say(f"{measured.path} {' and '.join(measured.notes)}", to=error_console)
    problem, columns = measured.problem, measured.problem.columns
    apart = 0 if problem.validation is None else problem.validation.n_rows
    held_out = 0 if measured.validation_path else apart
    rows = measured.n_rows
    by = f"{columns[0]!r}" if len(columns) == 1 else f"{len(columns)} others ({shortened(', '.join(columns))})"
    say(f"{measured.path}: {rows:,} rows; {problem.target!r} is to be explained by {by}", to=error_console)
    if problem.whole is not None:
        sampled = f"a sample of {problem.train.n_rows:,} rows is searched"
        say(f"{sampled}; it was taken in {measured.seconds:.1f} s", to=error_console)
    if held_out:
        say(f"{held_out:,} of {rows:,} rows are held out for validation", to=error_console)
    if measured.validation_path is not None:
        say(f"{measured.validation_path}: {apart:,} rows for validation", to=error_console)
    renamed = [each for each in zip(columns, problem.train.names, strict=True) if each[0] != each[1]]
    for column, name in renamed[:MOST_TOLD]:
        say(f"column {column!r} is called {name} in equations", to=error_console)
    if len(renamed) > MOST_TOLD:
        say(f"{len(renamed) - MOST_TOLD:,} other columns have other names in equations too", to=error_console)
    if CONSTANT in problem.train.names:
        stands = SymbolLibrary.of([], list(problem.train.names), constant=True).constant
        say(f"{CONSTANT} is a column here; in formulas write {stands} for an unknown constant", to=error_console)


def listed(names: str) -> tuple[str, ...]:
    """Return the names in a comma-separated list; a name with a comma is quoted."""
    return tuple(each.strip() for each in next(csv.reader([names], skipinitialspace=True), []) if each.strip())
