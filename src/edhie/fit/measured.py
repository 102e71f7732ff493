"""Read the chosen columns of a file as a problem: all rows, or a sample of a large table."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from edhie.arrays import Numbers
from edhie.errors import DataError, shortened, suggestion
from edhie.evaluate import Data, read_data
from edhie.evaluate.data import what_never_varies
from edhie.evaluate.large_table import LARGE, LargeTable, check_sigma
from edhie.evaluate.tables import Header, Table, open_table
from edhie.fit.problem import HELD_OUT_PARTS, MOST_HELD_OUT, SPLIT_SEED, Problem, variable_names

LEAST_ROWS = 2
FEW_ROWS = 30  # with fewer, a table may have been transposed
SEARCHED = 20_000  # rows of a sample: selection uses no more, and a search takes longer with more


@dataclass(frozen=True, eq=False)
class Measured:
    """A problem that was read from a file."""

    path: Path
    notes: tuple[str, ...]
    """Remarks of the reader."""
    problem: Problem
    n_rows: int
    """Rows of the file, those held out included."""
    seconds: float
    """Time that reading took."""
    validation_path: Path | None = None
    """The file of the rows for validation; None if they are held out."""


def read_file(
    path: Path,
    target: str,
    *,
    features: Sequence[str] = (),
    exclude: Sequence[str] = (),
    validation: Path | None = None,
    sigma: str | None = None,
    decimal: str | None = None,
    missing: Sequence[float | str] = (),
    drop_missing: bool = False,
    header: Header | None = None,
    sample: int | None = None,
) -> Measured:
    """Read the chosen columns of a file, and of one for validation; raise an error if there is nothing to explain.

    `features` are the columns to explain the target with; without any, all columns of numbers that `exclude` does not
    name. `missing` are numbers or texts that stand for a missing value; with `drop_missing`, rows with a missing value
    are left out, otherwise they raise an error. `header` is for files whose first row does not name each column. `path`
    may be "-", for standard input. Parquet and NumPy files of more than 25 million numbers are not held in memory:
    20,000 rows, or as many as `sample` says, are searched, 20,000 others are held out, and equations are fitted to all
    other rows.
    """
    began = time.perf_counter()
    table = open_table(path, decimal=decimal, missing=missing, header=header)
    path = table.path
    # columns may be named as in the table or as in equations
    own = dict(zip(variable_names(table.names), table.names, strict=True)) | {name: name for name in table.names}
    target, sigma = own.get(target, target), None if sigma is None else own.get(sigma, sigma)
    given, excluded = ([own.get(name, name) for name in each] for each in (features, exclude))
    names = _features(table, target, given, sigma, excluded)
    if not names:
        table.numbers([target])  # raises if the target itself is wrong
        raise DataError(f"{path} has no column of numbers besides {target!r}; give at least one to explain it with")
    whole = LargeTable(table, target, names, variable_names(names), sigma, drop_missing)
    held_out: Data | None = None
    if is_sampled := _is_sampled(table, len(names), sample):
        taken = whole.sample(
            sample or SEARCHED, held_out=0 if validation else MOST_HELD_OUT, parts=HELD_OUT_PARTS, rng=_rng()
        )
        whole, n_rows = replace(whole, held_out=taken.held_out_rows), taken.n_rows
        train = _data(table, target, names, sigma, taken.searched)
        held_out = _data(table, target, names, sigma, taken.held_out) if len(taken.held_out) else None
    else:
        numbers = table.numbers(_without_none(target, *names, sigma), drop_missing=drop_missing)
        _check_size(numbers, path, names)
        train, n_rows = _data(table, target, names, sigma, numbers), len(numbers)
    _check_variation(train, path, target)
    notes, apart_path = table.notes, None
    if validation is not None:
        other = open_table(validation, decimal=decimal, missing=missing, header=header)
        held_out, apart_path = _validation_data(replace(whole, table=other)), other.path
    problem = Problem.of(train, target=target, validation=held_out)
    cells = table.cells
    problem = replace(problem, whole=whole if is_sampled else None, cells=tuple(cells[name] for name in names))
    return Measured(path, notes, problem, n_rows, time.perf_counter() - began, apart_path)


def _is_sampled(table: Table, n_features: int, sample: int | None) -> bool:
    """Return whether a sample of a table is searched: if the user asks for it, or if the table is large."""
    if sample is None:
        return table.n_rows is not None and table.n_rows * (1 + n_features) > LARGE
    if table.n_rows is None:
        only = "only Parquet and NumPy files are read in batches; save the table as one of these"
        raise DataError(f"{table.path}: a sample cannot be taken; {only}")
    return sample < table.n_rows


def _rng() -> np.random.Generator:
    """Return the generator of splits, which does not depend on the seed of the search, so that results compare."""
    return np.random.default_rng(SPLIT_SEED)


def _validation_data(whole: LargeTable) -> Data:
    """Return the rows of a validation file, or a sample of many."""
    table, sigma = whole.table, whole.sigma if whole.sigma in whole.table.names else None  # it may lack that column
    whole = replace(whole, sigma=sigma)
    if _is_sampled(table, len(whole.columns), None):
        numbers = whole.sample(MOST_HELD_OUT, held_out=0, parts=HELD_OUT_PARTS, rng=_rng()).searched
    else:
        wanted = _without_none(whole.target, *whole.columns, sigma)
        numbers = table.numbers(wanted, drop_missing=whole.drop_missing)
    if len(numbers) == 0:
        raise DataError(f"{table.path} has no rows of numbers; give at least 1 for validation")
    return _data(table, whole.target, whole.columns, sigma, numbers)


def _check_size(numbers: Numbers, path: Path, names: Sequence[str]) -> None:
    """Raise an error if there are too few rows."""
    if len(numbers) < LEAST_ROWS:
        count = "1 row" if len(numbers) == 1 else "no rows"
        raise DataError(f"{path} has {count} of numbers; give at least {LEAST_ROWS}, and better hundreds")
    if len(names) > len(numbers) and len(numbers) < FEW_ROWS:
        more = "give more rows, or choose fewer features"
        raise DataError(f"{path} has more variables ({len(names)}) than rows ({len(numbers)}); {more}")


def _data(table: Table, target: str, names: tuple[str, ...], sigma: str | None, numbers: Numbers) -> Data:
    """Return the data of target, features and standard errors, if any, in that order."""
    check_sigma(table, sigma, numbers)
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
        raise DataError(f"{path}: {constant}; choose another target")


def _features(
    table: Table, target: str, given: Sequence[str], sigma: str | None, excluded: Sequence[str]
) -> tuple[str, ...]:
    """Return the given columns; if none are given, all numeric ones except target, standard errors and excluded."""
    for each in excluded:
        if each not in table.names:
            hint = suggestion(each, table.names) or f"; it has {shortened(', '.join(table.names))}"
            raise DataError(f"{table.path} has no column {each!r} to exclude{hint}")
        if each in (*given, target, sigma):
            raise DataError(f"{each!r} is to be used and among those to exclude too; leave it out of one")
    others = [name for name in table.names if name not in (target, sigma, *excluded)]
    names = tuple(given) or table.without_text(others)
    twice = next((name for name in given if given.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"the features name {twice!r} twice; name it once")
    for role, name in (("target", target), ("sigma", sigma)):
        if name in names:
            raise DataError(f"{name!r} is the {role} and among the features too; leave it out of one")
    if sigma == target:
        raise DataError(f"{sigma!r} is the target and the sigma; give the column of its standard errors")
    return names


def _without_none(*names: str | None) -> tuple[str, ...]:
    return tuple(name for name in names if name is not None)
