"""What every search on a table begins with: identifiers for columns, rows that are held out, something that scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from edhie.discovery.names import variable_names
from edhie.discovery.settings import Settings
from edhie.discovery.warming import is_first_time, warm_up
from edhie.evaluate import Constraints, Data, Evaluator
from edhie.expr import SymbolLibrary
from edhie.generators import Generator
from edhie.results.validation import split
from edhie.search import Strategy

SPLIT_SEED = 0  # the same rows are held out whatever the seed of the search: results can be compared


@dataclass(frozen=True, eq=False)
class Prepared:
    """A table that is ready to be searched."""

    columns: tuple[str, ...]
    """The table's own names of its variables, in order."""
    train: Data
    """Rows to fit to, with identifiers for names."""
    validation: Data | None
    """Rows that are held out."""

    def only(self, places: NDArray[np.int64]) -> Prepared:
        """The same with some of its variables."""
        if len(places) == len(self.columns):
            return self
        held_out = None if self.validation is None else self.validation.with_columns(places)
        return Prepared(tuple(self.columns[k] for k in places), self.train.with_columns(places), held_out)

    def evaluator(self, library: SymbolLibrary, settings: Settings) -> Evaluator:
        """What scores expressions over a library on the rows to fit to."""
        return Evaluator(
            library,
            self.train,
            loss=settings.loss,
            constants=settings.constants,
            complexity=settings.complexity,
            constraints=_over(settings.constraints, self.columns, self.train.names),
            allow_constant_target=True,
        )


def prepared(data: Data, validation: Data | None) -> Prepared:
    """Data with identifiers for names; some rows are held out where there are many, and no others are given."""
    names = variable_names(data.names)
    train = replace(data, names=names)
    if validation is None:
        train, held_out = split(train, np.random.default_rng(SPLIT_SEED))
    else:
        held_out = replace(validation, names=names)
    return Prepared(tuple(data.names), train, held_out)


def warm_up_if_timed(
    settings: Settings, generator: Generator, library: SymbolLibrary, strategy: str | Strategy
) -> None:
    """Compile first where seconds count, or nothing has been compiled on this machine yet."""
    if settings.max_time is not None or is_first_time():
        warm_up(generator, library, strategy)


def _over(constraints: Constraints | None, columns: Sequence[str], names: Sequence[str]) -> Constraints | None:
    """Constraints that name variables as the table does, over their identifiers."""
    if not isinstance(constraints, Constraints):
        return constraints  # None, or what the evaluator will not take
    return constraints.renamed(dict(zip(columns, names, strict=True)))
