"""`Source`: the bytes of a file, compressed or not; `Table`: its named columns, whatever its format."""

from __future__ import annotations

import gzip
import io
import sys
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Literal, cast, final

import numpy as np

from edhie.archives import check_gzip
from edhie.arrays import Numbers
from edhie.errors import DataError, shortened, suggestion
from edhie.evaluate.tables.decimals import is_any_number, is_number
from edhie.expr.exports.excel import ROW, column_name
from edhie.safe_text import warn_of_lookalikes

Header = Literal["no", "mend"]
"""Reading of the first row: "no" if it holds no names; "mend" to name columns whose name is missing or taken."""
MISSING = frozenset(("", "na", "n/a", "#n/a", "null", "none"))  # in small letters
STANDARD_INPUT = "-"
GZIP = b"\x1f\x8b"
WHAT_NEXT = "fill in a number, or leave such rows out with --drop-missing (in Python drop_missing=True)"


class HeaderError(DataError):
    """The first row does not name each column."""

    def __init__(self, message: str, *, is_missing: bool = False) -> None:
        super().__init__(message)
        self.is_missing = is_missing
        """True if the first row is one of numbers, so that there are no names at all."""


class Source:
    """The bytes of a table, which can be read several times; those of a pipe are held in memory."""

    def __init__(self, path: Path) -> None:
        is_input = str(path) == STANDARD_INPUT
        self.path = Path("standard input") if is_input else path
        """The file, as messages name it."""
        self.suffix = Path(path.name.lower().removesuffix(".gz")).suffix
        self._content: bytes | None = None
        if is_input:
            self._content = sys.stdin.buffer.read()
        elif path.exists() and not path.is_file() and not path.is_dir():  # a pipe is empty when it is read again
            self._content = path.read_bytes()
        with self._opened() as file:
            self._is_compressed = file.read(len(GZIP)) == GZIP
            if self._is_compressed:
                try:
                    check_gzip(file)
                except ValueError as error:
                    raise DataError(f"{self.path} is not read: {error}") from error
        self.is_plain_file = self._content is None and not self._is_compressed
        """True if other readers can open the file by its path."""

    def open(self) -> BinaryIO:
        """Open the bytes, uncompressed."""
        if not self._is_compressed:
            return self._opened()
        return cast(BinaryIO, gzip.open(self.path if self._content is None else io.BytesIO(self._content)))

    def head(self, count: int) -> bytes:
        """Return the first bytes."""
        with self.open() as file:
            return file.read(count)

    def _opened(self) -> BinaryIO:
        return self.path.open("rb") if self._content is None else io.BytesIO(self._content)


class Missing:
    """Numbers and texts that stand for a missing value."""

    def __init__(self, given: Sequence[float | str]) -> None:
        texts = [str(each).strip().lower() for each in given]
        self.texts = MISSING | set(texts)
        self.numbers = frozenset(float(text) for text in texts if is_number(text))

    def matches(self, text: str) -> bool:
        """Return True if a cell of this text has no value."""
        text = text.strip()
        return text.lower() in self.texts or (bool(self.numbers) and is_number(text) and float(text) in self.numbers)

    def as_nan(self, numbers: Numbers) -> Numbers:
        """Return the numbers with NaN for those that stand for a missing value."""
        return np.where(np.isin(numbers, list(self.numbers)), np.nan, numbers) if self.numbers else numbers


class Table(ABC):
    """An open file with known, distinct column names; its numbers are read when asked for."""

    path: Path
    names: tuple[str, ...]
    """Names of the columns, in their order."""
    n_rows: int | None = None
    """The number of rows, if it is known before they are read and they can be read in batches; None otherwise."""
    separator: str = ","
    """Separator of columns where its rows are written as text."""
    decimal: str = "."
    """The decimal mark of the numbers that were read."""
    positions: tuple[int, ...] | None = None
    """Positions of the columns in a sheet, from 0; None if they are contiguous from the first."""
    is_sheet: bool = True
    """True if a line of the file is a row of the sheet that a spreadsheet shows."""
    format_notes: tuple[str, ...] = ()
    _left_out: tuple[str, ...] = ()
    _n_dropped: int = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the file without their subject, for the user; complete once numbers are read."""
        rows = (
            "1 row with a missing value, which is"
            if self._n_dropped == 1
            else f"{self._n_dropped:,} rows with missing values, which are"
        )
        dropped = (f"has {rows} left out",) if self._n_dropped else ()
        return (*self.format_notes, *self._left_out, *dropped)

    @property
    def cells(self) -> dict[str, str]:
        """The cell of each column in the first row of data, such as B2, where the table is a sheet."""
        row = self.line_of(0) if self.is_sheet else ROW
        places = range(len(self.names)) if self.positions is None else self.positions
        return {name: f"{column_name(place)}{row}" for name, place in zip(self.names, places, strict=True)}

    @abstractmethod
    def texts(self) -> Iterator[list[str]]:
        """Yield the rows below the names as text, without blank ones."""

    @abstractmethod
    def line_of(self, row: int) -> int:
        """Return the line of a row, as people count them in the file; `row` is counted from 0."""

    @abstractmethod
    def written_step(self, name: str) -> float | None:
        """Return the last decimal place that a column is written to, such as 0.01; None if it is not known."""

    @abstractmethod
    def _read(self, chosen: Sequence[str], *, with_gaps: bool) -> Iterator[Numbers]:
        """Yield the columns of these names, which exist, batch by batch of rows."""

    @abstractmethod
    def _is_text(self, names: Sequence[str]) -> list[bool]:
        """Return True for each column in which most values of the first rows are not numbers."""

    @final
    def batches(
        self, chosen: Sequence[str], *, with_gaps: bool = False, drop_missing: bool = False
    ) -> Iterator[Numbers]:
        """Yield the columns of these names, of shape (rows, columns), in batches; other columns may hold anything.

        Files of text and Excel files are one batch. With gaps, missing values and numbers that are not finite are NaN;
        with `drop_missing`, rows that have one in these columns are left out. Otherwise they raise an error with their
        place.
        """
        for name in chosen:
            if name not in self.names:
                is_other = len(self.names) == 1 and any(each in self.names[0] for each in ";\t| ")
                advice = "; separate columns by commas" if is_other else ""
                hint = suggestion(name, self.names) or f"; it has {shortened(', '.join(self.names))}{advice}"
                raise DataError(f"{self.path} has no column {name!r}{hint}")
        n_dropped = 0
        for found in self._read(chosen, with_gaps=with_gaps or drop_missing):
            whole = np.isfinite(found).all(axis=1) if drop_missing else None
            if whole is not None and not whole.all():
                n_dropped += len(found) - int(whole.sum())
                yield found[whole]
            else:
                yield found
        if drop_missing:
            self._n_dropped = n_dropped

    @final
    def numbers(self, chosen: Sequence[str], *, with_gaps: bool = False, drop_missing: bool = False) -> Numbers:
        """Return the columns of these names, of shape (rows, columns), as `batches` yields them."""
        parts = list(self.batches(chosen, with_gaps=with_gaps, drop_missing=drop_missing))
        return parts[0] if len(parts) == 1 else np.concatenate([np.empty((0, len(chosen))), *parts])

    @final
    def without_text(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the columns that hold numbers; those of text or dates are noted, and left out."""
        is_text = dict(zip(names, self._is_text(names), strict=True))
        texts = [name for name in names if is_text[name]]
        if texts:
            kinds = "a column of text or dates, which is" if len(texts) == 1 else "columns of text or dates, which are"
            listed = shortened(", ".join(map(repr, texts)))
            self._left_out = (*self._left_out, f"has {kinds} left out: {listed}")
        return tuple(name for name in names if not is_text[name])


def checked_names(path: Path, names: Sequence[str], header: Header | None = None) -> tuple[str, ...]:
    """Return the stripped names of columns; raise unless all are given and different, or made so by `header`."""
    names = tuple(name.strip() for name in names)
    if header == "no":
        names = tuple(f"x{k + 1}" for k in range(len(names)))
    elif header == "mend":
        names = _mended(names)
    if not names:
        raise DataError(f"{path} is empty; write a row of names, then one row of numbers per measurement")
    must = f"{path}: the first row must name each column"
    if all(map(is_any_number, names)):
        only = f"and it holds only numbers ({shortened(', '.join(names), 40)}); write names above it"
        raise HeaderError(f"{must}, {only}", is_missing=True)
    if "" in names:
        raise HeaderError(f"{must}, and column {names.index('') + 1} has no name; write one, or remove the column")
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise HeaderError(f"{must} differently, and {name!r} is there {count} times; rename all but one")
    # surrogates of UTF-16, which JSON may contain alone
    if half := next((name for name in names if any("\ud800" <= letter <= "\udfff" for letter in name)), None):
        raise DataError(f"{path}: the name {half!r} holds half a character, which cannot be saved; rename the column")
    warn_of_lookalikes(path, names)
    return names


def _mended(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names, with others for those that are empty or there already.

    >>> _mended(["", "a", "a"])
    ('column_1', 'a', 'a_2')
    """
    found: dict[str, None] = {}
    counts: Counter[str] = Counter()
    for place, name in enumerate(names, start=1):
        name = stem = name or f"column_{place}"
        while name in found:
            counts[stem] += 1
            name = f"{stem}_{counts[stem] + 1}"
        found[name] = None
    return tuple(found)
