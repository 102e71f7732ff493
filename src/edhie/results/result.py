"""`SearchResult`: all that a search found, and what it took."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from edhie.expr.symbols import Symbol
from edhie.results.candidates import Candidate, Candidates
from edhie.results.counts import SearchCounts
from edhie.results.front import Front
from edhie.results.history import History

STOPPED = ("target", "evaluations", "seconds", "patience", "interrupted", "finished")
"""Why a search ended: the error asked for was reached, a budget was used up, nothing better was found for long,
Ctrl-C, or nothing was left to do."""


@dataclass(frozen=True, eq=False)
class SearchResult:
    """What a search found, and what it took."""

    front: Front
    """The best trade-offs between error and complexity."""
    candidates: Candidates
    """Every distinct expression that was executed."""
    counts: SearchCounts
    """What was done."""
    history: History
    """How the best error fell."""
    seconds: float
    """How long it took, earlier parts of a search that was gone on with included."""
    stopped: str
    """Why it ended: one of `STOPPED`."""
    seed: int
    """What every random choice follows from."""
    strategy: str
    """The name of the strategy."""
    leaders: Candidates | None = None
    """The candidates with the shortest descriptions, where the search has kept them."""

    @property
    def best(self) -> Candidate | None:
        """The expression with the lowest error, the simplest of equals; None where none has a finite error."""
        return self.front.best

    def save(self, folder: str | Path) -> Path:
        """Write the result into `folder`, which is made if need be, over the one that is there."""
        from edhie.results.saving import save

        return save(self, Path(folder))

    @classmethod
    def load(cls, folder: str | Path, *, operators: Iterable[Symbol] = ()) -> SearchResult:
        """Read a result that `save` wrote; pass `operators` for those of your own that it uses."""
        from edhie.results.saving import load

        return load(Path(folder), operators)

    def __str__(self) -> str:
        return f"{self.front}\n{self.counts}; stopped by {self.stopped} after {self.seconds:.1f} s"

    def __repr__(self) -> str:
        return f"SearchResult({self.strategy}, {len(self.candidates)} candidates, best {self.best})"
