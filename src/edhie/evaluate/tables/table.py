"""`Table`: named columns of a file, whatever its format."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import final

import numpy as np
from numpy.typing import NDArray

from edhie.errors import DataError, shortened, suggestion
from edhie.evaluate.tables.decimals import is_any_number

Numbers = NDArray[np.float64]


class Table(ABC):
    """An open file with known, distinct column names; its numbers are read when asked for."""

    path: Path
    names: tuple[str, ...]
    """Names of the columns, in their order."""
    separator: str = ","
    """Separator of columns where its rows are written as text."""
    decimal: str = "."
    """The decimal mark of the numbers that were read."""
    notes: tuple[str, ...] = ()
    """Properties of its format that a person may want to know; complete once numbers are read."""

    @abstractmethod
    def texts(self) -> Iterator[list[str]]:
        """Yield the rows below the names as text, without blank ones."""

    @abstractmethod
    def written_step(self, name: str) -> float | None:
        """Return the last decimal place that a column is written to, such as 0.01; None if it is not known."""

    @abstractmethod
    def _read(self, chosen: Sequence[str], *, with_gaps: bool) -> Numbers:
        """Return the columns of these names, which exist."""

    @final
    def numbers(self, chosen: Sequence[str], *, with_gaps: bool = False) -> Numbers:
        """Return the columns of these names, of shape (rows, columns); other columns may hold anything.

        With gaps, empty cells and numbers that are not finite are NaN; without, they raise an error with their place.
        """
        for name in chosen:
            if name not in self.names:
                hint = suggestion(name, self.names) or f"; it has {shortened(', '.join(self.names))}{self._advice()}"
                raise DataError(f"{self.path} has no column {name!r}{hint}")
        return self._read(chosen, with_gaps=with_gaps)

    def _advice(self) -> str:
        """Return a hint for tables whose columns are separated by something else."""
        is_other = len(self.names) == 1 and any(each in self.names[0] for each in ";\t| ")
        return "; separate columns by commas" if is_other else ""


def checked_names(path: Path, names: Sequence[str]) -> tuple[str, ...]:
    """Return the stripped names of columns; raise unless all are given and different."""
    names = tuple(name.strip() for name in names)
    if not names:
        raise DataError(f"{path} is empty; write a row of names, then one row of numbers a measurement")
    must = f"{path}: the first row must name each column"
    if all(map(is_any_number, names)):
        raise DataError(f"{must}, and it holds only numbers ({shortened(', '.join(names), 40)}); write names above it")
    if "" in names:
        raise DataError(f"{must}, and column {names.index('') + 1} has no name; write one, or remove the column")
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise DataError(f"{must} differently, and {name!r} is there {count} times; rename all but one")
    return names


def is_number(text: str) -> bool:
    """Return True if a text is a number with a decimal point."""
    try:
        float(text)
    except ValueError:
        return False
    return True
