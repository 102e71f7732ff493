"""A result as a folder that a person can read; nothing is pickled."""

from __future__ import annotations

import csv
import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import edhie
from edhie.errors import EdhieError, KeepError, SearchError
from edhie.expr import Expr, Forest, SymbolLibrary, parse
from edhie.expr.symbols import Symbol
from edhie.results.candidates import Candidates
from edhie.results.front import Front
from edhie.results.result import STOPPED, History, SearchCounts, SearchResult

FORMAT = 1
DESCRIPTION, SYMBOLS, CANDIDATES, FRONT, HISTORY = (
    "result.json",
    "symbols.json",
    "candidates.jsonl",
    "front.csv",
    "history.csv",
)


def save(result: SearchResult, folder: Path) -> Path:
    """Write a result into a folder; the description comes last, so a folder that has one is whole."""
    lines = _candidate_lines(result.candidates)
    description = {
        "format": FORMAT, "edhie": edhie.__version__, "strategy": result.strategy, "seed": result.seed,
        "stopped": result.stopped, "seconds": result.seconds, "counts": asdict(result.counts),
        "count": len(result.candidates), "sha256": _checksum(lines), "negligible": result.front.negligible,
    }  # fmt: skip
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / DESCRIPTION).unlink(missing_ok=True)
        (folder / CANDIDATES).write_bytes(lines)
        (folder / SYMBOLS).write_text(result.candidates.forest.library.to_json(), encoding="utf-8")
        _write_rows(folder / FRONT, ("complexity", "error", "executed_at", "expression"), _front_rows(result.front))
        history = result.history
        columns = history.executed, history.screened, history.seconds, history.error
        rows = zip(*(column.tolist() for column in columns), strict=True)
        _write_rows(folder / HISTORY, tuple(each.name for each in fields(History)), rows)
        (folder / DESCRIPTION).write_text(json.dumps(description, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise KeepError(f"cannot write the result to {folder}: {error.strerror or error}") from error
    return folder


def load(folder: Path, operators: Iterable[Symbol]) -> SearchResult:
    """Read a result; whatever is missing or damaged gives one error that says so."""
    for name in (DESCRIPTION, SYMBOLS, CANDIDATES, HISTORY):
        if not (folder / name).is_file():
            raise SearchError(f"{folder} is not a finished result: it has no {name}")
    try:
        description = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        version = description["format"]
        if version != FORMAT:
            raise SearchError(f"{folder / DESCRIPTION} has format {version!r}; this edhie reads format {FORMAT}")
        lines = (folder / CANDIDATES).read_bytes()
        if _checksum(lines) != description["sha256"]:
            raise SearchError(f"{folder / CANDIDATES} is not what {DESCRIPTION} describes: it was edited or damaged")
        library = SymbolLibrary.from_json((folder / SYMBOLS).read_text(encoding="utf-8"), operators=operators)
        return _assembled(description, _read_candidates(lines, library), _read_history(folder / HISTORY))
    except SearchError:
        raise
    except (OSError, ValueError, KeyError, TypeError, IndexError, RecursionError, EdhieError) as error:
        raise SearchError(f"the result in {folder} is damaged or cannot be read: {error!r}") from error


def _assembled(description: dict[str, Any], candidates: Candidates, history: History) -> SearchResult:
    if description["stopped"] not in STOPPED:
        raise ValueError(f"stopped is {description['stopped']!r}, none of {', '.join(STOPPED)}")
    return SearchResult(
        front=Front.of(candidates, negligible=float(description["negligible"])),
        candidates=candidates,
        counts=SearchCounts(**description["counts"]),
        history=history,
        seconds=float(description["seconds"]),
        stopped=description["stopped"],
        seed=int(description["seed"]),
        strategy=str(description["strategy"]),
    )


# -- candidates -----------------------------------------------------------------------


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


def _checksum(lines: bytes) -> str:
    return hashlib.sha256(lines).hexdigest()


# -- front and history ----------------------------------------------------------------


def _front_rows(front: Front) -> Iterable[tuple[Any, ...]]:
    return ((f"{each.complexity:g}", repr(each.error), each.executed_at, str(each.expr)) for each in front)


def _write_rows(path: Path, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(rows)


def _read_history(path: Path) -> History:
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        rows, names = list(reader), [each.name for each in fields(History)]
    if reader.fieldnames != names:
        raise ValueError(f"{path.name} has the columns {reader.fieldnames}, not {names}")

    def column(name: str, dtype: Any) -> NDArray[Any]:
        return np.array([row[name] for row in rows], dtype)

    return History(
        column("executed", np.int64), column("screened", np.int64), column("seconds", float), column("error", float)
    )
