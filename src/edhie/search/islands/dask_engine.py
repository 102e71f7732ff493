"""Islands on a Dask cluster. Dask schedules, moves data and repeats tasks of workers that died; we only submit."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from edhie.errors import SearchError
from edhie.search.islands.engines import Engine, J, R, S

ANSWER_SECONDS = 10  # in which a scheduler has to answer
ATTEMPTS = 5  # at a job whose worker, or whose data, is lost
_held: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {}  # on a worker, by digest
LOCAL = "local"
"""The address that stands for a cluster of processes on this machine."""


class Dask(Engine):
    """Workers of a Dask cluster: the one at an address, that of the current client, or a new one on this machine."""

    is_remote = True

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        """`workers` is for a new cluster on this machine; None for one a core."""
        try:
            import distributed
        except ImportError as error:
            raise SearchError("a cluster needs Dask; install it with: pip install 'edhie[cluster]'") from error
        self._cluster: Any = None
        try:
            if address not in (None, LOCAL):
                self._client = distributed.Client(address, timeout=ANSWER_SECONDS, set_as_default=False)
                self._is_own = True
            else:
                self._client, self._is_own = None if address == LOCAL else _current_client(), False
        except (OSError, ValueError) as error:
            raise SearchError(f"no Dask scheduler answers at {address}: {error}; check the address") from error
        if self._client is None:
            self._cluster = distributed.LocalCluster(
                n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None
            )
            self._client, self._is_own = distributed.Client(self._cluster, set_as_default=False), True
        self._name = f"edhie-{uuid.uuid4().hex[:12]}"
        self._sent: tuple[object, str, bytes] | None = None

    @property
    def workers(self) -> int:  # type: ignore[override]
        """The number of workers now."""
        return max(1, len(self._client.scheduler_info(n_workers=-1)["workers"]))

    def threads_each(self, n: int) -> int:
        """Return 1: workers have one thread each."""
        return 1

    def map(self, work: Callable[[S, J], R], setup: S, jobs: Sequence[J]) -> list[R]:
        """Submit one task for each job; those of lost workers again."""
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
        """Return the results of those jobs that were not lost."""
        from concurrent.futures import CancelledError

        from distributed import KilledWorker
        from distributed.comm.core import CommClosedError

        found, futures = {}, {}
        try:
            for k, job in jobs.items():
                key = f"{self._name}-{getattr(job, 'number', 0)}-{k}-{attempt}"
                futures[k] = self._client.submit(_call, digest, job, key=key, pure=False)
            for k, future in futures.items():
                try:
                    result = future.result()
                except (CancelledError, KilledWorker, CommClosedError):  # lost with a worker
                    continue
                if isinstance(result, Missing):  # a worker that is new, or was started again
                    self._hold([result.worker])
                else:
                    found[k] = result
        except BaseException:
            self._client.cancel(list(futures.values()))
            raise
        return found

    def _send(self, work: object, setup: object) -> str:
        """Send function and setup to every worker, once; return their digest."""
        from distributed.protocol import pickle

        if self._sent is None or self._sent[0] is not setup:
            packed = cast(bytes, pickle.dumps((work, setup)))
            self._sent = setup, hashlib.sha256(packed).hexdigest(), packed
            self._hold(None)
        return self._sent[1]

    def _hold(self, workers: list[str] | None) -> None:
        assert self._sent is not None
        _, digest, packed = self._sent
        self._client.run(_unpack, digest, packed, workers=workers, on_error="ignore")

    def close(self) -> None:
        """Close what this engine opened; a client of the caller stays open."""
        if self._is_own:
            self._client.close()
        if self._cluster is not None:
            self._cluster.close()


def _current_client() -> Any:
    import distributed

    try:
        return distributed.get_client()
    except ValueError:  # there is none
        return None


@dataclass(frozen=True)
class Missing:
    """The answer of a worker that lacks the function and the setup."""

    worker: str


def _unpack(digest: str, packed: bytes) -> None:
    """Unpack function and setup, on a worker."""
    from distributed.protocol import pickle

    _held.clear()  # of a search before
    _held[digest] = pickle.loads(packed)


def _call(digest: str, job: Any) -> Any:
    """Do one job, on a worker."""
    from distributed import get_worker

    if digest not in _held:
        return Missing(get_worker().address)
    work, setup = _held[digest]
    return work(setup, job)
