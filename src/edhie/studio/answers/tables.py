"""Summaries of tables: columns with their ranges, a preview, and problems with remedies; points of a scatter."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from edhie.errors import shortened
from edhie.evaluate.tables import Table
from edhie.evaluate.tables.decimals import parse_number
from edhie.evaluate.tables.rows import RowTable
from edhie.evaluate.tables.table import Source
from edhie.safe_text import as_line, printable
from edhie.studio.answers.columns import Column, gaps_of, read_columns
from edhie.studio.answers.reading import HEADER_NOTES, MOST_POINTS, finites, for_the_user, opened, worded
from edhie.studio.question import Refused

PREVIEW = 20  # rows
MOST_PROBLEMS = 20
MOST_FEATURES = 30  # that are ticked at first
LONGEST_CELL = 60
FEWER_ROWS = "save a sample of them; the command line reads tables of any size"
REMARKS = 1000  # lines of a text that need not be rows
CHUNK = 1 << 20  # bytes
MARKS: dict[str, dict[str, Any]] = {
    ",": {"label": "Read commas as decimal marks", "options": {"decimal": ","}},
    ".": {"label": "Read points as decimal marks", "options": {"decimal": "."}},
}
"""The remedy of each decimal mark."""
ERRORS = re.compile(r"(?:sigma|err|error|errors|std|sd|se|uncertainty|u)", re.IGNORECASE)


def summary(path: str, name: str, options: dict[str, Any], rows: int, columns: int) -> dict[str, Any]:
    """Return what the page shows of a table; raise `Refused` if it cannot be read at all.

    `rows` and `columns` are the most that are allowed.
    """
    file = Path(path)
    with for_the_user(file, name):
        table, header = opened(file, options)
        _check(len(table.names), columns, "columns", "choose the columns that matter, and save them as a file")
        _check_lines(file, table, rows)
        preview = [[_cell(cell) for cell in row] for row in itertools.islice(table.texts(), PREVIEW)]
        found, faults = read_columns(table, options)
        n_rows = max((len(each.values) for each in found if each.values is not None), default=0)
        n_rows = n_rows or sum(1 for _ in table.texts())
        _check(n_rows, rows, "rows", FEWER_ROWS)
        if n_rows == 0:
            raise Refused(f"{name} has names and no rows; add measurements below them")
    problems = [
        {"message": worded(text, file, name), "remedies": list(MARKS.values()) if "can mean" in text else []}
        for text in faults
    ]
    drops = bool(options.get("drop_missing"))
    units, rest = _units(found, table)
    problems += units
    problems += [each for column in rest for each in _problems(column, table, drops=drops)][:MOST_PROBLEMS]
    notes = [HEADER_NOTES[header]] if header else []
    notes += [f"The file {note}." for note in table.notes]
    return {
        "name": name,
        "rows": n_rows,
        "gaps": gaps_of(found) if drops else [],
        "columns": [each.as_json() for each in found],
        "preview": preview,
        "notes": notes,
        "problems": problems,
        "suggested": _suggested(found),
        "options": options | ({"header": header} if header else {}),
    }


def scatter(path: str, name: str, options: dict[str, Any], x: str, y: str) -> dict[str, Any]:
    """Return the points of two columns; rows without a number in both are left out."""
    file = Path(path)
    with for_the_user(file, name):
        table, _ = opened(file, options)
        for each in (x, y):
            if each not in table.names:
                raise Refused(f"{name} has no column {each!r}", 404)
        found, _ = read_columns(table, options, only=[x, y])
    both = [each.values for each in found if each.values is not None]
    if len(both) < len({x, y}):
        return {"x": [], "y": []}
    values = np.stack(both if x != y else both * 2, axis=1)
    values = values[np.isfinite(values).all(axis=1)]
    if len(values) > MOST_POINTS:  # a sample that is the same each time
        values = np.random.default_rng(0).choice(values, MOST_POINTS, replace=False, shuffle=False)
    return {"x": finites(values[:, 0]), "y": finites(values[:, 1])}


def _check_lines(path: Path, table: Table, most: int) -> None:
    """Raise `Refused` before far too many rows are read: a packed file may hold much more than its size."""
    _check(table.n_rows or 0, most, "rows", FEWER_ROWS)
    if not isinstance(table, RowTable):
        return
    lines = 0
    with Source(path).open() as file:
        while part := file.read(CHUNK):
            lines += part.count(b"\n")
            if lines > most + REMARKS:
                raise Refused(f"the table has more rows than the {most:,} that the studio reads; {FEWER_ROWS}", 413)


def _check(count: int, most: int, what: str, instead: str) -> None:
    if count > most:
        raise Refused(f"the table has {count:,} {what}, and the studio reads at most {most:,}; {instead}", 413)


def _cell(text: str) -> str:
    return printable(shortened(text, LONGEST_CELL))


# -- problems and suggestions ---------------------------------------------------------------


def _units(columns: Sequence[Column], table: Table) -> tuple[list[dict[str, Any]], list[Column]]:
    """Return the problem of a first row of words, such as units, and the columns that have other problems.

    Its remedy takes these words for missing values, whatever column they are in.
    """
    above = [each for each in columns if each.first_other is not None and each.first_other[0] == 0]
    above = [each for each in above if each.values is not None]
    if len(above) < 2:  # one word may be a fault of that cell
        return [], list(columns)
    words = list(dict.fromkeys(each.first_other[1] for each in above if each.first_other))
    row, shown = table.line_of(0), shortened(", ".join(map(_cell, words)), LONGEST_CELL)
    message = f"Row {row} holds no numbers but words, such as units: {shown}."
    remedy = {"label": f"Leave row {row} out", "options": {"missing": as_line(words), "drop_missing": True}}
    problem = {"message": message, "row": row, "remedies": [remedy]}
    return [problem], [each for each in columns if each not in above or len(each.others) > 1]


def _problems(column: Column, table: Table, *, drops: bool) -> list[dict[str, Any]]:
    """Return what would keep a search from using a column of numbers, with remedies."""
    if column.values is None:
        return []
    found, leave_out = [], {"label": f"Do not use {column.name}", "options": {"exclude": column.name}}
    if column.first_other is not None:
        row, cell = table.line_of(column.first_other[0]), column.first_other[1]
        n_cells, kinds = column.others.total(), list(column.others)
        shown = f"“{_cell(cell)}” in row {row} of column “{printable(column.name)}” is not a number"
        more = (
            f", and {n_cells - 1:,} more cells are not" if n_cells > 2 else ", and 1 more cell is not" * (n_cells - 1)
        )
        remedies: list[dict[str, Any]] = []
        if len(kinds) <= 3:
            what = " and ".join(f"“{_cell(kind)}”" for kind in kinds)
            remedies = [{
                "label": f"Take {what} for missing, and leave these rows out",
                "options": {"missing": as_line(kinds), "drop_missing": True},
            }]  # fmt: skip
        marks = [mark for mark in MARKS if all(parse_number(kind, mark) is not None for kind in kinds)]
        remedies += [MARKS[mark] for mark in marks[:1]]  # all cells are numbers by it
        found.append(_problem(f"{shown}{more}.", column.name, row, cell, [*remedies, leave_out]))
    if column.first_missing is not None and not drops:
        row = table.line_of(column.first_missing)
        cells = "1 cell is" if column.n_missing == 1 else f"{column.n_missing:,} cells are"
        message = f"{cells} empty in column “{printable(column.name)}”, the first in row {row}."
        rows = "the row" if column.n_missing == 1 else f"the {column.n_missing:,} rows"
        drop = {"label": f"Leave {rows} out", "options": {"drop_missing": True}}
        found.append(_problem(message, column.name, row, "", [drop, leave_out]))
    return found


def _problem(message: str, column: str, row: int, cell: str, remedies: list[dict[str, Any]]) -> dict[str, Any]:
    return {"message": message, "column": column, "row": row, "cell": _cell(cell), "remedies": remedies}


def _suggested(columns: Sequence[Column]) -> dict[str, Any]:
    """Return a target, columns to explain it with, and the column of its standard errors, by names and order."""
    numbers = [each for each in columns if each.kind == "number" and not each.is_constant]
    named = [each for each in numbers if each.name.lower() in ("y", "target", "output")]
    likely = named or [each for each in numbers if not _is_error(each.name, None)][-1:]
    if not likely:
        return {"target": None, "features": [], "sigma": None}
    target = likely[0]
    errors = [each for each in numbers if each is not target and _is_error(each.name, target.name)]
    sigma = next((each for each in errors if each.values is not None and bool(np.all(each.values > 0))), None)
    features = [each.name for each in numbers if each is not target and each is not sigma and not each.others]
    return {"target": target.name, "features": features[:MOST_FEATURES], "sigma": None if sigma is None else sigma.name}


def _is_error(name: str, target: str | None) -> bool:
    """Return whether a column is called as the standard errors of another, or of `target`."""
    parts = [part for part in re.split(r"[\s_.()\[\]-]+", name) if part]
    if not parts or not any(ERRORS.fullmatch(part) for part in parts):
        return False
    rest = {part.lower() for part in parts if not ERRORS.fullmatch(part)}
    return target is None or not rest or bool(rest & set(re.split(r"[\s_.()\[\]-]+", target.lower())))
