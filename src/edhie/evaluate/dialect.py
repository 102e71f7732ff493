"""How a text of numbers is written: its encoding, what separates columns, its decimal mark at first sight."""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from edhie.errors import DataError
from edhie.evaluate.decimals import COMMA, POINT, Use, uses_in
from edhie.evaluate.table import is_number

LOOKED_AT = 4096  # bytes that tell what a file is
ROWS = 100  # that are looked at
TAB_SUFFIXES = (".tsv", ".tab")
SEPARATORS = {";": "semicolons", "\t": "tabs"}
UTF_8, UTF_16 = "utf-8-sig", "utf-16"
BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff")
PACKED = {
    b"PK\x03\x04": "a spreadsheet or another zip archive; save its table as CSV",
    b"\xd0\xcf\x11\xe0": "a spreadsheet; save its table as CSV",
    b"\x1f\x8b": "compressed; unpack it first",
    b"\x89HDF": "an HDF5 file; save its table as CSV or Parquet",
}
REMARK = "#"


@dataclass(frozen=True)
class Dialect:
    """How a text is written."""

    encoding: str = UTF_8
    separator: str = ","
    decimal: str = POINT
    """Of the first rows, all columns together; columns that are read are judged by all of their cells."""
    remarks: int = 0
    """Lines of remarks, which begin with #, and blank ones before the row of names; that may begin with # too."""
    notes: tuple[str, ...] = ()
    """What a person may not expect of it."""


def dialect_of(path: Path) -> Dialect:
    """How the file is written, by its name, its first bytes and its first rows."""
    with path.open("rb") as file:
        head = file.read(LOOKED_AT)
    encoding = _encoding(path, head)
    with path.open(encoding=encoding, newline="") as text:
        head_lines = list(itertools.islice(text, ROWS))
    remarks = _remarks(head_lines)
    lines = [line for line in head_lines[remarks:] if line.strip()]
    is_tabbed = path.suffix.lower() in TAB_SUFFIXES
    separator = "\t" if is_tabbed else _separator(lines[0] if lines else "")
    decimal = COMMA if _has_decimal_commas(lines[1:], separator) else POINT
    notes = ["is in UTF-16"] if encoding == UTF_16 else []
    notes += [f"has {SEPARATORS[separator]} between columns"] if separator in SEPARATORS and not is_tabbed else []
    notes += ["begins with remarks"] if any(line.strip() for line in head_lines[:remarks]) else []
    return Dialect(encoding, separator, decimal, remarks, tuple(notes))


def _remarks(lines: Sequence[str]) -> int:
    """How many lines stand before the names: those with a #, but for the last where numbers follow at once."""
    first = next((k for k, line in enumerate(lines) if line.strip() and not line.startswith(REMARK)), None)
    if not first:
        return 0
    marked = [k for k in range(first) if lines[k].startswith(REMARK)]
    cells = re.split(r"[,;\t]", lines[first].strip())
    return marked[-1] if marked and all(map(is_number, cells)) else first


def _encoding(path: Path, head: bytes) -> str:
    """UTF-8, or UTF-16 where it says so."""
    for start, what in PACKED.items():
        if head.startswith(start):
            raise DataError(f"{path} is no text but {what}")
    if head.startswith(BYTE_ORDER_MARKS):
        return UTF_16
    if 0 in head:
        raise DataError(f"{path} is no text: it holds bytes that no text has; give CSV, TSV or Parquet")
    return UTF_8


def _separator(header: str) -> str:
    """The comma, unless the header has none outside of quotes and has another separator."""
    cells = next(csv.reader([header]), [])
    if len(cells) > 1:
        return ","
    return next((each for each in SEPARATORS if each in header), ",")


def _has_decimal_commas(lines: Sequence[str], separator: str) -> bool:
    uses = {use for row in csv.reader(lines, delimiter=separator) for cell in row for use in uses_in(cell)}
    return Use.DECIMAL_COMMA in uses and Use.DECIMAL_POINT not in uses
