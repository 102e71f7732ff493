"""The outcome of a search: counts of work, the learning curve, all candidates and the front."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edhie.evaluate.counting import Counts
from edhie.expr.symbols import Symbol
from edhie.results.candidates import Candidate, Candidates
from edhie.results.front import Front

STOPPED = ("target", "evaluations", "seconds", "patience", "interrupted", "finished")
"""Why a search ended: the error asked for was reached, a budget was used up, nothing better was found for long,
Ctrl-C, or nothing was left to do."""


@dataclass(frozen=True)
class SearchCounts(Counts):
    """The work of a search, by kind: that of its evaluator, and more. Codes without an expression count as asked."""

    screened: int = 0
    """Combinations of terms whose error was computed in closed form, without executing them."""
    refits: int = 0
    """Expressions whose constants were fitted again with full effort."""
    undecodable: int = 0
    """Codes that were decoded to no expression."""

    def __str__(self) -> str:
        return f"{self.executed:,} expressions tried"


@dataclass(frozen=True, eq=False)
class History:
    """The learning curve of a search: its state at each improvement of the best error."""

    executed: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """Distinct expressions executed so far."""
    screened: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """Combinations screened so far."""
    seconds: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """Time since the start."""
    error: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """The best error from here on."""

    def __len__(self) -> int:
        return len(self.error)

    @property
    def best(self) -> float:
        """The lowest error so far; infinite at the start."""
        return float(self.error[-1]) if len(self) else np.inf

    def best_at(self, executed: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the best error after each number of executed expressions; infinite before the first."""
        places = np.searchsorted(self.executed, executed, side="right")
        found: NDArray[np.float64] = np.append(np.inf, self.error)[places]
        return found

    def extended(
        self, executed: NDArray[np.int64], errors: NDArray[np.float64], *, screened: int, seconds: float
    ) -> History:
        """Return this history with further improvements at its end."""
        count = len(errors)
        return History(
            np.concatenate([self.executed, executed]),
            np.concatenate([self.screened, np.full(count, screened, np.int64)]),
            np.concatenate([self.seconds, np.full(count, seconds)]),
            np.concatenate([self.error, errors]),
        )


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The outcome of a search."""

    front: Front
    """The best trade-offs between error and complexity."""
    candidates: Candidates
    """Every distinct expression that was executed."""
    counts: SearchCounts
    """Counts of the work done."""
    history: History
    """The learning curve."""
    seconds: float
    """Duration in seconds, including the time before it was resumed."""
    stopped: str
    """Why it ended: one of `STOPPED`."""
    seed: int
    """Random seed."""
    strategy: str
    """The name of the strategy."""
    leaders: Candidates | None = None
    """The candidates with the shortest descriptions, where the search has kept them."""

    @property
    def best(self) -> Candidate | None:
        """The expression with the lowest error, the simplest of equals; None where none has a finite error."""
        return self.front.best

    def save(self, folder: str | Path) -> Path:
        """Write the result into `folder`, which is created if needed; files of an earlier result are replaced."""
        from edhie.results.saving import FORMAT, contents

        return FORMAT.write(Path(folder), *contents(self))

    @classmethod
    def load(cls, folder: str | Path, *, operators: Iterable[Symbol] = ()) -> SearchResult:
        """Read a result that `save` wrote; pass `operators` for those of your own that it uses."""
        from edhie.results.saving import load

        return load(Path(folder), operators)

    def __str__(self) -> str:
        return f"{self.front}\n{self.counts}; stopped by {self.stopped} after {self.seconds:.1f} s"

    def __repr__(self) -> str:
        return f"SearchResult({self.strategy}, {len(self.candidates)} candidates, best {self.best})"
