"""`RowTable`: a table of texts, row by row; errors name the line of a cell that is not right."""

from __future__ import annotations

import csv
import itertools
import math
import zlib
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple, TextIO

import numpy as np

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
from edhie.evaluate.tables.source import Source
from edhie.evaluate.tables.table import WHAT_NEXT, Missing, Numbers, Table

CHUNK = 10_000  # rows that are held as texts
SAMPLE = 2000  # rows that tell how many decimals are written, and which columns hold text
THOUSANDS = frozenset((Use.COMMA_GROUPS, Use.POINT_GROUPS, Use.BLANK_GROUPS))


class Row(NamedTuple):
    """The cells of a row, and the line that it ends in."""

    line: int
    cells: list[str]


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

    def texts(self) -> Iterator[list[str]]:
        """Yield the rows below the names as text, without blank ones."""
        for row in self._rows():
            yield row.cells

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

    # -- numbers --------------------------------------------------------------------------

    def _read(self, chosen: Sequence[str], *, with_gaps: bool) -> Numbers:
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
                survey((row.cells[place] for row in rows), (row.line for row in rows), seen)
        marks = decimal_marks(columns, self.path, at_first=self._mark_at_first)
        self.decimal = COMMA if COMMA in marks else POINT
        notes = dict.fromkeys(self.format_notes)
        notes |= {"has decimal commas": None} if self.decimal == COMMA else {}
        notes |= {"has thousands separators": None} if any(THOUSANDS & set(seen) for _, seen in columns) else {}
        self.format_notes = tuple(notes)
        return marks

    def _numbers(self, places: Sequence[int], marks: Sequence[str | None], *, with_gaps: bool) -> Numbers:
        """Read columns, each with its decimal mark; without one, numbers are as Python writes them."""
        parts = [np.empty((0, len(places)))]
        for rows in self._chunks():
            part = np.empty((len(rows), len(places)))
            for k, (place, mark) in enumerate(zip(places, marks, strict=True)):
                found = self._at_once([row.cells[place] for row in rows], mark)
                if found is None:
                    found = np.array([self._number(row, place, mark, with_gaps=with_gaps) for row in rows])
                part[:, k] = found
            parts.append(part)
        return np.concatenate(parts)

    def _chunks(self) -> Iterator[list[Row]]:
        rows = self._rows()
        while some := list(itertools.islice(rows, CHUNK)):
            yield some

    def _at_once(self, cells: list[str], mark: str | None) -> Numbers | None:
        """Return the numbers of many cells; None where one of them is missing, or in no simple form."""
        if mark == COMMA:
            if any(POINT in cell for cell in cells):  # which may separate thousands
                return None
            cells = [cell.replace(COMMA, POINT) for cell in cells]
        try:
            found = self._missing.as_nan(np.array(list(map(float, cells))))
        except ValueError:
            return None
        return found if np.isfinite(found).all() else None

    def _number(self, row: Row, place: int, mark: str | None, *, with_gaps: bool) -> float:
        cell, name, where = row.cells[place].strip(), self.names[place], f"{self.path}, line {row.line}"
        is_missing = self._missing.matches(cell)
        if is_missing:
            number: float | None = math.nan
        elif mark is None:
            number = float(cell) if is_number(cell) else None
        else:
            number = parse_number(cell, mark)
        if number is None:
            what = "a number" if self._given_mark is None else f"a number with the decimal mark {self._given_mark!r}"
            what_next = f"choose other columns, or turn column {name!r} into numbers"
            raise DataError(f"{where}: {shortened(cell, 40)!r} is not {what}; {what_next}")
        is_missing = is_missing or number in self._missing.numbers
        if math.isfinite(number) and not is_missing:
            return number
        if with_gaps:
            return math.nan
        if is_missing:
            what = "is empty" if not cell else f"has no value ({shortened(cell, 40)})"
            raise DataError(f"{where}: column {name!r} {what}; {WHAT_NEXT}")
        raise DataError(f"{where} holds a number that is not finite: {cell} in column {name!r}; {WHAT_NEXT}")

    @contextmanager
    def _opened(self, encoding: str) -> Iterator[TextIO]:
        """Open the text; turn errors of reading into a `DataError`."""
        try:
            with self._source.open_text(encoding) as file:
                yield file
        except UnicodeError as error:
            raise DataError(f"{self.path} cannot be read: {error}; save it as CSV in UTF-8") from error
        except (csv.Error, EOFError, zlib.error) as error:
            raise DataError(f"{self.path} cannot be read: {error}") from error
