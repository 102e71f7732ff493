"""Engines run the epochs of islands. Results come in the order of the jobs, so the engine does not affect them."""

from __future__ import annotations

import hashlib
import pickle
import shutil
import tempfile
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from edhie.dask_cluster import DaskCluster, Lost
from edhie.errors import SearchError
from edhie.processes import end_worker, ended, submit

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


# -- on a Dask cluster, which schedules tasks, moves data and repeats tasks of workers that died --

TASK_ATTEMPTS = 5  # at a job whose worker or data are lost
MOST_HELD = 4  # searches whose data a worker keeps, if several clients use it
_held: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {}  # on a worker, by digest


class Dask(Engine):
    """Workers of a Dask cluster: the one at an address, that of the current client, or a new one on this machine."""

    is_remote = True

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        """`workers` is for a new cluster on this machine; None for one per core."""
        self._cluster = DaskCluster(address, workers)
        self._sent: tuple[object, str, bytes] | None = None

    @property
    def workers(self) -> int:  # type: ignore[override]
        """The number of workers now."""
        return self._cluster.n_workers

    def threads_each(self, n: int) -> int:
        """Return 1: workers have one thread each."""
        return 1

    def map(self, work: Callable[[S, J], R], setup: S, jobs: Sequence[J]) -> list[R]:
        """Submit one task for each job; tasks of lost workers are repeated."""
        digest = self._send(work, setup)
        found: dict[int, R] = {}
        for attempt in range(TASK_ATTEMPTS):
            missing = {k: jobs[k] for k in range(len(jobs)) if k not in found}
            if not missing:
                break
            found |= self._attempt(digest, missing, attempt)
        if len(found) < len(jobs):
            lost = f"{len(jobs) - len(found)} of {len(jobs)} tasks {TASK_ATTEMPTS} times in a row"
            raise SearchError(f"the cluster lost {lost}; its workers' logs say why")
        return [found[k] for k in range(len(jobs))]

    def _attempt(self, digest: str, jobs: dict[int, Any], attempt: int) -> dict[int, Any]:
        """Return the results of the jobs that were not lost, by their number."""
        names = {f"{getattr(job, 'number', 0)}-{k}-{attempt}": k for k, job in jobs.items()}
        found = {}
        for name, result in self._cluster.tasks(_call_held, {name: (digest, jobs[k]) for name, k in names.items()}):
            if isinstance(result, Missing):  # a worker that is new, or was started again
                self._hold([result.worker])
            elif not isinstance(result, Lost):
                found[names[name]] = result
        return found

    def _send(self, work: object, setup: object) -> str:
        """Send function and setup to every worker, once; return their digest."""
        from distributed.protocol import pickle

        if self._sent is None or self._sent[0] is not setup:
            packed = cast(bytes, pickle.dumps((work, setup)))
            own = uuid.uuid4().bytes  # a worker keeps islands in the setup: no two searches may share one
            self._sent = setup, hashlib.sha256(packed + own).hexdigest(), packed
            self._hold(None)
        return self._sent[1]

    def _hold(self, workers: list[str] | None) -> None:
        assert self._sent is not None
        _, digest, packed = self._sent
        for worker, error in self._cluster.on_workers(_unpack, digest, packed, workers=workers).items():
            if isinstance(error, ImportError):
                raise SearchError(f"the worker {worker} lacks a package: {error}; install the same packages as here")

    def close(self) -> None:
        """Drop the search from the workers, and close what this engine opened; the caller's client stays open."""
        if self._sent is not None:
            with suppress(SearchError):  # the scheduler is gone
                self._cluster.on_workers(_forget, self._sent[1])
        self._cluster.close()


@dataclass(frozen=True)
class Missing:
    """The answer of a worker that lacks the function and the setup."""

    worker: str


def _unpack(digest: str, packed: bytes) -> None:
    """Unpack function and setup, on a worker."""
    from distributed.protocol import pickle

    _held[digest] = _held.pop(digest) if digest in _held else pickle.loads(packed)
    while len(_held) > MOST_HELD:
        del _held[next(iter(_held))]  # the least recently sent


def _forget(digest: str) -> None:
    """Drop function and setup, on a worker."""
    _held.pop(digest, None)


def _call_held(digest: str, job: Any) -> Any:
    """Do one job, on a worker."""
    from distributed import get_worker

    if digest not in _held:
        return Missing(get_worker().address)
    work, setup = _held[digest]
    return work(setup, job)
