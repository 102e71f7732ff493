"""The outcome of a search: counts of work, the learning curve, all candidates and the front; saved as a folder."""

from __future__ import annotations

import csv
import hashlib
import json
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import edhie
from edhie.errors import KeepError, SearchError
from edhie.evaluate.counting import Counts
from edhie.expr import Expr, Forest, SymbolLibrary, parse
from edhie.expr.symbols import Symbol
from edhie.files import small_text
from edhie.results.candidates import Candidate, Candidates, Front
from edhie.storage import FolderFormat, csv_text

DESCRIPTION, SYMBOLS, CANDIDATES = "result.json", "symbols.json", "candidates.jsonl"
FRONT, HISTORY = "front.csv", "history.csv"
FORMAT = FolderFormat("result", 1, DESCRIPTION, SearchError, "delete it and search again", KeepError)

STOPPED = ("target", "evaluations", "seconds", "patience", "interrupted", "finished")
"""Why a search ended: the error asked for was reached, a budget was used up, nothing better was found for long,
Ctrl-C, or nothing was left to do."""


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
    counts: Counts
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
        return FORMAT.write(Path(folder), *contents(self))

    @classmethod
    def load(cls, folder: str | Path, *, operators: Iterable[Symbol] = ()) -> SearchResult:
        """Read a result that `save` wrote; pass `operators` for those of your own that it uses."""
        description = FORMAT.read(Path(folder), SYMBOLS, CANDIDATES, HISTORY)
        with FORMAT.reading(Path(folder)):
            lines = (Path(folder) / CANDIDATES).read_bytes()
            if hashlib.sha256(lines).hexdigest() != description["sha256"]:
                raise ValueError(f"{CANDIDATES} is not what {DESCRIPTION} describes")
            library = SymbolLibrary.from_json(small_text(Path(folder) / SYMBOLS), operators=operators)
            history = _read_history(Path(folder) / HISTORY)
            return assembled(description, _read_candidates(lines, library), history)

    def __str__(self) -> str:
        return f"{self.front}\n{self.counts}; stopped by {self.stopped} after {self.seconds:.1f} s"

    def __repr__(self) -> str:
        return f"SearchResult({self.strategy}, {len(self.candidates)} candidates, best {self.best})"


# -- as a folder that a person can read --------------------------------------------------


def contents(result: SearchResult) -> tuple[dict[str, Any], dict[str, str | bytes]]:
    """Return the description of a result and the contents of its other files."""
    lines = _candidate_lines(result.candidates)
    description = {
        "edhie": edhie.__version__, "strategy": result.strategy, "seed": result.seed,
        "stopped": result.stopped, "seconds": result.seconds, "counts": asdict(result.counts),
        "count": len(result.candidates), "sha256": hashlib.sha256(lines).hexdigest(),
        "negligible": result.front.negligible,
    }  # fmt: skip
    front = ((f"{each.complexity:g}", repr(each.error), each.executed_at, str(each.expr)) for each in result.front)
    names = [each.name for each in fields(History)]
    history = zip(*(getattr(result.history, name).tolist() for name in names), strict=True)
    return description, {
        CANDIDATES: lines,
        SYMBOLS: result.candidates.forest.library.to_json(),
        FRONT: csv_text(("complexity", "error", "executed_at", "expression"), front, for_people=True),
        HISTORY: csv_text(names, history),
    }


def assembled(description: dict[str, Any], candidates: Candidates, history: History) -> SearchResult:
    """Return the result of a description and these parts."""
    if description["stopped"] not in STOPPED:
        raise ValueError(f"stopped is {description['stopped']!r}, none of {', '.join(STOPPED)}")
    return SearchResult(
        front=Front.of(candidates, negligible=float(description["negligible"])),
        candidates=candidates,
        counts=Counts(**description["counts"]),
        history=history,
        seconds=float(description["seconds"]),
        stopped=description["stopped"],
        seed=int(description["seed"]),
        strategy=str(description["strategy"]),
    )


def _candidate_lines(candidates: Candidates) -> bytes:
    """Return one JSON object a line; an infinite error is null, since JSON has no infinity."""
    lines = [
        json.dumps(
            {
                "infix": str(each.expr.free()),
                "error": each.error if math.isfinite(each.error) else None,
                "complexity": int(each.complexity) if each.complexity.is_integer() else each.complexity,
                "executed_at": each.executed_at,
                "constants": each.expr.constants,
            },
            ensure_ascii=False,
        )
        for each in candidates
    ]
    return "".join(f"{line}\n" for line in lines).encode("utf-8")


def _read_candidates(lines: bytes, library: SymbolLibrary) -> Candidates:
    rows = [json.loads(line) for line in lines.decode("utf-8").splitlines()]
    exprs: list[Expr] = []
    for row in rows:
        free = parse(row["infix"], library)
        exprs.append(free.with_constants(row["constants"]) if row["constants"] else free)
    return Candidates(
        Forest.from_exprs(exprs, library),
        np.array([math.inf if row["error"] is None else row["error"] for row in rows], np.float64),
        np.array([row["complexity"] for row in rows], np.float64),
        np.array([row["executed_at"] for row in rows], np.int64),
    )


def _read_history(path: Path) -> History:
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        rows, names = list(reader), [each.name for each in fields(History)]
    if reader.fieldnames != names:
        raise ValueError(f"{path.name} has the columns {reader.fieldnames}, not {names}")
    dtypes = {name: getattr(History(), name).dtype for name in names}
    return History(**{name: np.array([row[name] for row in rows], dtype) for name, dtype in dtypes.items()})
