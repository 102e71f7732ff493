"""The state of a search on disk: a description, and one file of arrays that is replaced whole."""

from __future__ import annotations

import hashlib
import json
import platform
import time
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import edhie
from edhie.errors import EdhieError, SearchError
from edhie.evaluate.evaluator import Evaluator, Mark
from edhie.generators.base import Generator
from edhie.results import History
from edhie.results.saving import DESCRIPTION as RESULT
from edhie.search.base import State, Strategy, Tally, Task
from edhie.search.sampling import drawn

FORMAT = 1
DESCRIPTION, ARRAYS = "run.json", "checkpoint.npz"
WRITE_SECONDS = 20.0  # between two checkpoints
SAMPLES = 64  # of a generator, by which it is known again


@dataclass(frozen=True, eq=False)
class Moment:
    """The end of a step: what a search can go back to, and on from."""

    n_steps: int
    seconds: float
    is_over: bool
    """Whether the strategy had nothing left to do."""
    tally: Tally
    history: History
    state: State | None
    """Of the strategy; None where it was not asked for."""
    mark: Mark | None = None
    """Of the evaluator; None for a moment that was read."""


class Keeper:
    """Keeps a search in a folder: `run.json` says what it is, `checkpoint.npz` where it stands."""

    def __init__(self, folder: Path, strategy: Strategy, task: Task, seed: int, *, resume: bool) -> None:
        self.folder = folder
        self._arrays: dict[str, NDArray[Any]] | None = None
        self._written = time.perf_counter()
        description = _description(strategy, task, seed)
        kept = _read_description(folder, resume=resume)
        if kept is not None:
            _check_same(folder, kept, description)
            self._arrays = _read_arrays(folder / ARRAYS)
            description["seed"] = kept["seed"]
        self.seed = int(description["seed"])
        _write(folder, DESCRIPTION, (json.dumps(description, indent=2, default=str) + "\n").encode())

    @property
    def is_due(self) -> bool:
        """Whether it is time for the next checkpoint."""
        return time.perf_counter() - self._written >= WRITE_SECONDS

    def write(self, moment: Moment, evaluator: Evaluator) -> None:
        """Keep a moment that strategy and evaluator are at, in place of the one before."""
        arrays: dict[str, NDArray[Any]] = {
            "steps": np.array(moment.n_steps),
            "seconds": np.array(moment.seconds),
            "is_over": np.array(moment.is_over),
            "tally": np.array([getattr(moment.tally, each.name) for each in fields(Tally)], np.int64),
        }
        arrays |= {f"history.{each.name}": getattr(moment.history, each.name) for each in fields(History)}
        arrays |= {f"strategy.{name}": _storable(name, array) for name, array in (moment.state or {}).items()}
        arrays |= {f"evaluator.{name}": array for name, array in evaluator.state().items()}
        _write(self.folder, ARRAYS, arrays)
        self._written = time.perf_counter()

    def restore(self, strategy: Strategy, evaluator: Evaluator) -> Moment | None:
        """Put strategy and evaluator where the folder's checkpoint stands; None where there is none."""
        if self._arrays is None:
            return None
        arrays, self._arrays = self._arrays, None
        path = self.folder / ARRAYS
        try:
            state = _under("strategy.", arrays)
            evaluator.restore(_under("evaluator.", arrays))
            strategy.restore(state)
            return Moment(
                int(arrays["steps"]), float(arrays["seconds"]), bool(arrays["is_over"]),
                Tally(*arrays["tally"].tolist()), _history(arrays), state,
            )  # fmt: skip
        except (KeyError, TypeError, ValueError, IndexError, EdhieError) as error:
            raise SearchError(f"{path} is damaged ({error!r}); remove {self.folder} to begin anew") from error


def _history(arrays: Mapping[str, NDArray[Any]]) -> History:
    columns = [arrays[f"history.{each.name}"] for each in fields(History)]
    if len({column.shape for column in columns}) != 1:
        raise ValueError("the columns of its history are not equally long")
    return History(*columns)


def _under(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _storable(name: str, value: Any) -> NDArray[Any]:
    try:
        array = np.asarray(value)
    except ValueError:  # lists of lists that are not equally long
        array = np.array(None)
    if array.dtype.hasobject:
        raise SearchError(f"the state {name!r} of a strategy is a {type(value).__name__} that no array can hold")
    return array


# -- what a search is -----------------------------------------------------------------


def _description(strategy: Strategy, task: Task, seed: int) -> dict[str, Any]:
    """What makes a search; one that goes on must find strategy and digests as they were."""
    evaluator, data = task.evaluator, task.evaluator.data
    weights = () if data.weights is None else (data.weights,)
    return {
        "format": FORMAT,
        "versions": {"edhie": edhie.__version__, "numpy": np.__version__, "python": platform.python_version()},
        "strategy": strategy.name,
        "settings": json.loads(json.dumps(strategy.settings(), default=str)),
        "budget": asdict(task.budget),
        "seed": seed,
        "digests": {
            "data": _digest(data.columns, data.y, *weights),
            "evaluator": _digest(text=json.dumps(evaluator.settings(), sort_keys=True, default=str)),
            "library": _digest(text=evaluator.library.to_json()),
            "generator": _sample_digest(task.generator),
        },
    }


def _sample_digest(generator: Generator) -> str:
    forest, _ = drawn(generator, SAMPLES, np.random.default_rng(0))
    return _digest(forest.tokens, forest.offsets, text=forest.library.to_json())


def _digest(*arrays: NDArray[Any], text: str = "") -> str:
    state = hashlib.sha256(text.encode())
    for array in arrays:
        state.update(np.ascontiguousarray(array).tobytes())
    return state.hexdigest()


def _check_same(folder: Path, kept: dict[str, Any], now: dict[str, Any]) -> None:
    if kept["strategy"] != now["strategy"] or kept["settings"] != now["settings"]:
        raise SearchError(
            f"the search in {folder} has the strategy {kept['strategy']!r} with {kept['settings']}, not "
            f"{now['strategy']!r} with {now['settings']}; pass the same, or another folder"
        )
    other = [what for what, digest in now["digests"].items() if kept["digests"].get(what) != digest]
    if other:
        raise SearchError(
            f"the search in {folder} had another {' and another '.join(other)}; pass the same, or another folder"
        )


# -- files ----------------------------------------------------------------------------


def _read_description(folder: Path, *, resume: bool) -> dict[str, Any] | None:
    """What the folder says of the search in it; None where a new one may begin there."""
    path = folder / DESCRIPTION
    try:
        if not path.exists():
            if (folder / RESULT).exists() or (resume and folder.exists() and any(folder.iterdir())):
                raise SearchError(f"{folder} holds something else than a search: it has no {DESCRIPTION}")
            return None
        if not resume:
            raise SearchError(f"{folder} holds a search already; go on with resume=True, or choose another folder")
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["format"] != FORMAT:
            raise SearchError(f"{path} has format {kept['format']!r}; this edhie reads format {FORMAT}")
        for key, kind in (("strategy", str), ("settings", dict), ("seed", int), ("digests", dict)):
            if not isinstance(kept[key], kind):
                raise TypeError(f"{key} is {kept[key]!r}")
    except OSError as error:
        raise SearchError(f"cannot look into {folder}: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise SearchError(f"{path} is damaged ({error!r}); remove {folder} to begin anew") from error
    return dict(kept)


def _read_arrays(path: Path) -> dict[str, NDArray[Any]] | None:
    if not path.exists():
        return None
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise SearchError(f"{path} is damaged ({error}); remove it to begin anew") from error


def _write(folder: Path, name: str, content: bytes | Mapping[str, NDArray[Any]]) -> None:
    """Replace a file whole."""
    part = folder / f"{name}.part"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            if isinstance(content, bytes):
                file.write(content)
            else:
                np.savez(file, **content)  # type: ignore[arg-type]
        part.replace(folder / name)
    except OSError as error:
        raise SearchError(f"cannot keep the search in {folder}: {error.strerror or error}") from error
