"""`TextTable`: CSV and the like, a row of names, then one row for each measurement; errors name the line."""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, TextIO

import numpy as np

from edhie.errors import DataError, shortened
from edhie.evaluate.tables.decimals import COMMA, POINT, Seen, Use, decimal_marks, decimals_in, parse_number, survey
from edhie.evaluate.tables.table import Numbers, Table, checked_names, is_number
from edhie.evaluate.tables.text_format import COMMENT, detect_format

CHUNK = 10_000  # rows that are held as texts
SAMPLE = 2000  # rows that tell how many decimals are written
THOUSANDS = frozenset((Use.COMMA_GROUPS, Use.POINT_GROUPS, Use.BLANK_GROUPS))


class _Row(NamedTuple):
    """The cells of a row, and the line that it ends in."""

    line: int
    cells: list[str]


class TextTable(Table):
    """A text file."""

    def __init__(self, path: Path, *, decimal: str | None = None) -> None:
        self.path = path
        self._given = decimal
        with _as_data_error(path):
            self._format = detect_format(path)
            self.separator, self.decimal = self._format.separator, self._format.decimal
            n_before = self._format.n_before_names
            with self._opened() as file:
                first = next(self._parsed(itertools.islice(file, n_before, None), n_before), _Row(0, []))
        self._names_line = first.line
        self.names = checked_names(path, _unmarked(first.cells))
        self._note(set())

    def texts(self) -> Iterator[list[str]]:
        """Yield the rows below the names as text, without blank ones."""
        with _as_data_error(self.path), self._opened() as file:
            self._skip_names(file)
            for row in self._checked(self._parsed(file, self._names_line)):
                yield row.cells

    def written_step(self, name: str) -> float | None:
        """Return the last decimal place of the first rows, trailing zeros included."""
        place = self.names.index(name)
        texts = [row[place] for row in itertools.islice(self.texts(), SAMPLE)]
        places = [decimals_in(text, self.decimal) for text in texts if text.strip()]
        return float(f"1e{-max(places)}") if places else None

    def _read(self, chosen: Sequence[str], *, with_gaps: bool) -> Numbers:
        places = [self.names.index(name) for name in chosen]
        with _as_data_error(self.path):
            if self._given is not None:
                self.decimal = self._given
                return self._numbers(places, [self._given] * len(places), with_gaps=with_gaps)
            if self._format.decimal == POINT:
                with suppress(DataError):  # if the usual form does not fit, all cells are looked at
                    return self._numbers(places, None, with_gaps=with_gaps)
            return self._numbers(places, self._marks(places), with_gaps=with_gaps)

    def _marks(self, places: Sequence[int]) -> tuple[str, ...]:
        """Return the decimal marks of columns, judged by all of their cells."""
        columns: list[tuple[str, Seen]] = [(self.names[place], {}) for place in places]
        with self._opened() as file:
            self._skip_names(file)
            # rows of another length raise where numbers are read
            rows = (row for row in self._parsed(file, self._names_line) if len(row.cells) == len(self.names))
            while some := list(itertools.islice(rows, CHUNK)):
                for place, (_, seen) in zip(places, columns, strict=True):
                    survey((row.cells[place] for row in some), (row.line for row in some), seen)
        marks = decimal_marks(columns, self.path, at_first=self._format.decimal)
        self.decimal = COMMA if COMMA in marks else POINT
        self._note({use for _, seen in columns for use in seen})
        return marks

    def _note(self, seen: set[Use]) -> None:
        commas = ("has decimal commas",) if self.decimal == COMMA else ()
        thousands = ("has thousands separators",) if seen & THOUSANDS else ()
        self.notes = (*self._format.notes, *commas, *thousands)

    def _numbers(self, places: Sequence[int], marks: Sequence[str] | None, *, with_gaps: bool) -> Numbers:
        """Read columns, each with its decimal mark; without marks numbers are as Python writes them."""
        with self._opened() as file:
            self._skip_names(file)
            parts = list(self._parts(file, places, marks, with_gaps=with_gaps))
        return np.concatenate(parts) if parts else np.empty((0, len(places)))

    def _parts(
        self, file: TextIO, places: Sequence[int], marks: Sequence[str] | None, *, with_gaps: bool
    ) -> Iterator[Numbers]:
        """Yield the numbers, some lines at a time."""
        before = self._names_line
        while lines := list(itertools.islice(file, CHUNK)):
            if any('"' in line for line in lines):  # between quotes a line may end, so no part of the file is whole
                rows = self._checked(self._parsed(itertools.chain(lines, file), before))
                while some := list(itertools.islice(rows, CHUNK)):
                    yield self._by_row(some, places, marks, with_gaps=with_gaps)
                return
            numbers = self._at_once(lines, places, marks)
            if numbers is None:
                some = list(self._checked(self._parsed(lines, before)))
                numbers = self._by_row(some, places, marks, with_gaps=with_gaps)
            yield numbers
            before += len(lines)

    # -- rows -----------------------------------------------------------------------------

    def _opened(self) -> TextIO:
        return self.path.open(encoding=self._format.encoding, newline="")

    def _skip_names(self, file: TextIO) -> None:
        for _ in itertools.islice(file, self._names_line):
            pass

    def _parsed(self, lines: Iterable[str], before: int) -> Iterator[_Row]:
        """Yield the rows of lines that are not blank; `before` is the number of lines above."""
        reader = csv.reader(lines, delimiter=self.separator)
        for cells in reader:
            if any(map(str.strip, cells)):
                yield _Row(before + reader.line_num, cells)

    def _checked(self, rows: Iterable[_Row]) -> Iterator[_Row]:
        """Yield rows that are as long as that of the names; raise at others."""
        for row in rows:
            if len(row.cells) != len(self.names):
                lengths = f"has {len(row.cells)} columns, the first {len(self.names)}"
                is_split = self.separator == "," and len(row.cells) == 2 * len(self.names)
                hint = ", and where commas stand in numbers write points" if is_split else ""
                raise DataError(f"{self.path}, line {row.line} {lengths}; make them alike{hint}")
            yield row

    # -- numbers --------------------------------------------------------------------------

    def _at_once(self, lines: Sequence[str], places: Sequence[int], marks: Sequence[str] | None) -> Numbers | None:
        """Read lines without quotes by NumPy's reader; return None if that fails."""
        lines = [line for line in lines if not line.isspace()]
        between = len(self.names) - 1
        if not lines or not places or any(line.count(self.separator) != between for line in lines):
            return None
        if marks is not None and COMMA in marks:
            if POINT in marks or any(POINT in line for line in lines):  # which may separate thousands
                return None
            lines = [line.replace(COMMA, POINT) for line in lines]
        try:
            numbers = np.loadtxt(lines, delimiter=self.separator, usecols=places, ndmin=2, comments=None)
        except ValueError:
            return None
        return numbers if np.isfinite(numbers).all() else None

    def _by_row(
        self, rows: Sequence[_Row], places: Sequence[int], marks: Sequence[str] | None, *, with_gaps: bool
    ) -> Numbers:
        chosen = list(zip(places, itertools.repeat(None) if marks is None else marks, strict=False))
        cells = [[self._number(row, place, mark, with_gaps=with_gaps) for place, mark in chosen] for row in rows]
        return np.array(cells, dtype=np.float64).reshape(len(rows), len(places))

    def _number(self, row: _Row, place: int, mark: str | None, *, with_gaps: bool) -> float:
        cell, name, where = row.cells[place], self.names[place], f"{self.path}, line {row.line}"
        is_empty = not cell.strip()
        number = math.nan if is_empty else _plain(cell) if mark is None else parse_number(cell, mark)
        if number is None:
            what = "a number" if self._given is None else f"a number with the decimal mark {self._given!r}"
            what_next = f"choose other columns, or turn column {name!r} into numbers"
            raise DataError(f"{where}: {shortened(cell, 40)!r} is not {what}; {what_next}")
        if math.isfinite(number):
            return number
        if with_gaps:
            return math.nan
        if is_empty:
            raise DataError(f"{where}: column {name!r} is empty; drop such rows or fill them")
        what = f"a number that is not finite: {cell.strip()} in column {name!r}"
        raise DataError(f"{where} holds {what}; drop such rows or fill them")


def _plain(text: str) -> float | None:
    """Return the number as Python reads it, without thousands separators; None if it is not one."""
    return float(text) if is_number(text) else None


def _unmarked(names: list[str]) -> list[str]:
    """Return the names without a leading comment mark, which NumPy writes."""
    is_marked = bool(names) and names[0].startswith(COMMENT) and names[0] != COMMENT
    return [names[0].lstrip(COMMENT).strip(), *names[1:]] if is_marked else names


@contextmanager
def _as_data_error(path: Path) -> Iterator[None]:
    """Turn errors of reading into a `DataError`."""
    try:
        yield
    except UnicodeError as error:
        raise DataError(f"{path} cannot be read: {error}; save it as CSV in UTF-8") from error
    except csv.Error as error:
        raise DataError(f"{path} cannot be read: {error}") from error
