"""`RowTable`: a table of texts, row by row; errors name the line of a cell that is not right."""

from __future__ import annotations

import csv
import io
import itertools
import math
import zlib
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TextIO

import numpy as np

from edhie.arrays import Numbers
from edhie.errors import DataError, shortened
from edhie.evaluate.tables.decimals import (
    COMMA,
    POINT,
    Seen,
    Use,
    decimal_marks,
    decimals_in,
    is_any_number,
    is_number,
    parse_number,
    survey,
)
from edhie.evaluate.tables.table import WHAT_NEXT, Missing, Source, Table

CHUNK = 10_000  # rows that are held as texts
SAMPLE = 2000  # rows that tell how many decimals are written, and which columns hold text
THOUSANDS = frozenset((Use.COMMA_GROUPS, Use.POINT_GROUPS, Use.BLANK_GROUPS))


Row = tuple[int, list[str]]
"""The line that a row ends in, and its cells; a plain tuple, since there are many."""


class RowTable(Table):
    """A table whose cells are texts."""

    _given_mark: str | None = None
    """The decimal mark that the user named."""
    _mark_at_first: str = POINT
    """The decimal mark of the first rows, all columns together; columns that are read are judged by all cells."""

    def __init__(self, source: Source, missing: Sequence[float | str]) -> None:
        self.path = source.path
        self._source = source
        self._missing = Missing(missing)

    @abstractmethod
    def _rows(self) -> Iterator[Row]:
        """Yield the rows below the names, without blank ones, each with a cell for every name."""

    @abstractmethod
    def _simple_numbers(self, places: Sequence[int], marks: Sequence[str | None]) -> Numbers | None:
        """Return the columns by a fast reader; None where it cannot read a cell."""

    def texts(self) -> Iterator[list[str]]:
        """Yield the rows below the names as text, without blank ones."""
        for _, cells in self._rows():
            yield cells

    def line_of(self, row: int) -> int:
        """Return the line of the file that a row ends in."""
        return next(itertools.islice(self._rows(), row, None))[0]

    def written_step(self, name: str) -> float | None:
        """Return the last decimal place of the first rows, trailing zeros included."""
        (cells,) = self._samples([name])
        places = [decimals_in(text, self.decimal) for text in cells]
        return float(f"1e{-max(places)}") if places else None

    def _is_text(self, names: Sequence[str]) -> list[bool]:
        return [2 * sum(not is_any_number(cell) for cell in cells) > len(cells) for cells in self._samples(names)]

    def _samples(self, names: Sequence[str]) -> list[list[str]]:
        """Return the cells of each column in the first rows, without missing values."""
        rows = list(itertools.islice(self.texts(), SAMPLE))
        columns = ([row[self.names.index(name)] for row in rows] for name in names)
        return [[cell for cell in cells if not self._missing.matches(cell)] for cells in columns]

    def _read(self, chosen: Sequence[str], *, with_gaps: bool) -> Iterator[Numbers]:
        yield self._read_all(chosen, with_gaps=with_gaps)

    def _read_all(self, chosen: Sequence[str], *, with_gaps: bool) -> Numbers:
        places = [self.names.index(name) for name in chosen]
        if self._given_mark is not None:
            self.decimal = self._given_mark
            return self._numbers(places, [self._given_mark] * len(places), with_gaps=with_gaps)
        if self._mark_at_first == POINT:
            with suppress(DataError):  # if the usual form does not fit, all cells are looked at
                return self._numbers(places, [None] * len(places), with_gaps=with_gaps)
        return self._numbers(places, self._marks(places), with_gaps=with_gaps)

    def _marks(self, places: Sequence[int]) -> Sequence[str]:
        """Return the decimal marks of columns, judged by all of their cells."""
        columns: list[tuple[str, Seen]] = [(self.names[place], {}) for place in places]
        for rows in self._chunks():
            for place, (_, seen) in zip(places, columns, strict=True):
                survey((cells[place] for _, cells in rows), (line for line, _ in rows), seen)
        marks = decimal_marks(columns, self.path, at_first=self._mark_at_first)
        self.decimal = COMMA if COMMA in marks else POINT
        notes = dict.fromkeys(self.format_notes)
        notes |= {"has decimal commas": None} if self.decimal == COMMA else {}
        notes |= {"has thousands separators": None} if any(THOUSANDS & set(seen) for _, seen in columns) else {}
        self.format_notes = tuple(notes)
        return marks

    def _numbers(self, places: Sequence[int], marks: Sequence[str | None], *, with_gaps: bool) -> Numbers:
        """Read columns, each with its decimal mark; without one, numbers are as Python writes them."""
        simple = self._simple_numbers(places, marks)
        if simple is not None and np.isfinite(found := self._missing.as_nan(simple)).all():
            return found
        chosen, parts = list(zip(places, marks, strict=True)), [np.empty((0, len(places)))]
        for rows in self._chunks():
            part = [[self._number(row, place, mark, with_gaps=with_gaps) for place, mark in chosen] for row in rows]
            parts.append(np.array(part).reshape(len(rows), len(places)))
        return np.concatenate(parts)

    def _chunks(self) -> Iterator[list[Row]]:
        rows = self._rows()
        while some := list(itertools.islice(rows, CHUNK)):
            yield some

    def _number(self, row: Row, place: int, mark: str | None, *, with_gaps: bool) -> float:
        cell = row[1][place].strip()
        number = parse_number(cell, mark) if mark is not None else float(cell) if is_number(cell) else None
        is_missing = number in self._missing.numbers or self._missing.matches(cell)
        if number is not None and math.isfinite(number) and not is_missing:
            return number
        if with_gaps and (number is not None or is_missing):
            return math.nan
        name, where = self.names[place], f"{self.path}, line {row[0]}"
        if is_missing:
            what = "is empty" if not cell else f"has no value ({shortened(cell, 40)})"
            raise DataError(f"{where}: column {name!r} {what}; {WHAT_NEXT}")
        if number is None:
            what = "a number" if self._given_mark is None else f"a number with the decimal mark {self._given_mark!r}"
            what_next = f"choose other columns, or turn column {name!r} into numbers"
            raise DataError(f"{where}: {shortened(cell, 40)!r} is not {what}; {what_next}")
        raise DataError(f"{where} holds a number that is not finite: {cell} in column {name!r}; {WHAT_NEXT}")

    @contextmanager
    def _opened(self, encoding: str) -> Iterator[TextIO]:
        """Open the text, with its own line ends; turn errors of reading into a `DataError`."""
        try:
            with io.TextIOWrapper(self._source.open(), encoding=encoding, newline="") as file:
                yield file
        except UnicodeError as error:
            raise DataError(f"{self.path} cannot be read: {error}; save it as CSV in UTF-8") from error
        except (csv.Error, EOFError, zlib.error) as error:
            raise DataError(f"{self.path} cannot be read: {error}") from error
