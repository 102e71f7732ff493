"""Islands on a Dask cluster. Dask schedules tasks, moves data and repeats tasks of workers that died."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

from edhie.dask_cluster import DaskCluster, Lost
from edhie.errors import SearchError
from edhie.search.islands.engines import Engine, J, R, S

ATTEMPTS = 5  # at a job whose worker or data are lost
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
        for attempt in range(ATTEMPTS):
            missing = {k: jobs[k] for k in range(len(jobs)) if k not in found}
            if not missing:
                break
            found |= self._attempt(digest, missing, attempt)
        if len(found) < len(jobs):
            lost = len(jobs) - len(found)
            raise SearchError(
                f"the cluster lost {lost} of {len(jobs)} tasks {ATTEMPTS} times in a row; its workers' logs say why"
            )
        return [found[k] for k in range(len(jobs))]

    def _attempt(self, digest: str, jobs: dict[int, Any], attempt: int) -> dict[int, Any]:
        """Return the results of the jobs that were not lost, by their number."""
        names = {f"{getattr(job, 'number', 0)}-{k}-{attempt}": k for k, job in jobs.items()}
        found = {}
        for name, result in self._cluster.tasks(_call, {name: (digest, jobs[k]) for name, k in names.items()}):
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


def _call(digest: str, job: Any) -> Any:
    """Do one job, on a worker."""
    from distributed import get_worker

    if digest not in _held:
        return Missing(get_worker().address)
    work, setup = _held[digest]
    return work(setup, job)
