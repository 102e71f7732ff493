"""Searches saved in one file each, so that equations can be selected again among their candidates.

`Discovery.of(*read_search(path))` selects as the fit did that was saved; with other settings or another criterion, or
with another version of the code, it selects anew. A file has the front, the leaders, the candidates of least error and
the simplest ones, the settings, and the rows.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rows import Row, read_rows, write_rows
from runs import Fit, timed

if TYPE_CHECKING:
    from edhie.evaluate import Data
    from edhie.expr import SymbolLibrary
    from edhie.fit import Discovery, Problem, Settings
    from edhie.results import Candidates, SearchResult

MOST_KEPT = 20_000  # candidates; all of a search that has fewer
LEAST_ERRORS, SIMPLEST = 10_000, 4_000  # of a search that has more
SUFFIX = ".safetensors"
PARTS = ("tokens", "offsets", "values")
SCORES = ("errors", "complexities", "executed_at")

Arrays = dict[str, NDArray[Any]]


class Search(NamedTuple):
    """What equations are selected from: the first arguments of `Discovery.of`."""

    result: SearchResult
    problem: Problem
    settings: Settings


# -- options of a script ------------------------------------------------------------------


def add_options(options: argparse.ArgumentParser) -> None:
    """Add `--keep` and `--judge`."""
    options.add_argument("--keep", type=Path, metavar="FOLDER", help="save each search in this folder")
    options.add_argument(
        "--judge", action="store_true", help="select again among the searches in --keep, without new ones"
    )


def check_options(given: argparse.Namespace) -> None:
    """Raise an error if searches are to be judged, but none are named."""
    if given.judge and given.keep is None:
        raise SystemExit("--judge needs the folder of the searches; name it with --keep")


def forget(jobs: Sequence[Row], path: Path, fields: Sequence[str]) -> None:
    """Remove the rows of these jobs from a table, so that they run again."""
    asked = {tuple(job.values()) for job in jobs}
    rows = read_rows(path)
    kept = [row for row in rows if not jobs or tuple(map(row.get, jobs[0])) not in asked]
    if len(kept) < len(rows):
        write_rows(kept, path, fields)


def searched(run: Callable[[], Fit], name: str, *, keep: Path | None, judge: bool) -> Fit:
    """Return the result of a fit, saved under this name in the folder `keep`; to judge, select among what is saved."""
    path = None if keep is None else keep / f"{name}{SUFFIX}"
    if judge:
        assert path is not None
        return timed(lambda: selected_again(path))
    done = run()
    if path is not None:
        save_search(done.found, path)
    return done


def selected_again(path: Path) -> Discovery:
    """Select equations among the candidates of a saved search."""
    from edhie.fit import Discovery

    return Discovery.of(*read_search(path))


# -- files ----------------------------------------------------------------------------------


def save_search(found: Discovery, path: Path) -> None:
    """Write what equations were selected from into one file."""
    from edhie.files import replace_file
    from edhie.storage import pack

    result, problem = found.result, found.problem
    tables = {"train": problem.train, "validation": problem.validation}
    arrays = _candidate_arrays("candidates", _worth_keeping(result))
    if result.leaders is not None:
        arrays |= _candidate_arrays("leaders", result.leaders)
    for name, data in tables.items():
        arrays |= {} if data is None else {f"{name}.columns": data.columns, f"{name}.y": data.y}
    notes = {
        "library": result.candidates.forest.library.to_json(),
        "settings": json.dumps(found.settings.as_json()),
        "target": problem.target,
        "columns": json.dumps(problem.columns),
        "names": json.dumps(problem.train.names),
        "search": json.dumps(
            {
                "counts": asdict(result.counts), "seconds": result.seconds, "stopped": result.stopped,
                "seed": result.seed, "strategy": result.strategy, "negligible": result.front.negligible,
            }
        ),
    }  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, pack(arrays, notes))


def read_search(path: Path) -> Search:
    """Read what `save_search` wrote."""
    from edhie.expr import SymbolLibrary
    from edhie.fit import Problem, Settings
    from edhie.results import Front, History, SearchCounts, SearchResult
    from edhie.storage import unpack

    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing; run the search first, with --keep and without --judge")
    arrays, notes = unpack(path)
    library, known = SymbolLibrary.from_json(notes["library"]), json.loads(notes["search"])
    candidates, negligible = _candidates("candidates", arrays, library), known.pop("negligible")
    assert candidates is not None
    result = SearchResult(
        front=Front.of(candidates, negligible=negligible), candidates=candidates, history=History(),
        counts=SearchCounts(**known.pop("counts")), leaders=_candidates("leaders", arrays, library), **known,
    )  # fmt: skip
    names = tuple(json.loads(notes["names"]))
    train, validation = _rows("train", arrays, names), _rows("validation", arrays, names)
    assert train is not None
    problem = Problem(notes["target"], tuple(json.loads(notes["columns"])), train, validation)
    return Search(result, problem, Settings.from_json(json.loads(notes["settings"])))


def _worth_keeping(result: SearchResult) -> Candidates:
    """Return the candidates that may be selected, in the order in which they were executed."""
    every = result.candidates
    if len(every) <= MOST_KEPT:
        return every
    by_error = np.argsort(every.errors, kind="stable")[:LEAST_ERRORS]
    by_size = np.lexsort((every.errors, every.complexities))
    simplest = by_size[np.isfinite(every.errors[by_size])][:SIMPLEST]
    on_front = np.flatnonzero(np.isin(every.executed_at, result.front.candidates.executed_at))
    return every.take(np.unique(np.concatenate([by_error, simplest, on_front])))


def _candidate_arrays(prefix: str, candidates: Candidates) -> Arrays:
    forest = {f"{prefix}.{name}": getattr(candidates.forest, name) for name in PARTS}
    return forest | {f"{prefix}.{name}": getattr(candidates, name) for name in SCORES}


def _candidates(prefix: str, arrays: Arrays, library: SymbolLibrary) -> Candidates | None:
    from edhie.expr import Forest
    from edhie.results import Candidates

    if f"{prefix}.tokens" not in arrays:
        return None
    forest = Forest.checked(library, *(arrays[f"{prefix}.{name}"] for name in PARTS))
    return Candidates(forest, *(arrays[f"{prefix}.{name}"] for name in SCORES))


def _rows(part: str, arrays: Arrays, names: tuple[str, ...]) -> Data | None:
    from edhie.evaluate import Data
    from edhie.evaluate.data import with_resolution

    if f"{part}.y" not in arrays:
        return None
    return with_resolution(Data(arrays[f"{part}.columns"], arrays[f"{part}.y"], None, names))
