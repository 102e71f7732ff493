"""Tables of text. `TextTable`: CSV and the like, with a header; `JsonLinesTable`: one JSON object per line."""

from __future__ import annotations

import codecs
import csv
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from edhie.arrays import Numbers
from edhie.errors import DataError, shortened
from edhie.evaluate.tables.decimals import COMMA, POINT, Use, is_any_number, is_number, uses_in
from edhie.evaluate.tables.rows import Row, RowTable
from edhie.evaluate.tables.table import Header, Source, checked_names

HEAD_BYTES = 4096  # that tell whether a file is text
CHUNK_BYTES = 1 << 20
HEAD_LINES = 100  # that tell the separator and the decimal mark
MOST_TITLES = 30  # lines, blank ones included
TAB_SUFFIXES = (".tsv", ".tab")
SEPARATORS = {";": "semicolons", "\t": "tabs"}
UTF_8, UTF_16, WINDOWS = "utf-8-sig", "utf-16", "cp1252"  # the last is what Excel writes as CSV in western countries
BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff")
NOT_TEXT = {
    b"\xd0\xcf\x11\xe0": "an old spreadsheet; save it as .xlsx or CSV",
    b"\x89HDF": "an HDF5 file; save its table as CSV or Parquet",
}
COMMENT = "#"


class TextTable(RowTable):
    """A text file; its encoding, separator and decimal mark follow from its name, first bytes and first rows."""

    def __init__(
        self,
        source: Source,
        *,
        decimal: str | None = None,
        missing: Sequence[float | str] = (),
        header: Header | None = None,
    ) -> None:
        super().__init__(source, missing)
        self._given_mark = decimal
        self._encoding = _encoding(source)
        with self._opened(self._encoding) as file:
            head = list(itertools.islice(file, HEAD_LINES))
            n_before = _lines_before_names(head)
            lines = [line for line in head[n_before:] if line.strip()]
            is_tabbed = source.suffix in TAB_SUFFIXES
            self.separator = "\t" if is_tabbed else _separator(lines[0] if lines else "")
            rows = csv.reader(lines[1:], delimiter=self.separator)
            uses = {use for row in rows for cell in row for use in uses_in(cell)}
        has_commas = Use.DECIMAL_COMMA in uses and Use.DECIMAL_POINT not in uses
        self.decimal = self._mark_at_first = COMMA if has_commas else POINT
        notes = {
            "is in UTF-16": self._encoding == UTF_16,
            "is not in UTF-8 and was read as Windows-1252": self._encoding == WINDOWS,
            f"has {SEPARATORS.get(self.separator)} between columns": self.separator in SEPARATORS and not is_tabbed,
            "begins with remarks": any(line.strip() for line in head[:n_before]),
            "has decimal commas": has_commas,
        }
        self.format_notes = tuple(note for note, is_true in notes.items() if is_true)
        with self._opened(self._encoding) as file:
            parsed = self._parsed(itertools.islice(file, n_before, None), n_before)
            self._names_line, names = next(parsed, (0, list[str]()))
        if names and names[0].startswith(COMMENT) and names[0] != COMMENT:  # as NumPy writes it
            names[0] = names[0].lstrip(COMMENT).strip()
        self.names = checked_names(source.path, names, header)
        if header == "no":
            self._names_line = n_before

    def _rows(self) -> Iterator[Row]:
        with self._opened(self._encoding) as file:
            for line, cells in self._parsed(itertools.islice(file, self._names_line, None), self._names_line):
                if len(cells) != len(self.names):
                    lengths = f"has {len(cells)} columns, the first {len(self.names)}"
                    is_split = self.separator == "," and len(cells) == 2 * len(self.names)
                    hint = ", and where commas stand in numbers write points" if is_split else ""
                    raise DataError(f"{self.path}, line {line} {lengths}; make them alike{hint}")
                yield line, cells

    def _simple_numbers(self, places: Sequence[int], marks: Sequence[str | None]) -> Numbers | None:
        """Read lines without quotes, with as many cells as names, by NumPy's reader."""
        has_commas = COMMA in marks
        try:
            with self._opened(self._encoding) as file:
                lines = self._simple_lines(itertools.islice(file, self._names_line, None), has_commas=has_commas)
                first = next(lines, None)
                if first is None or not places or (has_commas and set(marks) != {COMMA}):
                    return None
                lines = itertools.chain([first], lines)
                return np.loadtxt(lines, delimiter=self.separator, usecols=places, ndmin=2, comments=None)
        except ValueError:
            return None

    def _simple_lines(self, lines: Iterable[str], *, has_commas: bool) -> Iterator[str]:
        """Yield lines with decimal points; raise at a line that is not simple."""
        between = len(self.names) - 1
        for line in lines:
            if line.isspace():
                continue
            if '"' in line or line.count(self.separator) != between or (has_commas and POINT in line):
                raise ValueError(line)  # a point may separate thousands
            yield line.replace(COMMA, POINT) if has_commas else line

    def _parsed(self, lines: Iterable[str], before: int) -> Iterator[Row]:
        """Yield the rows of lines that are not blank; `before` is the number of lines above."""
        reader = csv.reader(lines, delimiter=self.separator)
        for cells in reader:
            if any(map(str.strip, cells)):
                yield before + reader.line_num, cells


def _encoding(source: Source) -> str:
    """Return UTF-8, UTF-16 where a byte order mark says so, or Windows-1252; raise for a file that is not text."""
    head = source.head(HEAD_BYTES)
    for start, what in NOT_TEXT.items():
        if head.startswith(start):
            raise DataError(f"{source.path} is no text but {what}")
    if head.startswith(BYTE_ORDER_MARKS):
        return UTF_16
    if 0 in head:
        raise DataError(f"{source.path} is no text: it holds bytes that no text has; give CSV, TSV, Excel or Parquet")
    return WINDOWS if not _is_decoded(source, UTF_8) and _is_decoded(source, WINDOWS) else UTF_8


def _is_decoded(source: Source, encoding: str) -> bool:
    """Return whether all bytes of a file are text in an encoding."""
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with source.open() as file:
            while part := file.read(CHUNK_BYTES):
                decoder.decode(part)
            decoder.decode(b"", final=True)
    except UnicodeError:
        return False
    return True


def _lines_before_names(lines: Sequence[str]) -> int:
    """Count the lines before the names: titles, and comments, except for the last one if numbers follow at once."""
    first = next((k for k, line in enumerate(lines) if line.strip() and not line.startswith(COMMENT)), None)
    if first is None:
        return 0
    if n_titles := _lines_of_titles(lines[first:]):
        return first + n_titles
    marked = [k for k in range(first) if lines[k].startswith(COMMENT)]
    cells = re.split(r"[,;\t]", lines[first].strip())
    return marked[-1] if marked and all(map(is_number, cells)) else first


def _lines_of_titles(lines: Sequence[str]) -> int:
    """Count the lines above the names in which only one cell is written; 0 unless a row of names is below them.

    >>> _lines_of_titles(["Probe 7;;", "", "time;rate;", "1;2;3"]), _lines_of_titles(["time;", "1;2"])
    (2, 0)
    """
    for count, line in enumerate(lines[:MOST_TITLES]):
        if line.count('"') % 2:  # a name with a line break
            return 0
        cells = min(
            (_written(line, each) for each in (*SEPARATORS, _separator(line)) if each in line), key=len, default=[line]
        )
        if len(cells) > 1:
            return 0 if any(map(is_any_number, cells)) else count
        if any(map(is_any_number, cells)):
            return 0
    return 0


def _written(line: str, separator: str) -> list[str]:
    return [cell for cell in next(csv.reader([line], delimiter=separator), []) if cell.strip()]


def _separator(header: str) -> str:
    """Return the comma, unless the header has none outside of quotes and has another separator."""
    if len(next(csv.reader([header]), [])) > 1:
        return ","
    return next((each for each in SEPARATORS if each in header), ",")


class JsonLinesTable(RowTable):
    """A file of JSON lines; the names are those of its first object, and may be missing in others."""

    is_sheet = False

    def __init__(self, source: Source, *, missing: Sequence[float | str] = ()) -> None:
        super().__init__(source, missing)
        first = next(self._objects(), (0, dict[str, Any]()))[1]
        self.names = checked_names(source.path, list(first))

    def _rows(self) -> Iterator[Row]:
        for line, found in self._objects():
            unknown = next((name for name in found if name.strip() not in self.names), None)
            if unknown is not None:
                raise DataError(f"{self.path}, line {line} has {unknown!r}, which the first line has not; add it there")
            by_name = {name.strip(): _cell(value) for name, value in found.items()}
            yield line, [by_name.get(name, "") for name in self.names]

    def _simple_numbers(self, places: Sequence[int], marks: Sequence[str | None]) -> None:
        return None

    def _objects(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the objects with their lines; their numbers are texts, as they are written."""
        with self._opened("utf-8-sig") as file:
            for line, text in enumerate(file, start=1):
                if not text.strip():
                    continue
                try:
                    found = json.loads(text, parse_float=str, parse_int=str, parse_constant=str)
                except (ValueError, RecursionError) as error:  # also of deep nesting
                    raise DataError(f"{self.path}, line {line} is no JSON: {error}; write an object per line") from None
                if not isinstance(found, dict):
                    raise DataError(f"{self.path}, line {line}: {shortened(text.strip(), 40)!r} is no JSON object")
                yield line, found


def _cell(value: Any) -> str:
    """Return a value as the text of a cell."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    return value if isinstance(value, str) else json.dumps(value)
