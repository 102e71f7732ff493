"""Columns of a table: their numbers, and the cells that are missing or no numbers."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from edhie.arrays import Numbers
from edhie.errors import DataError
from edhie.evaluate.tables import Table
from edhie.evaluate.tables.decimals import is_number, parse_number
from edhie.evaluate.tables.rows import RowTable
from edhie.evaluate.tables.table import Missing
from edhie.safe_text import from_line
from edhie.studio.answers.reading import finite, finites

BINS = 20
MOST_GAPPY = 60  # columns with gaps whose common gaps are counted
CHUNK = 10_000  # rows that are held as texts


@dataclass
class Column:
    """Facts about a column."""

    name: str
    values: Numbers | None = None
    """Its numbers, NaN where there is none; None for a column of text."""
    n_missing: int = 0
    others: Counter[str] = field(default_factory=Counter)
    """Cells that are no numbers, and how often they are there."""
    first_missing: int | None = None
    """Its first row without a value, counted from 0."""
    first_other: tuple[int, str] | None = None
    is_odd: bool = False
    """True if some cell is not missing and no number as Python writes it."""

    def set_numbers(self, values: Numbers) -> None:
        """Take numbers, NaN where there is none, in place of all that was known."""
        gaps = np.flatnonzero(~np.isfinite(values))
        self.n_missing, self.first_missing = len(gaps), int(gaps[0]) if len(gaps) else None
        self.others, self.first_other, self.values = Counter(), None, values

    @cached_property
    def distinct(self) -> int:
        """The number of its different values; to be asked when all of them are read."""
        return len(self.others) if self.values is None else len(np.unique(self.values[np.isfinite(self.values)]))

    @property
    def kind(self) -> str:
        """`number`, `text` or `empty`."""
        if self.values is None:
            return "text" if self.others else "empty"
        return "number" if np.isfinite(self.values).any() else "empty"

    @property
    def is_constant(self) -> bool:
        """True for numbers that are all the same."""
        return self.kind == "number" and self.distinct == 1

    def as_json(self) -> dict[str, Any]:
        """Return its type, range and histogram."""
        found: dict[str, Any] = {
            "name": self.name, "kind": self.kind, "n_missing": self.n_missing, "n_other": self.others.total(),
            "min": None, "max": None, "mean": None, "distinct": self.distinct, "is_constant": self.is_constant,
            "histogram": None,
        }  # fmt: skip
        if self.values is None or self.kind != "number":
            return found
        numbers = self.values[np.isfinite(self.values)]
        with np.errstate(all="ignore"):
            low, high = float(numbers.min()), float(numbers.max())
            found |= {"min": low, "max": high, "mean": finite(numbers.mean())}
            if np.isfinite(high - low):
                counts, edges = np.histogram(numbers, BINS if high > low else 1)
                found["histogram"] = {"edges": finites(edges), "counts": counts.tolist()}
        return found


def read_columns(
    table: Table, options: dict[str, Any], *, only: Sequence[str] | None = None
) -> tuple[list[Column], list[str]]:
    """Return the columns, and messages about numbers that can be read in two ways."""
    names = list(table.names if only is None else dict.fromkeys(only))
    numeric = table.without_text(names)
    columns = {name: Column(name) for name in names}
    numbers, others = [columns[name] for name in numeric], [columns[name] for name in names if name not in numeric]
    if isinstance(table, RowTable):
        _read_cells(table, [*numbers, *others], set(numeric), options)
        return list(columns.values()), _read_by_the_reader(table, [each for each in numbers if each.is_odd])
    faults = _read_by_the_reader(table, numbers)
    unread = [each for each in numbers if each.values is None]
    _read_cells(table, [*unread, *others], set(numeric), options)
    return list(columns.values()), faults


def gaps_of(columns: Sequence[Column]) -> list[dict[str, Any]] | None:
    """Return which columns lack a number together, and in how many rows; None if very many columns have gaps."""
    found = [each for each in columns if each.values is not None and each.n_missing + each.others.total() > 0]
    if len(found) > MOST_GAPPY:
        return None
    marks = np.zeros(max((len(each.values) for each in found if each.values is not None), default=0), np.int64)
    for k, each in enumerate(found):
        marks |= (~np.isfinite(np.asarray(each.values))).astype(np.int64) << k
    kinds, counts = np.unique(marks[marks > 0], return_counts=True)
    return [
        {"columns": [each.name for k, each in enumerate(found) if kind >> k & 1], "rows": rows}
        for kind, rows in zip(kinds.tolist(), counts.tolist(), strict=True)
    ]


def _read_by_the_reader(table: Table, columns: Sequence[Column]) -> list[str]:
    """Read columns as the command does, which knows thousands separators; leave them alone if it cannot.

    Returns messages about numbers that can be read in two ways.
    """
    if not columns:
        return []
    try:
        numbers = table.numbers([each.name for each in columns], with_gaps=True)
    except DataError as error:
        is_told = "can mean" in str(error) or "write all numbers" in str(error)
        return [str(error)] if is_told else []
    for k, column in enumerate(columns):
        column.set_numbers(numbers[:, k])
    return []


def _read_cells(table: Table, columns: Sequence[Column], numeric: set[str], options: dict[str, Any]) -> None:
    """Read columns by their cells, to find those that are no numbers."""
    if not columns:
        return
    missing = Missing(from_line(options.get("missing", "")))
    mark = options.get("decimal") or table.decimal
    places = [table.names.index(each.name) for each in columns]
    parts: list[list[Numbers]] = [[] for _ in columns]
    texts, start = table.texts(), 0
    while rows := list(itertools.islice(texts, CHUNK)):
        for column, place, into in zip(columns, places, parts, strict=True):
            into.append(_numbers_in([row[place] for row in rows], start, column, missing, mark))
        start += len(rows)
    for column, found in zip(columns, parts, strict=True):
        if column.name in numeric:
            column.values = np.concatenate([np.empty(0), *found])


def _numbers_in(cells: Sequence[str], start: int, column: Column, missing: Missing, mark: str) -> Numbers:
    """Return the numbers of cells, NaN where there is none; note what is missing, and what is no number."""
    with suppress(ValueError):  # compiled code reads cells that all are numbers as Python writes them
        found = missing.as_nan(np.array(cells, dtype=np.float64))
        if np.isfinite(found).all():
            return found
    found = np.full(len(cells), np.nan)
    for k, cell in enumerate(map(str.strip, cells)):
        number = None if missing.matches(cell) else parse_number(cell, mark)
        if number is not None:
            found[k] = number
            column.is_odd = column.is_odd or not is_number(cell)
        if number is None and not missing.matches(cell):
            column.is_odd = True
            column.others[cell] += 1
            column.first_other = column.first_other or (start + k, cell)
        elif not np.isfinite(found[k]):
            column.n_missing += 1
            column.first_missing = start + k if column.first_missing is None else column.first_missing
    return found
