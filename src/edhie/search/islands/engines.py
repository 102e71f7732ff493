"""Engines run the epochs of islands. Results come in the order of the jobs, so the engine does not affect them."""

from __future__ import annotations

import pickle
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from edhie.errors import SearchError
from edhie.worker_processes import end_worker, ended, submit

ATTEMPTS = 2  # repetitions of a job whose process was killed
LARGE = 1 << 20  # bytes from which arrays are shared
S = TypeVar("S")
J = TypeVar("J")
R = TypeVar("R")


class Engine(ABC):
    """Calls a function for several jobs."""

    workers: int = 1
    """Number of cores in use."""
    is_remote = False
    """True if jobs run on other machines."""

    @abstractmethod
    def map(self, work: Callable[[S, J], R], setup: S, jobs: Sequence[J]) -> list[R]:
        """Return `work(setup, job)` for each job, in order; `work` is a pure function at module level."""

    def threads_each(self, n: int) -> int:
        """Return the number of threads for each of `n` jobs."""
        return max(1, self.workers // n)

    def close(self) -> None:  # noqa: B027 -- most engines have nothing to close
        """Close what this engine opened."""


class Here(Engine):
    """One job after the other in this process, each with all threads."""

    def __init__(self, workers: int = 1) -> None:
        self.workers = workers

    def map(self, work: Callable[[S, J], R], setup: S, jobs: Sequence[J]) -> list[R]:
        """Call the function for each job in turn."""
        return [work(setup, job) for job in jobs]

    def threads_each(self, n: int) -> int:
        """Return all threads: jobs do not run at the same time."""
        return self.workers


class Processes(Engine):
    """Processes on this machine. They share large arrays, and job k always runs in the same one."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._shared: tuple[object, Path] | None = None

    def map(self, work: Callable[[S, J], R], setup: S, jobs: Sequence[J]) -> list[R]:
        """Call the function in worker processes, which are kept for the next call."""
        calls = [(work, self._folder_of(setup), job) for job in jobs]
        try:
            futures = [submit(k % self.workers, _call, *call) for k, call in enumerate(calls)]
            return [self._result(futures[k], k, *call) for k, call in enumerate(calls)]
        except BaseException:
            for k in range(min(self.workers, len(jobs))):
                end_worker(k)  # it may be busy for a long time
            raise

    def _result(self, future: Any, k: int, *call: Any) -> Any:
        """Return the result of job k; if its process was killed, repeat the job in a new one."""
        for _ in range(ATTEMPTS):
            try:
                return future.result()
            except ended():
                future = submit(k % self.workers, _call, *call)
        try:
            return future.result()
        except ended() as error:
            what = f"the process of an island ended {ATTEMPTS + 1} times, possibly because memory ran out"
            raise SearchError(f"{what}; use fewer islands or jobs") from error

    def _folder_of(self, setup: object) -> Path:
        """Return the folder that holds a setup; large arrays are files there, memory-mapped by all processes."""
        from loky.backend import resource_tracker

        if self._shared is None or self._shared[0] is not setup:
            self.close()
            self._shared = setup, Path(tempfile.mkdtemp(prefix="edhie-"))
            resource_tracker.register(str(self._shared[1]), "folder")  # it is removed even if this process is killed
            _save(setup, self._shared[1])
        return self._shared[1]

    def close(self) -> None:
        """Remove the shared folder; the processes stay for a while, for another search."""
        from loky.backend import resource_tracker

        if self._shared is not None:
            shutil.rmtree(self._shared[1], ignore_errors=True)
            resource_tracker.unregister(str(self._shared[1]), "folder")
            self._shared = None


# -- in a worker process -------------------------------------------------------------------

_loaded: dict[Path, object] = {}  # its latest setup


def _call(work: Callable[[Any, Any], Any], folder: Path, job: object) -> Any:
    """Run one job in a worker process."""
    if folder not in _loaded:
        _loaded.clear()
        _loaded[folder] = _load(folder)
    return work(_loaded[folder], job)


def _save(setup: object, folder: Path) -> None:
    import cloudpickle

    class Saving(cloudpickle.Pickler):  # type: ignore[misc]
        def persistent_id(self, part: object) -> str | None:
            if type(part) is not np.ndarray or part.dtype.hasobject or part.nbytes < LARGE:
                return None
            name = f"{len(list(folder.iterdir()))}.npy"
            np.save(folder / name, part)
            return name

    with (folder / "setup").open("wb") as file:
        Saving(file).dump(setup)


def _load(folder: Path) -> object:
    class Loading(pickle.Unpickler):
        def persistent_load(self, name: str) -> object:
            # "c", copy on write: kernels would be compiled anew for arrays that are read-only
            return np.load(folder / name, mmap_mode="c")

    with (folder / "setup").open("rb") as file:
        return Loading(file).load()
