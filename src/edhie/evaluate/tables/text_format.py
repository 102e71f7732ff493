"""The format of a text of numbers: encoding, separator of columns, decimal mark of the first rows."""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from edhie.errors import DataError
from edhie.evaluate.tables.decimals import COMMA, POINT, Use, uses_in
from edhie.evaluate.tables.table import is_number

HEAD_BYTES = 4096  # that tell the encoding
HEAD_LINES = 100  # that tell the separator and the decimal mark
TAB_SUFFIXES = (".tsv", ".tab")
SEPARATORS = {";": "semicolons", "\t": "tabs"}
UTF_8, UTF_16 = "utf-8-sig", "utf-16"
BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff")
NOT_TEXT = {
    b"PK\x03\x04": "a spreadsheet or another zip archive; save its table as CSV",
    b"\xd0\xcf\x11\xe0": "a spreadsheet; save its table as CSV",
    b"\x1f\x8b": "compressed; unpack it first",
    b"\x89HDF": "an HDF5 file; save its table as CSV or Parquet",
}
COMMENT = "#"


@dataclass(frozen=True)
class TextFormat:
    """The format of a text of numbers."""

    encoding: str = UTF_8
    separator: str = ","
    decimal: str = POINT
    """Decimal mark of the first rows, all columns together; columns that are read are judged by all of their cells."""
    n_before_names: int = 0
    """Lines before the row of names: comments, which begin with #, and blank ones. The names may begin with # too."""
    notes: tuple[str, ...] = ()
    """Properties that a person may not expect."""


def detect_format(path: Path) -> TextFormat:
    """Return the format of a file, from its name, its first bytes and its first rows."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    encoding = _encoding(path, head)
    with path.open(encoding=encoding, newline="") as text:
        head_lines = list(itertools.islice(text, HEAD_LINES))
    n_before = _lines_before_names(head_lines)
    lines = [line for line in head_lines[n_before:] if line.strip()]
    is_tabbed = path.suffix.lower() in TAB_SUFFIXES
    separator = "\t" if is_tabbed else _separator(lines[0] if lines else "")
    decimal = COMMA if _has_decimal_commas(lines[1:], separator) else POINT
    notes = ["is in UTF-16"] if encoding == UTF_16 else []
    notes += [f"has {SEPARATORS[separator]} between columns"] if separator in SEPARATORS and not is_tabbed else []
    notes += ["begins with remarks"] if any(line.strip() for line in head_lines[:n_before]) else []
    return TextFormat(encoding, separator, decimal, n_before, tuple(notes))


def _lines_before_names(lines: Sequence[str]) -> int:
    """Count the lines before the names: comments, except for the last one if numbers follow at once."""
    first = next((k for k, line in enumerate(lines) if line.strip() and not line.startswith(COMMENT)), None)
    if not first:
        return 0
    marked = [k for k in range(first) if lines[k].startswith(COMMENT)]
    cells = re.split(r"[,;\t]", lines[first].strip())
    return marked[-1] if marked and all(map(is_number, cells)) else first


def _encoding(path: Path, head: bytes) -> str:
    """Return UTF-8, or UTF-16 where a byte order mark says so."""
    for start, what in NOT_TEXT.items():
        if head.startswith(start):
            raise DataError(f"{path} is no text but {what}")
    if head.startswith(BYTE_ORDER_MARKS):
        return UTF_16
    if 0 in head:
        raise DataError(f"{path} is no text: it holds bytes that no text has; give CSV, TSV or Parquet")
    return UTF_8


def _separator(header: str) -> str:
    """Return the comma, unless the header has none outside of quotes and has another separator."""
    cells = next(csv.reader([header]), [])
    if len(cells) > 1:
        return ","
    return next((each for each in SEPARATORS if each in header), ",")


def _has_decimal_commas(lines: Sequence[str], separator: str) -> bool:
    uses = {use for row in csv.reader(lines, delimiter=separator) for cell in row for use in uses_in(cell)}
    return Use.DECIMAL_COMMA in uses and Use.DECIMAL_POINT not in uses
