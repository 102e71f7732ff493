"""The data of a fit: columns of a file, checked and summarised before the search begins."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from edhie.cli.terminal import only_warnings
from edhie.console import error_console, say
from edhie.errors import DataError, shortened, suggestion
from edhie.evaluate import Data, read_data
from edhie.evaluate.data import what_never_varies
from edhie.evaluate.tables import Numbers, Table, open_table
from edhie.expr import SymbolLibrary
from edhie.fit import Problem
from edhie.fit.problem import variable_names

LEAST_ROWS = 2
FEW_ROWS = 30  # with fewer, a table may have been transposed
CONSTANT = "c"  # an unknown constant in formulas
MOST_TOLD = 20  # columns that have another name in equations


@dataclass(frozen=True, eq=False)
class Measured:
    """A problem that was read from a file."""

    path: Path
    notes: tuple[str, ...]
    """Remarks of the reader."""
    problem: Problem
    validation_path: Path | None = None
    """The file of the rows for validation; None if they are held out."""

    def tell(self, *, quiet: bool = False) -> None:
        """Print a summary of the data; if `quiet`, print nothing, and from here on only warnings."""
        if quiet:
            only_warnings()
            return
        if self.notes:
            say(f"{self.path} {' and '.join(self.notes)}", to=error_console)
        problem, columns = self.problem, self.problem.columns
        apart = 0 if problem.validation is None else problem.validation.n_rows
        held_out = 0 if self.validation_path else apart
        rows = problem.train.n_rows + held_out
        by = f"{columns[0]!r}" if len(columns) == 1 else f"{len(columns)} others ({shortened(', '.join(columns))})"
        say(f"{self.path}: {rows:,} rows; {problem.target!r} is to be explained by {by}", to=error_console)
        if held_out:
            say(f"{held_out:,} of {rows:,} rows are held out for validation", to=error_console)
        if self.validation_path is not None:
            say(f"{self.validation_path}: {apart:,} rows for validation", to=error_console)
        renamed = [each for each in zip(columns, problem.train.names, strict=True) if each[0] != each[1]]
        for column, name in renamed[:MOST_TOLD]:
            say(f"column {column!r} is called {name} in equations", to=error_console)
        if len(renamed) > MOST_TOLD:
            say(f"{len(renamed) - MOST_TOLD:,} other columns have other names in equations too", to=error_console)
        if CONSTANT in problem.train.names:
            stands = SymbolLibrary.of([], list(problem.train.names), constant=True).constant
            say(f"{CONSTANT} is a column here; in formulas write {stands} for an unknown constant", to=error_console)


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
) -> Measured:
    """Read the chosen columns of a file, and of one for validation; raise an error if there is nothing to explain.

    `features` are the columns to explain the target with, a list as in CSV; without any, all columns of numbers that
    `exclude` does not name. `missing` are numbers or texts that stand for a missing value; with `drop_missing`, rows
    with a missing value are left out, otherwise they raise an error. `path` may be "-", for standard input.
    """
    table = open_table(path, decimal=decimal, missing=missing)
    path = table.path
    # columns may be named as in the table or as in equations
    own = dict(zip(variable_names(table.names), table.names, strict=True)) | {name: name for name in table.names}
    target, sigma = own.get(target, target), None if sigma is None else own.get(sigma, sigma)
    given, excluded = ([own.get(name, name) for name in listed(each)] for each in (features, exclude))
    names = _features(table, target, given, sigma, excluded)
    numbers = table.numbers(_without_none(target, *names, sigma), drop_missing=drop_missing)
    if not names:
        raise DataError(f"{path} has no column of numbers besides {target!r}; give at least one to explain it with")
    if len(numbers) < LEAST_ROWS:
        count = "1 row" if len(numbers) == 1 else "no rows"
        raise DataError(f"{path} has {count} of numbers; give at least {LEAST_ROWS}, and better hundreds")
    if len(names) > len(numbers) and len(numbers) < FEW_ROWS:
        more = "give more rows, or choose fewer columns with --features"
        raise DataError(f"{path} has more variables ({len(names)}) than rows ({len(numbers)}); {more}")
    data = _data(table, target, names, sigma, numbers)
    _check_variation(data, path, target)
    if validation is None:
        return Measured(path, table.notes, Problem.of(data, target=target))
    other = open_table(validation, decimal=decimal, missing=missing)
    sigma = sigma if sigma in other.names else None  # it may have no standard errors
    numbers = other.numbers(_without_none(target, *names, sigma), drop_missing=drop_missing)
    if len(numbers) == 0:
        raise DataError(f"{other.path} has no rows of numbers; give at least 1 for validation")
    apart = _data(other, target, names, sigma, numbers)
    return Measured(path, table.notes, Problem.of(data, target=target, validation=apart), other.path)


def _data(table: Table, target: str, names: tuple[str, ...], sigma: str | None, numbers: Numbers) -> Data:
    """Return the data of target, features and standard errors, if any, in that order."""
    if sigma is not None and (numbers[:, -1] <= 0).any():
        row = int(np.argmax(numbers[:, -1] <= 0))
        what = f"column {sigma!r} is {numbers[row, -1]:g} in row {row + 1} below the names"
        raise DataError(f"{table.path}: {what}; standard errors (--sigma) must be above 0")
    errors = None if sigma is None else numbers[:, -1]
    features = numbers[:, 1 : 1 + len(names)]
    data = read_data(features, numbers[:, 0], sigma=errors, names=names, allow_constant_target=True)
    written = table.written_step(target)  # zeros at the end count: 1.50 and 2.00 are written to 0.01
    if written is None:
        return data
    step = min(data.resolution.step, written)
    return replace(data, resolution=data.resolution._replace(step=step))


def _check_variation(data: Data, path: Path, target: str) -> None:
    """Raise an error if the target or all features are the same in every row."""
    alike = what_never_varies(data)
    if alike == "rows":
        same = f"all {data.n_rows} rows are the same, so there is nothing to tell them apart"
        raise DataError(f"{path}: {same}; give measurements that differ from row to row")
    if alike == "columns":
        names = shortened(", ".join(map(repr, data.names)))
        raise DataError(
            f"{path}: {names}: the same in every row, so nothing can explain {target!r}; add columns that vary"
        )
    if (data.y == data.y[0]).all():
        constant = f"column {target!r} is {data.y[0]:g} in every row, so there is nothing to explain"
        raise DataError(f"{path}: {constant}; choose another --target")


def listed(names: str) -> tuple[str, ...]:
    """Return the names in a comma-separated list; a name with a comma is quoted."""
    return tuple(each.strip() for each in next(csv.reader([names], skipinitialspace=True), []) if each.strip())


def _features(
    table: Table, target: str, given: Sequence[str], sigma: str | None, excluded: Sequence[str]
) -> tuple[str, ...]:
    """Return the columns named; if none is, all columns of numbers but the target, its errors and those excluded."""
    for each in excluded:
        if each not in table.names:
            hint = suggestion(each, table.names) or f"; it has {shortened(', '.join(table.names))}"
            raise DataError(f"{table.path} has no column {each!r} to --exclude{hint}")
        if each in (*given, target, sigma):
            raise DataError(f"{each!r} is to be used and among those to --exclude too; leave it out of one")
    others = [name for name in table.names if name not in (target, sigma, *excluded)]
    names = tuple(given) or table.without_text(others)
    twice = next((name for name in given if given.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"--features names {twice!r} twice; name it once")
    for option, name in (("--target", target), ("--sigma", sigma)):
        if name in names:
            raise DataError(f"{name!r} is the {option} and among the --features too; leave it out of one")
    if sigma == target:
        raise DataError(f"{sigma!r} is the --target and the --sigma; give the column of its standard errors")
    return names


def _without_none(*names: str | None) -> tuple[str, ...]:
    return tuple(name for name in names if name is not None)
