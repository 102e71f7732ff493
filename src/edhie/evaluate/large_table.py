"""`LargeTable`: a file that is read in batches of rows, and a random sample of its rows to search on."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from edhie.arrays import Indices, Numbers
from edhie.errors import DataError
from edhie.evaluate.data import Data
from edhie.evaluate.tables import Table

Rows = Indices
LARGE = 25_000_000  # numbers, 200 MB: files that hold more are read in batches, since a fit copies its data


class Sample(NamedTuple):
    """Rows of a table, of shape (rows, columns), in the order of the file."""

    searched: Numbers
    held_out: Numbers
    held_out_rows: Rows
    """Numbers of the rows held out, in ascending order."""
    n_rows: int
    """Rows of the whole table."""


def take_sample(
    batches: Iterator[Numbers], searched: int, *, held_out: int, parts: int, rng: np.random.Generator
) -> Sample:
    """Return a random sample of rows, and others to hold out, in one pass.

    Each row draws a number, and those with the smallest are taken, so that neither the length of the table nor the
    size of a batch has to be known. Rows in which a column is smallest or largest are searched too, so that equations
    are defined there. Of few rows, one of `parts` equal parts is held out.
    """
    n_rows, limit, most = 0, np.inf, searched + held_out
    rows, keys, places = np.empty((0, 0)), np.empty(0), np.empty(0, np.int64)
    extremes = np.empty(0, np.int64)
    corners = rows
    for numbers in batches:
        if n_rows == 0:
            rows = corners = np.empty((0, numbers.shape[1]))
        drawn = rng.random(len(numbers))
        taken = np.flatnonzero(drawn < limit)
        rows = np.concatenate([rows, numbers[taken]])
        keys, places = np.concatenate([keys, drawn[taken]]), np.concatenate([places, n_rows + taken])
        if len(keys) > most:
            least = np.argpartition(keys, most - 1)[:most]
            rows, keys, places, limit = rows[least], keys[least], places[least], float(keys[least].max())
        if len(numbers):
            own = _extreme_rows(numbers)
            corners, extremes = np.concatenate([corners, numbers[own]]), np.concatenate([extremes, n_rows + own])
            own = _extreme_rows(corners)
            corners, extremes = corners[own], extremes[own]
        n_rows += len(numbers)
    order = np.argsort(keys, kind="stable")
    n_held_out = min(n_rows // parts, held_out)
    apart = order[:n_held_out]
    apart = apart[np.argsort(places[apart])]
    chosen = order[n_held_out : n_held_out + searched]
    new = ~np.isin(extremes, places[np.concatenate([apart, chosen])])
    rows_in, places_in = np.concatenate([rows[chosen], corners[new]]), np.concatenate([places[chosen], extremes[new]])
    return Sample(rows_in[np.argsort(places_in)], rows[apart], places[apart], n_rows)


def _extreme_rows(numbers: Numbers) -> Rows:
    return np.unique(np.concatenate([numbers.argmin(axis=0), numbers.argmax(axis=0)]))


@dataclass(frozen=True, eq=False)
class LargeTable:
    """The rows of a file to which equations are fitted, read in batches as often as asked for."""

    table: Table
    target: str
    columns: tuple[str, ...]
    """The variables, as the table names them."""
    names: tuple[str, ...]
    """The variables, as equations name them."""
    sigma: str | None = None
    """The column of the target's standard errors."""
    drop_missing: bool = False
    """True if rows with missing values are left out."""
    held_out: Rows = field(default_factory=lambda: np.empty(0, np.int64))
    """Rows that are not among the batches, in ascending order; counted without those left out."""

    def batches(self, used: Collection[str] = ()) -> Iterator[Data]:
        """Yield all rows but those held out; variables that are not `used` are 0. Weights have an arbitrary unit."""
        # the same rows are left out whatever is used
        read = [k for k, name in enumerate(self.names) if self.drop_missing or name in used]
        unit, n_before = 0.0, 0
        for numbers in self._numbers([self.columns[k] for k in read]):
            here = self.held_out[slice(*np.searchsorted(self.held_out, [n_before, n_before + len(numbers)]))]
            kept = np.delete(numbers, here - n_before, axis=0).T if len(here) else numbers.T
            n_before += len(numbers)
            if not kept.shape[1]:
                continue
            columns, sigma = np.zeros((len(self.names), kept.shape[1])), None
            columns[read] = kept[1 : 1 + len(read)]
            if self.sigma is not None:
                sigma = np.ascontiguousarray(kept[-1])
                unit = unit or float(sigma[0])
            weights = None if sigma is None else np.square(unit / sigma)
            yield Data(columns, np.ascontiguousarray(kept[0]), weights, self.names, sigma)

    def sample(self, searched: int, *, held_out: int, parts: int, rng: np.random.Generator) -> Sample:
        """Return a sample of the rows, with target, variables and standard errors; see `take_sample`."""
        return take_sample(self._checked(), searched, held_out=held_out, parts=parts, rng=rng)

    def _numbers(self, columns: Sequence[str]) -> Iterator[Numbers]:
        chosen = [self.target, *columns, *([] if self.sigma is None else [self.sigma])]
        return self.table.batches(chosen, drop_missing=self.drop_missing)

    def _checked(self) -> Iterator[Numbers]:
        """Yield all columns; raise an error for a standard error that is not above 0."""
        n_before = 0
        for numbers in self._numbers(self.columns):
            check_sigma(self.table, self.sigma, numbers, n_before)
            n_before += len(numbers)
            yield numbers


def check_sigma(table: Table, sigma: str | None, numbers: Numbers, n_before: int = 0) -> None:
    """Raise an error for standard errors, the last column, that are not above 0; `n_before` rows come before."""
    if sigma is not None and (numbers[:, -1] <= 0).any():
        row = int(np.argmax(numbers[:, -1] <= 0))
        what = f"column {sigma!r} is {numbers[row, -1]:g} in row {n_before + row + 1} below the names"
        raise DataError(f"{table.path}: {what}; standard errors (sigma) must be above 0")
