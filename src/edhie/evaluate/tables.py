"""CSV files of numbers: a row of names, then one row a measurement; what is wrong is told with its line."""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edhie.errors import DataError, shortened, suggestion

CHUNK = 10_000  # rows that are held as texts
Row = tuple[int, list[str]]  # with the number of its line


def column_names(path: Path) -> tuple[str, ...]:
    """The names in a file's first row, each once."""
    _, cells = next(_rows(path), (0, []))
    names = tuple(cell.strip() for cell in cells)
    if not names:
        raise DataError(f"{path} is empty; write a row of names, then one row of numbers a measurement")
    must = f"{path}: the first row must name each column"
    if all(map(_is_number, names)):
        raise DataError(f"{must}, and it holds only numbers ({shortened(', '.join(names), 40)}); write names above it")
    if "" in names:
        raise DataError(f"{must}, and column {names.index('') + 1} has no name; write one, or remove the column")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"{must} differently, and {twice!r} is there {names.count(twice)} times; rename all but one")
    return names


def read_numbers(path: Path, chosen: Sequence[str]) -> NDArray[np.float64]:
    """The columns of these names, of shape (rows, columns); what stands in others does not matter."""
    names = column_names(path)
    for name in chosen:
        if name not in names:
            hint = suggestion(name, names) or f"; it has {shortened(', '.join(names))}{_other_separator(names)}"
            raise DataError(f"{path} has no column {name!r}{hint}")
    places = [names.index(name) for name in chosen]
    below = itertools.islice(_rows(path), 1, None)
    parts = []
    while rows := list(itertools.islice(below, CHUNK)):
        for line, row in rows:
            if len(row) != len(names):
                raise DataError(f"{path}, line {line} has {len(row)} columns, the first {len(names)}; make them alike")
        cells = [(line, [row[place] for place in places]) for line, row in rows]
        parts.append(_numbers(path, cells, chosen))
    return np.concatenate(parts) if parts else np.empty((0, len(chosen)))


def _rows(path: Path) -> Iterator[Row]:
    """The rows that are not blank."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            for row in reader:
                if any(map(str.strip, row)):
                    yield reader.line_num, row
    except FileNotFoundError:
        raise DataError(f"there is no file {path}") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path} cannot be read: {error}; save it as CSV in UTF-8") from error
    except (OSError, csv.Error) as error:
        raise DataError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error


def _numbers(path: Path, rows: Sequence[Row], names: Sequence[str]) -> NDArray[np.float64]:
    try:
        table = np.array([[float(cell) for cell in cells] for _, cells in rows])
        if np.isfinite(table).all():
            return table
    except ValueError:
        pass  # it is found below
    for line, cells in rows:
        for cell, name in zip(cells, names, strict=True):
            _check_cell(f"{path}, line {line}", cell, name)
    raise AssertionError("a cell was no finite number, and now all are")


def _check_cell(place: str, cell: str, name: str) -> None:
    if not cell.strip():
        raise DataError(f"{place}: column {name!r} is empty; drop such rows or fill them")
    if not _is_number(cell):
        what_next = f"choose other columns, or turn column {name!r} into numbers"
        raise DataError(f"{place}: {shortened(cell, 40)!r} is not a number; {what_next}")
    if not math.isfinite(float(cell)):
        number = f"a number that is not finite: {cell.strip()} in column {name!r}"
        raise DataError(f"{place} holds {number}; drop such rows or fill them")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _other_separator(names: Sequence[str]) -> str:
    """A hint for tables whose columns are not separated by commas."""
    is_other = len(names) == 1 and any(each in names[0] for each in ";\t|")
    return "; separate columns by commas" if is_other else ""
