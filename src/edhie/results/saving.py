"""A result as a folder that a person can read."""

from __future__ import annotations

import csv
import hashlib
import json
import math
from collections.abc import Iterable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

import edhie
from edhie.errors import KeepError, SearchError
from edhie.expr import Expr, Forest, SymbolLibrary, parse
from edhie.expr.symbols import Symbol
from edhie.files import small_text
from edhie.results.candidates import Candidates
from edhie.results.front import Front
from edhie.results.result import STOPPED, History, SearchCounts, SearchResult
from edhie.storage import FolderFormat, csv_text

DESCRIPTION, SYMBOLS, CANDIDATES = "result.json", "symbols.json", "candidates.jsonl"
FRONT, HISTORY = "front.csv", "history.csv"
FORMAT = FolderFormat("result", 1, DESCRIPTION, SearchError, "delete it and search again", KeepError)


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


def load(folder: Path, operators: Iterable[Symbol]) -> SearchResult:
    """Read a result."""
    description = FORMAT.read(folder, SYMBOLS, CANDIDATES, HISTORY)
    with FORMAT.reading(folder):
        lines = (folder / CANDIDATES).read_bytes()
        if hashlib.sha256(lines).hexdigest() != description["sha256"]:
            raise ValueError(f"{CANDIDATES} is not what {DESCRIPTION} describes")
        library = SymbolLibrary.from_json(small_text(folder / SYMBOLS), operators=operators)
        return assembled(description, _read_candidates(lines, library), _read_history(folder / HISTORY))


def assembled(description: dict[str, Any], candidates: Candidates, history: History) -> SearchResult:
    """Return the result of a description and these parts."""
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
