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
    """A file that was looked into: its names are known and each is there once; its numbers are read when asked for."""

    path: Path
    names: tuple[str, ...]
    """Of the columns, in their order."""
    separator: str = ","
    """What stands between columns where its rows are written as text."""
    decimal: str = "."
    """The decimal mark of the numbers that were read."""
    notes: tuple[str, ...] = ()
    """What was found out about how it is written, and a person may want to know; complete once numbers are read."""

    @abstractmethod
    def texts(self) -> Iterator[list[str]]:
        """The rows below the names, as they stand, without blank ones."""

    @abstractmethod
    def written_step(self, name: str) -> float | None:
        """The last decimal place in which numbers of the column are written, as 0.01; None if it is not known."""

    @abstractmethod
    def _read(self, chosen: Sequence[str], *, with_gaps: bool) -> Numbers:
        """The columns of these names, which are there."""

    @final
    def numbers(self, chosen: Sequence[str], *, with_gaps: bool = False) -> Numbers:
        """The columns of these names, of shape (rows, columns); what stands in others does not matter.

        With gaps, what is empty or not finite is NaN; without, it is an error that says where it stands.
        """
        for name in chosen:
            if name not in self.names:
                hint = suggestion(name, self.names) or f"; it has {shortened(', '.join(self.names))}{self._advice()}"
                raise DataError(f"{self.path} has no column {name!r}{hint}")
        return self._read(chosen, with_gaps=with_gaps)

    def _advice(self) -> str:
        """A hint for tables whose columns are separated by something else."""
        is_other = len(self.names) == 1 and any(each in self.names[0] for each in ";\t| ")
        return "; separate columns by commas" if is_other else ""


def checked_names(path: Path, names: Sequence[str]) -> tuple[str, ...]:
    """The names of columns, where all are there and different."""
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
    """Whether a text is a number, with a point before its decimals."""
    try:
        float(text)
    except ValueError:
        return False
    return True
