"""A CSV file of measurements: one column a variable, one of them the target."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from edhie.bench.reading import ProblemError
from edhie.errors import DataError, suggestion
from edhie.evaluate.tables import open_table

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
        file = open_table(path)
        names, table = file.names, file.numbers(file.names)
    except DataError as error:
        raise ProblemError(str(error)) from error
    if len(names) < 2:
        raise ProblemError(f"{path}: the first row must name each column, one of them the target; it names one")
    if len(table) < LEAST_ROWS:
        raise ProblemError(f"{path} has {len(table)} rows below that of names; give {LEAST_ROWS} at least")
    table.flags.writeable = False  # it is kept for the next who asks
    return names, table
