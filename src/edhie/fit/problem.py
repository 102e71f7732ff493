"""The problem of a fit: a table with a target, identifiers for its columns, and rows held out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate import Constraints, Data, Evaluator
from edhie.evaluate.large_table import LargeTable
from edhie.expr import SymbolLibrary
from edhie.expr.symbols import OPERATORS, is_in_names, is_name
from edhie.fit.settings import Settings

LEAST_ROWS = 1000  # with fewer rows none is held out: the search needs them all
HELD_OUT_PARTS = 5  # one of so many parts is held out
MOST_HELD_OUT = 20_000
SPLIT_SEED = 0  # the same rows are held out whatever the seed of the search, so that results can be compared
RESERVED = frozenset({*OPERATORS, "pi", "e"})


@dataclass(frozen=True, eq=False, repr=False)
class Problem:
    """A target and the columns that are to explain it."""

    target: str
    columns: tuple[str, ...]
    """Names of the variables in the table, in order."""
    train: Data
    """Rows to fit to, or a sample of them if the table is large; names are identifiers."""
    validation: Data | None
    """Rows held out."""
    whole: LargeTable | None = None
    """All rows to fit to, if `train` is a sample of them."""
    cells: tuple[str, ...] | None = None
    """The cell of each column in the first row of its file, such as B2; None for arrays."""

    @classmethod
    def of(cls, data: Data | Problem, *, target: str = "y", validation: Data | None = None) -> Problem:
        """Return the problem of some data; without `validation`, a part of the rows is held out if there are many.

        A problem is returned unchanged.
        """
        if isinstance(data, Problem):
            return data
        names = variable_names(data.names)
        # kernels need contiguous, writable arrays
        columns, y = (np.require(each, np.float64, ["C", "W"]) for each in (data.columns, data.y))
        train = replace(data, columns=columns, y=y, names=names)
        if validation is None:
            train, held_out = split(train, np.random.default_rng(SPLIT_SEED))
        else:
            held_out = replace(validation, names=names)
        return cls(target, tuple(data.names), train, held_out)

    def __repr__(self) -> str:
        return f"Problem({self.target!r} by {', '.join(self.columns)}: {self.train.n_rows} rows)"

    def only(self, places: NDArray[np.int64]) -> Problem:
        """Return the problem with some of its variables."""
        if len(places) == len(self.columns):
            return self
        held_out = None if self.validation is None else self.validation.with_columns(places)
        return Problem(self.target, tuple(self.columns[k] for k in places), self.train.with_columns(places), held_out)

    def evaluator(self, library: SymbolLibrary, settings: Settings) -> Evaluator:
        """Return the evaluator of expressions over a library on the rows to fit to."""
        constraints = settings.constraints
        if isinstance(constraints, Constraints):  # they use the names of the table
            constraints = constraints.renamed(dict(zip(self.columns, self.train.names, strict=True)))
        return Evaluator(
            library,
            self.train,
            loss=settings.loss,
            constants=settings.constants,
            complexity=settings.complexity,
            constraints=constraints,
            allow_constant_target=True,
        )


def split(data: Data, rng: np.random.Generator) -> tuple[Data, Data | None]:
    """Return the rows to search on and the rows held out, both in order; with few rows none is held out.

    Rows of weight 0 do not count and are never held out.
    """
    counting = np.arange(data.n_rows) if data.weights is None else np.flatnonzero(data.weights)
    if len(counting) < LEAST_ROWS:
        return data, None
    held_out = np.zeros(data.n_rows, np.bool_)
    held_out[rng.choice(counting, min(len(counting) // HELD_OUT_PARTS, MOST_HELD_OUT), replace=False)] = True
    return data.take(~held_out), data.take(held_out)


def variable_names(columns: Sequence[str]) -> tuple[str, ...]:
    """Return a distinct identifier for each column: its own name if that is one.

    >>> variable_names(["temp", "petal length (cm)", "2nd", "exp", "petal length [cm]"])
    ('temp', 'petal_length_cm', 'x_2nd', 'exp_', 'petal_length_cm_2')
    """
    own = {column for column in columns if _identifier(column) == column}
    found: list[str] = []
    taken = set(own)
    for column in columns:
        name = column if column in own else _identifier(column)
        count = 2
        while name in taken and column not in own:
            name = f"{_identifier(column)}_{count}"
            count += 1
        taken.add(name)
        found.append(name)
    return tuple(found)


def _identifier(column: str) -> str:
    """Return the nearest name that a formula can contain."""
    name = column
    if not is_name(name):
        name = re.sub("_+", "_", "".join(letter if is_in_names(letter) else "_" for letter in column)).strip("_") or "x"
        name = name if is_name(name) else f"x_{name}"
    return f"{name}_" if name in RESERVED else name
