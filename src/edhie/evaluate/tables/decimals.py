"""Decimal marks and thousands separators of a column, decided from all of its cells and never guessed.

`1,5` and `0,674` have a decimal comma, `1.5` a decimal point, and `1,234,567` and `1,234.5` have commas between
thousands. `1,674` alone can mean 1674 or 1.674: it is read if other cells show what commas are, and refused otherwise.
Blanks and apostrophes between groups of three digits (`1 674`, `1'674`) are always thousands separators.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from edhie.errors import DataError

COMMA, POINT = ",", "."
OTHER = {COMMA: POINT, POINT: COMMA}
BLANKS = " \u00a0\u2009\u202f'\u2019"  # blanks of several widths, and apostrophes
_ONE_GROUP = {mark: re.compile(rf"[1-9]\d{{0,2}}\{mark}\d{{3}}") for mark in OTHER}
_MANY_GROUPS = {mark: re.compile(rf"[1-9]\d{{0,2}}(?:\{mark}\d{{3}}){{2,}}") for mark in OTHER}
_GROUPED = {  # by decimal mark: the same separator between all groups, and decimals or none
    mark: re.compile(rf"[-+]?[1-9]\d{{0,2}}(?:([\{OTHER[mark]}{BLANKS}])\d{{3}})(?:\1\d{{3}})*(?:\{mark}\d*)?")
    for mark in OTHER
}


class Use(Enum):
    """Uses of commas, points and blanks in a cell; the text completes a message about the cell."""

    DECIMAL_COMMA = "has a decimal comma"
    DECIMAL_POINT = "has a decimal point"
    COMMA_GROUPS = "has commas between thousands"
    POINT_GROUPS = "has points between thousands"
    BLANK_GROUPS = "has blanks or apostrophes between thousands"
    EITHER_COMMA = "has a comma that is a decimal mark or separates thousands"
    EITHER_POINT = "has a point that is a decimal mark or separates thousands"


DECIMAL = {COMMA: Use.DECIMAL_COMMA, POINT: Use.DECIMAL_POINT}
GROUPS = {COMMA: Use.COMMA_GROUPS, POINT: Use.POINT_GROUPS}
EITHER = {COMMA: Use.EITHER_COMMA, POINT: Use.EITHER_POINT}


class Cell(NamedTuple):
    """A cell of a column, and the line that it stands in."""

    text: str
    line: int


Seen = dict[Use, Cell]
"""The first cell of a column that shows each use."""


def parse_number(text: str, decimal: str) -> float | None:
    """Return the number with this decimal mark, with or without thousands separators; None if it is not one.

    >>> parse_number("1.234,5", ","), parse_number("1 674", "."), parse_number("1,67", ".")
    (1234.5, 1674.0, None)
    """
    text = text.strip()
    match = _GROUPED[decimal].fullmatch(text)
    if match is not None:
        text = text.replace(match[1], "")
    elif OTHER[decimal] in text:
        return None
    try:
        return float(text.replace(decimal, POINT))
    except ValueError:
        return None


def decimals_in(text: str, decimal: str) -> int:
    """Return how many decimals a number is written with: 2 for 1.50, 1 for 15.0e0, -2 for 15e2.

    >>> [decimals_in(text, ".") for text in ("1.50", "1,234.5", "7", "1.5e-3", "15e2")]
    [2, 1, 0, 4, -2]
    """
    mantissa, _, exponent = text.strip().lower().partition("e")
    is_number = len(exponent) < 10 and exponent.lstrip("+-").isdecimal()  # with more digits it is 0 or infinite
    return len(mantissa.partition(decimal)[2]) - (int(exponent) if is_number else 0)


def uses_in(text: str) -> Iterator[Use]:
    """Yield the uses in one cell; none for whole numbers without separators and for texts."""
    text = text.strip()
    text = text[1:] if text[:1] in ("-", "+") else text
    marks = [mark for mark in OTHER if mark in text]
    if len(marks) == 1 and _ONE_GROUP[marks[0]].fullmatch(text):
        yield EITHER[marks[0]]
        return
    if len(marks) == 1 and _MANY_GROUPS[marks[0]].fullmatch(text):
        yield GROUPS[marks[0]]
        return
    decimal = next((mark for mark in OTHER if parse_number(text, mark) is not None), None)
    if decimal is None:
        return
    if marks:
        yield DECIMAL[decimal]
    match = _GROUPED[decimal].fullmatch(text)
    if match is not None:
        yield GROUPS.get(match[1], Use.BLANK_GROUPS)


def survey(texts: Iterable[str], lines: Iterable[int], seen: Seen) -> None:
    """Add the uses in more cells of a column, and their lines, to `seen`."""
    for text, line in zip(texts, lines, strict=True):
        if Use.DECIMAL_COMMA in seen and text.count(COMMA) == 1 and POINT not in text:
            continue  # nothing new: most cells of a large file end here
        if text.isdecimal():
            continue
        for use in uses_in(text):
            seen.setdefault(use, Cell(text, line))


def decimal_marks(columns: Sequence[tuple[str, Seen]], path: Path, *, at_first: str = POINT) -> tuple[str, ...]:
    """Return the decimal mark of each column; raise an error where cells contradict each other or leave it open.

    `at_first` is a comma if the first rows of the file, other columns included, have decimal commas.
    """
    found = [_from_column(name, seen, path) for name, seen in columns]
    known = {mark for mark in (*found, COMMA if at_first == COMMA else None) if mark is not None}
    return tuple(mark or _from_others(*column, known, path) for mark, column in zip(found, columns, strict=True))


def _from_column(name: str, seen: Seen, path: Path) -> str | None:
    """Return the mark that the cells of one column show; None if they leave it open."""
    shown = {mark: [use for use in (DECIMAL[mark], GROUPS[OTHER[mark]]) if use in seen] for mark in OTHER}
    if shown[COMMA] and shown[POINT]:
        uses = shown[COMMA][0], shown[POINT][0]
        both = " and ".join(f"{seen[use].text.strip()!r} in line {seen[use].line} {use.value}" for use in uses)
        raise DataError(f"{path}, column {name!r}: {both}; write all numbers of the column alike")
    mark = next((mark for mark in OTHER if shown[mark]), None)
    if mark is not None and EITHER[OTHER[mark]] in seen and GROUPS[OTHER[mark]] not in seen:
        raise _ambiguous(name, seen[EITHER[OTHER[mark]]], path)
    return mark


def _from_others(name: str, seen: Seen, known: set[str], path: Path) -> str:
    """Return the mark of a column that leaves it open: a comma if all others have it, else a point.

    A cell that would then have a thousands separator is refused.
    """
    mark = COMMA if known == {COMMA} else POINT
    for each in OTHER:
        if EITHER[each] in seen and (each != mark or known == {COMMA, POINT}):
            raise _ambiguous(name, seen[EITHER[each]], path)
    return mark


def _ambiguous(name: str, cell: Cell, path: Path) -> DataError:
    text = cell.text.strip()
    mark = COMMA if COMMA in text else POINT
    whole, fraction = text.replace(mark, ""), text.replace(mark, OTHER[mark])
    ways = f"{whole} (--decimal {OTHER[mark]}) or {text.replace(mark, POINT)} (--decimal {mark})"
    return DataError(
        f"{path}, line {cell.line}, column {name!r}: {text!r} can mean {ways}; "
        f"pass the option that is right (in Python decimal=), or write {whole} or {fraction} in the file"
    )


def is_any_number(text: str) -> bool:
    """Return True if a text is a number with some decimal mark."""
    return any(parse_number(text, mark) is not None for mark in OTHER)


def is_number(text: str) -> bool:
    """Return True if a text is a number as Python writes it."""
    try:
        float(text)
    except ValueError:
        return False
    return True
