"""A CSV file of measurements: one column a variable, one of them the target."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from edhie.bench.reading import ProblemError
from edhie.errors import shortened, suggestion

LEAST_ROWS = 4  # two to train, two to test


class Measurements(NamedTuple):
    """Numbers from a file."""

    X: NDArray[np.float64]
    """Of shape (rows, variables)."""
    y: NDArray[np.float64]
    names: tuple[str, ...]
    """The variables' names; where no target was named, of all columns, the last of them the target."""


def read_measurements(path: Path, target: str | None = None, variables: Sequence[str] | None = None) -> Measurements:
    """The variables and the target of a CSV file with a row of names; all other columns, and the last, unless named."""
    names, table = _read_table(path)
    if target is None:
        return Measurements(table[:, :-1], table[:, -1], names)
    chosen = tuple(variables or (name for name in names if name != target))
    for name in (*chosen, target):
        if name not in names:
            hint = suggestion(name, names) or f"; it has {', '.join(names)}"
            raise ProblemError(f"{path} has no column {name!r}{hint}")
    return Measurements(table[:, [names.index(name) for name in chosen]], table[:, names.index(target)], chosen)


@lru_cache(maxsize=8)
def _read_table(path: Path) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            rows = [(reader.line_num, row) for row in reader if any(map(str.strip, row))]
    except FileNotFoundError:
        raise ProblemError(f"there is no file {path}") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ProblemError(f"{path} cannot be read: {reason}") from error
    if len(rows) < LEAST_ROWS + 1:
        raise ProblemError(f"{path} has {max(len(rows) - 1, 0)} rows below that of names; give {LEAST_ROWS} at least")
    names = tuple(name.strip() for name in rows[0][1])
    if len(names) < 2 or len(set(names)) < len(names) or not all(names):
        raise ProblemError(f"{path}: the first row must name each column, one of them the target, and no name twice")
    table = np.array([_numbers(path, line, row, len(names)) for line, row in rows[1:]])
    table.flags.writeable = False  # it is kept for the next who asks
    return names, table


def _numbers(path: Path, line: int, row: list[str], width: int) -> list[float]:
    if len(row) != width:
        raise ProblemError(f"{path}, line {line} has {len(row)} columns, the first {width}")
    found = []
    for cell in row:
        try:
            found.append(float(cell))
        except ValueError:
            raise ProblemError(f"{path}, line {line}: {shortened(cell, 40)!r} is not a number") from None
    if not np.isfinite(found).all():
        raise ProblemError(f"{path}, line {line} holds a number that is not finite")
    return found
