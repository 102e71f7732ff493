"""Checkpoints: a folder with a description of the search and one file of arrays, which is replaced atomically.

The description has the settings and digests that determine the result, so that only the same search is resumed.
"""

from __future__ import annotations

import json
import math
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

import edhie
from edhie.archives import read_arrays
from edhie.errors import KeepError, SearchError, raised_as, shortened
from edhie.evaluate.archive import Archive
from edhie.evaluate.counting import Counts
from edhie.evaluate.evaluator import Evaluator
from edhie.expr import SymbolLibrary
from edhie.files import is_lock, replace_file
from edhie.results import Candidates, Front, History
from edhie.results.result import DESCRIPTION as RESULT
from edhie.search.arrays import read, under, written
from edhie.search.base import State, Strategy, Task
from edhie.search.sampling import drawn
from edhie.storage import FolderFormat, digest

DESCRIPTION, ARRAYS = "run.json", "checkpoint.npz"
STORED = FolderFormat("search", 5, DESCRIPTION, SearchError, "delete the folder and start again", KeepError)
WRITE_SECONDS = 4.0  # between two checkpoints, at most: a killed search loses this and the current step
LEAST_SECONDS, WRITE_SHARE = 1.0, 0.02  # least interval, and share of the time that writing may take below the most
SAMPLES = 64  # expressions of a generator by which it is identified
PLACES = ("generator", "corpus")
"""Settings that are paths, which may change: digests of the contents are compared instead."""
DIGEST = "_sha256"


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The state of a search at the end of a step."""

    n_steps: int
    seconds: float
    is_over: bool
    """True if the strategy had nothing left to do."""
    history: History
    state: State | None
    """The state of the strategy; None without a folder."""
    evaluator_state: State | None = None
    """None for a snapshot that was read from disk."""


class Checkpoints:
    """A search saved in a folder: `run.json` describes it, and `checkpoint.npz` holds its state."""

    def __init__(
        self, folder: Path, strategy: Strategy, task: Task, seed: int, *, resume: bool, asked: Mapping[str, Any]
    ) -> None:
        self.folder = folder
        self._arrays: dict[str, NDArray[Any]] | None = None
        self._written, self._cost = -math.inf, 0.0  # the first step is kept at once
        now = _description(strategy, task, seed, asked)
        kept = _read_description(folder, resume=resume)
        if kept is not None:
            _check_same(folder, kept, now)
            now["seed"] = kept["seed"]
            if (path := folder / ARRAYS).is_file():
                with STORED.reading(path):
                    self._arrays = read_arrays(path)
        self.seed = int(now["seed"])
        self._description = STORED.files(now, {})[DESCRIPTION]
        _write(folder, DESCRIPTION, self._description)

    @property
    def is_due(self) -> bool:
        """True if it is time for the next checkpoint."""
        between = min(max(LEAST_SECONDS, self._cost / WRITE_SHARE), WRITE_SECONDS)
        return time.perf_counter() - self._written >= between

    def write(self, snapshot: Snapshot, evaluator: Evaluator) -> None:
        """Write a snapshot as the checkpoint, in place of the previous one."""
        began = self._written = time.perf_counter()
        numbers = {"steps": snapshot.n_steps, "seconds": snapshot.seconds, "is_over": snapshot.is_over}
        arrays = written({**numbers, "history": snapshot.history, "evaluator": evaluator})
        arrays |= {f"strategy.{name}": _storable(name, array) for name, array in (snapshot.state or {}).items()}
        if not (self.folder / DESCRIPTION).exists():  # the folder was removed during the search
            _write(self.folder, DESCRIPTION, self._description)
        _write(self.folder, ARRAYS, lambda file: np.savez(file, **arrays))  # type: ignore[arg-type]
        self._cost = time.perf_counter() - began

    def restore(self, strategy: Strategy, evaluator: Evaluator) -> Snapshot | None:
        """Restore strategy and evaluator from the checkpoint, and return it; None if there is none."""
        if self._arrays is None:
            return None
        arrays, self._arrays = self._arrays, None
        with STORED.reading(self.folder / ARRAYS):
            state = under("strategy.", arrays)
            evaluator.restore(under("evaluator.", arrays))
            strategy.restore(state)
            history = read(History(), "history", arrays)
            if len({len(getattr(history, each.name)) for each in fields(History)}) != 1:
                raise ValueError("the columns of its history are not equally long")
            steps, seconds = int(arrays["steps"]), float(arrays["seconds"])
            return Snapshot(steps, seconds, bool(arrays["is_over"]), history, state)


def _storable(name: str, value: Any) -> NDArray[Any]:
    try:
        array = np.asarray(value)
    except ValueError:  # lists of lists that are not equally long
        array = np.array(None)
    if array.dtype.hasobject:
        raise SearchError(f"the state {name!r} of a strategy is a {type(value).__name__} that an array cannot hold")
    return array


# -- files ----------------------------------------------------------------------------


def _read_description(folder: Path, *, resume: bool) -> dict[str, Any] | None:
    """Return the description of the search in a folder; None if a new search may start there."""
    path = folder / DESCRIPTION
    with raised_as(SearchError, f"cannot look into {folder}"):
        if not path.exists():
            is_taken = resume and folder.exists() and not all(map(is_lock, folder.iterdir()))
            if (folder / RESULT).exists() or is_taken:
                raise SearchError(f"{folder} holds something other than a search: it has no {DESCRIPTION}")
            return None
    if not resume:
        raise SearchError(f"{folder} holds a search already; pass resume=True to continue it, or choose another folder")
    kept = STORED.read(folder)
    for key, kind in (("strategy", str), ("settings", dict), ("asked", dict), ("seed", int), ("digests", dict)):
        if not isinstance(kept.get(key), kind):
            raise STORED.damaged(path, f"{key} is {kept.get(key)!r}")
    return kept


def _write(folder: Path, name: str, content: bytes | Callable[[IO[bytes]], object]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / name, content)
    except OSError as error:
        raise STORED.unwritable(folder, error) from error


# -- the identity of a search -------------------------------------------------------------


def _description(strategy: Strategy, task: Task, seed: int, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings and digests that determine the result; to resume a search, they have to be the same."""
    evaluator, data = task.evaluator, task.evaluator.data
    weights = () if data.weights is None else (data.weights,)
    samples, _ = drawn(task.generator, SAMPLES, np.random.default_rng(0))
    return {
        "versions": {"edhie": edhie.__version__, "numpy": np.__version__, "python": platform.python_version()},
        "strategy": strategy.name,
        "settings": _plain(strategy.settings()),
        "asked": _plain({**asked, **evaluator.settings()}),
        "budget": asdict(task.budget),
        "seed": seed,
        "library": json.loads(evaluator.library.to_json()),
        "digests": {
            "data": digest(data.columns, data.y, *weights),
            "evaluator": digest(json.dumps(evaluator.settings(), sort_keys=True, default=str)),
            "library": digest(evaluator.library.to_json()),
            "generator": digest(samples.library.to_json(), samples.tokens, samples.offsets),
        },
    }


def _check_same(folder: Path, kept: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raise an error if the search in a folder is not the one to be resumed."""
    _check_asked(folder, kept["asked"], now["asked"])
    if kept["strategy"] != now["strategy"] or kept["settings"] != now["settings"]:
        raise SearchError(
            f"the search in {folder} has the strategy {kept['strategy']!r} with {kept['settings']}, not "
            f"{now['strategy']!r} with {now['settings']}; pass the same, or another folder"
        )
    other = [what for what, known in now["digests"].items() if kept["digests"].get(what) != known]
    if other:
        verb = "differ" if len(other) > 1 or other == ["data"] else "differs"
        what = f"{' and '.join(other)} {verb} from the saved search"
        raise SearchError(f"cannot resume {folder}: {what}; pass the same, or another folder")


def _check_asked(folder: Path, kept: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    for what in dict.fromkeys([*now, *kept]):
        if what in PLACES or kept.get(what) == now.get(what):
            continue
        name, before, after = what.removesuffix(DIGEST), kept.get(what), now.get(what)
        if name != what and before and after:
            told = f"the {name} differs from that of the saved search"
        else:
            told = f"the saved search has {_told(name, before, after)}, not {_told(name, after, before)}"
        raise SearchError(f"cannot resume {folder}: {told}; pass the same, or another folder")


def _told(name: str, value: Any, other: Any) -> str:
    """Return a value as text; of a table, only the entries that differ from another one."""
    if value is None:
        return f"no {name}"
    if name in PLACES:
        return f"a {name}"
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        value = {key: each for key, each in value.items() if each != other.get(key)}
    return f"{name} {shortened(json.dumps(value, ensure_ascii=False))}"


def _plain(value: Any) -> Any:
    """Return a value as it would be read from a JSON file."""
    return json.loads(json.dumps(value, default=str))


# -- results of an unfinished search ---------------------------------------------------


@dataclass(frozen=True)
class Unfinished:
    """The front and the counts of a search at its last checkpoint."""

    front: Front
    executed: int
    seconds: float


def read_unfinished(folder: Path) -> Unfinished | None:
    """Return the results of the search in a folder at its last checkpoint; None if there is no checkpoint."""
    description, path = STORED.read(folder), folder / ARRAYS
    if not path.is_file():
        return None
    with STORED.reading(path):
        file = read_arrays(path)
        library = SymbolLibrary.from_json(json.dumps(description["library"]))
        arrays = under("evaluator.", file)
        archive, counts = Archive(library), Counts(*map(int, arrays["counts"]))
        archive.restore(arrays)
        forest = archive.take(np.arange(len(archive)))
        found = Candidates(forest, archive.errors, archive.complexities, archive.executed_at)
        return Unfinished(Front.of(found), counts.executed, float(file["seconds"]))
