"""Checkpoints: a folder with a description of the search and one file of arrays, which is replaced atomically."""

from __future__ import annotations

import json
import time
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edhie.errors import EdhieError, KeepError, SearchError
from edhie.evaluate.evaluator import Evaluator, Mark
from edhie.results import History
from edhie.results.saving import DESCRIPTION as RESULT
from edhie.search.arrays import under
from edhie.search.base import State, Strategy, Tally, Task
from edhie.search.identity import FORMAT, check_same, description

DESCRIPTION, ARRAYS = "run.json", "checkpoint.npz"
WRITE_SECONDS = 20.0  # between two checkpoints


@dataclass(frozen=True, eq=False)
class Moment:
    """The end of a step, from which a search can be resumed."""

    n_steps: int
    seconds: float
    is_over: bool
    """True if the strategy had nothing left to do."""
    tally: Tally
    history: History
    state: State | None
    """Of the strategy; None where none is kept."""
    mark: Mark | None = None
    """Of the evaluator; None for a moment that was read from disk."""


class Keeper:
    """Keeps a search in a folder: its description in `run.json`, its latest moment in `checkpoint.npz`."""

    def __init__(
        self, folder: Path, strategy: Strategy, task: Task, seed: int, *, resume: bool, asked: Mapping[str, Any]
    ) -> None:
        self.folder = folder
        self._arrays: dict[str, NDArray[Any]] | None = None
        self._written = time.perf_counter()
        now = description(strategy, task, seed, asked)
        kept = _read_description(folder, resume=resume)
        if kept is not None:
            check_same(folder, kept, now)
            self._arrays = _read_arrays(folder / ARRAYS)
            now["seed"] = kept["seed"]
        self.seed = int(now["seed"])
        self._description = (json.dumps(now, indent=2, ensure_ascii=False, default=str) + "\n").encode()
        _write(folder, DESCRIPTION, self._description)

    @property
    def is_due(self) -> bool:
        """True if it is time for the next checkpoint."""
        return time.perf_counter() - self._written >= WRITE_SECONDS

    def write(self, moment: Moment, evaluator: Evaluator) -> None:
        """Write the present moment of strategy and evaluator, in place of the one before."""
        self._written = time.perf_counter()
        arrays: dict[str, NDArray[Any]] = {
            "steps": np.array(moment.n_steps),
            "seconds": np.array(moment.seconds),
            "is_over": np.array(moment.is_over),
            "tally": np.array([getattr(moment.tally, each.name) for each in fields(Tally)], np.int64),
        }
        arrays |= {f"history.{each.name}": getattr(moment.history, each.name) for each in fields(History)}
        arrays |= {f"strategy.{name}": _storable(name, array) for name, array in (moment.state or {}).items()}
        arrays |= {f"evaluator.{name}": array for name, array in evaluator.state().items()}
        if not (self.folder / DESCRIPTION).exists():  # the folder was removed during the search
            _write(self.folder, DESCRIPTION, self._description)
        _write(self.folder, ARRAYS, arrays)

    def restore(self, strategy: Strategy, evaluator: Evaluator) -> Moment | None:
        """Restore strategy and evaluator from the folder's checkpoint, and return its moment; None if there is none."""
        if self._arrays is None:
            return None
        arrays, self._arrays = self._arrays, None
        path = self.folder / ARRAYS
        try:
            state = under("strategy.", arrays)
            evaluator.restore(under("evaluator.", arrays))
            strategy.restore(state)
            history = [arrays[f"history.{each.name}"] for each in fields(History)]
            if len({column.shape for column in history}) != 1:
                raise ValueError("the columns of its history are not equally long")
            return Moment(
                int(arrays["steps"]), float(arrays["seconds"]), bool(arrays["is_over"]),
                Tally(*arrays["tally"].tolist()), History(*history), state,
            )  # fmt: skip
        except (KeyError, TypeError, ValueError, IndexError, EdhieError) as error:
            raise SearchError(f"{path} is damaged ({error!r}); remove {self.folder} to start again") from error


def _storable(name: str, value: Any) -> NDArray[Any]:
    try:
        array = np.asarray(value)
    except ValueError:  # lists of lists that are not equally long
        array = np.array(None)
    if array.dtype.hasobject:
        raise SearchError(f"the state {name!r} of a strategy is a {type(value).__name__} that no array can hold")
    return array


# -- files ----------------------------------------------------------------------------


def _read_description(folder: Path, *, resume: bool) -> dict[str, Any] | None:
    """Return the description of the search in a folder; None where a new one may begin."""
    path = folder / DESCRIPTION
    try:
        if not path.exists():
            if (folder / RESULT).exists() or (resume and folder.exists() and any(folder.iterdir())):
                raise SearchError(f"{folder} holds something other than a search: it has no {DESCRIPTION}")
            return None
        if not resume:
            raise SearchError(f"{folder} holds a search already; pass resume=True to continue it, or another folder")
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["format"] != FORMAT:
            raise SearchError(f"{path} has format {kept['format']!r}; this edhie reads format {FORMAT}")
        for key, kind in (("strategy", str), ("settings", dict), ("seed", int), ("digests", dict)):
            if not isinstance(kept[key], kind):
                raise TypeError(f"{key} is {kept[key]!r}")
    except OSError as error:
        raise SearchError(f"cannot look into {folder}: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise SearchError(f"{path} is damaged ({error!r}); remove {folder} to start again") from error
    return dict(kept)


def _read_arrays(path: Path) -> dict[str, NDArray[Any]] | None:
    if not path.exists():
        return None
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise SearchError(f"{path} is damaged ({error}); remove it to start again") from error


def _write(folder: Path, name: str, content: bytes | Mapping[str, NDArray[Any]]) -> None:
    """Replace a file atomically."""
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
        with suppress(OSError):  # part of a file is of no use, and the disk may be full
            part.unlink()
        raise KeepError(f"cannot keep the search in {folder}: {error.strerror or error}") from error
