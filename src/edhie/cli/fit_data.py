"""The data of a fit: columns of a file, checked, and told before anything takes time."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from edhie.console import error_console, say
from edhie.discovery.names import variable_names
from edhie.discovery.preparing import SPLIT_SEED
from edhie.errors import DataError, shortened
from edhie.evaluate import Data, read_data
from edhie.evaluate.table import Table
from edhie.evaluate.tables import open_table
from edhie.results.validation import split

LEAST_ROWS = 2
FEW_ROWS = 30  # as many have to be told apart from a table that was turned
MOST_TOLD = 20  # columns that have another name in equations


@dataclass(frozen=True, eq=False)
class Measured:
    """What is to be explained, and by what."""

    path: Path
    notes: tuple[str, ...]
    target: str
    train: Data
    validation: Data | None
    """Rows that are held out, or of a file of their own."""
    validation_path: Path | None = None

    def tell(self) -> None:
        """What was read, and what will be done with it."""
        if self.notes:
            say(f"{self.path} {' and '.join(self.notes)}", to=error_console)
        columns, apart = self.train.names, 0 if self.validation is None else self.validation.n_rows
        held_out = 0 if self.validation_path else apart
        rows = self.train.n_rows + held_out
        by = f"{columns[0]!r}" if len(columns) == 1 else f"{len(columns)} others ({shortened(', '.join(columns))})"
        say(f"{self.path}: {rows:,} rows; {self.target!r} is to be explained by {by}", to=error_console)
        if held_out:
            say(f"{held_out:,} of {rows:,} rows are held out for validation", to=error_console)
        if self.validation_path is not None:
            say(f"{self.validation_path}: {apart:,} rows for validation", to=error_console)
        renamed = [each for each in zip(columns, variable_names(columns), strict=True) if each[0] != each[1]]
        for column, name in renamed[:MOST_TOLD]:
            say(f"column {column!r} is called {name} in equations", to=error_console)
        if len(renamed) > MOST_TOLD:
            say(f"{len(renamed) - MOST_TOLD:,} other columns have other names in equations too", to=error_console)


def read_measured(
    path: Path, target: str, features: str, validation: Path | None = None, *, decimal: str | None = None
) -> Measured:
    """The chosen columns of a file, where there is something to explain in them, and of one for validation."""
    table = open_table(path, decimal=decimal)
    names = _features(table, target, features)
    numbers = table.numbers((target, *names))
    if not names:
        raise DataError(f"{path} has no column besides {target!r}; give at least one to explain it with")
    if len(numbers) < LEAST_ROWS:
        count = "1 row" if len(numbers) == 1 else "no rows"
        raise DataError(f"{path} has {count} of numbers; give at least {LEAST_ROWS}, and better hundreds")
    if len(names) > len(numbers) and len(numbers) < FEW_ROWS:
        more = "give more rows, or choose fewer columns with --features"
        raise DataError(f"{path} has more variables ({len(names)}) than rows ({len(numbers)}); {more}")
    y = numbers[:, 0]
    if (y == y[0]).all():
        constant = f"column {target!r} is {y[0]:g} in every row, so there is nothing to explain"
        raise DataError(f"{path}: {constant}; choose another --target")
    data = _as_written(read_data(numbers[:, 1:], y, names=names), table, target)
    if validation is not None:
        apart = _validation(open_table(validation, decimal=decimal), target, names)
        return Measured(path, table.notes, target, data, apart, validation)
    # split here as `discover` would, so that what is held out is told before anything is compiled
    train, held_out = split(data, np.random.default_rng(SPLIT_SEED))
    return Measured(path, table.notes, target, train, held_out)


def _as_written(data: Data, table: Table, target: str) -> Data:
    """Data whose target has the decimals of the file, where that has more: 1.50 and 2.00 are written to 0.01."""
    written = table.written_step(target)
    return data if written is None else replace(data, step=min(data.step, written))


def _validation(table: Table, target: str, names: tuple[str, ...]) -> Data:
    """The same columns of another file; a target that does not vary is no fault there."""
    numbers = table.numbers((target, *names))
    if len(numbers) == 0:
        raise DataError(f"{table.path} has no rows of numbers; give at least 1 for validation")
    data = read_data(numbers[:, 1:], numbers[:, 0], names=names, allow_constant_target=True)
    return _as_written(data, table, target)


def _features(table: Table, target: str, features: str) -> tuple[str, ...]:
    """The columns named, a name with a comma in quotes; all but the target where none is."""
    given = tuple(each.strip() for each in next(csv.reader([features], skipinitialspace=True), []) if each.strip())
    names = given or tuple(name for name in table.names if name != target)
    twice = next((name for name in given if given.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"--features names {twice!r} twice; name it once")
    if target in names:
        raise DataError(f"{target!r} is the --target and among the --features too; leave it out of one")
    return names
