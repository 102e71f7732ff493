"""Connection to a Dask cluster: run tasks on it, and detect the loss of its scheduler."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

from edhie.errors import MissingExtraError, SearchError

LOGGER = logging.getLogger(__name__)
CONNECT_SECONDS = 4  # within which a scheduler has to answer for the first time
ANSWER_SECONDS = 10  # within which a scheduler that was lost has to be restarted
LOOK_EVERY = 0.5  # seconds between checks for the loss of the scheduler
LOCAL = "local"
"""The address that stands for a cluster of processes on this machine."""


@dataclass(frozen=True)
class Lost:
    """The result of a task whose worker or scheduler was lost."""

    is_deadly: bool
    """True if several workers died while running it, for example because memory ran out."""


class DaskCluster:
    """The cluster at an address, that of the current client, or a new one on this machine."""

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        """`address` is None for the current client; `workers` is the size of a new cluster, None for one per core."""
        try:
            import distributed
        except ImportError as error:
            raise MissingExtraError("a Dask cluster", "cluster") from error
        self._cluster: Any = None
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # edhie reports a lost scheduler itself
        self.client: Any = None if address == LOCAL else _current_client() if address is None else _client_at(address)
        self._is_own = address is not None or self.client is None
        if self.client is None:
            self._cluster = distributed.LocalCluster(
                n_workers=workers, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
            )
            self.client = distributed.Client(self._cluster, timeout=ANSWER_SECONDS, set_as_default=False)
        self.address: str = self.client.scheduler.address
        self._name = f"edhie-{uuid.uuid4().hex[:12]}"
        if not self._workers():
            LOGGER.warning("the Dask cluster at %s has no workers yet; waiting for them", self.address)

    @property
    def n_workers(self) -> int:
        """The current number of workers, at least 1."""
        return max(1, self._workers())

    def tasks(
        self, function: Callable[..., Any], arguments: Mapping[str, tuple[Any, ...]]
    ) -> Iterator[tuple[str, Any]]:
        """Submit one call of a function for each name, with its arguments; yield names and results as tasks end.

        Dask repeats the tasks of workers that died; a task that is lost nevertheless yields `Lost`. Errors of the
        function are raised. If the caller stops, tasks that have not begun are cancelled.
        """
        ended: SimpleQueue[Any] = SimpleQueue()
        futures: dict[str, tuple[str, Any]] = {}
        try:
            for name, each in arguments.items():
                with self._noticing_loss():
                    future = self.client.submit(function, *each, key=f"{self._name}-{name}", pure=False)
                futures[future.key] = name, future
                future.add_done_callback(ended.put)
            while futures:
                try:
                    future = ended.get(timeout=LOOK_EVERY)
                except Empty:
                    self._check()
                    continue
                result = _result(future)
                name, _ = futures.pop(future.key)
                future = None  # so that workers may forget the result
                yield name, result
        finally:
            if futures and self.client.status == "running":
                self.client.cancel([future for _, future in futures.values()])

    def on_workers(self, function: Callable[..., Any], *given: Any, workers: list[str] | None = None) -> dict[str, Any]:
        """Call a function on some workers, by default all; return its result or its error for each worker."""
        with self._noticing_loss():
            found: dict[str, Any] = self.client.run(function, *given, workers=workers, on_error="return")
        return found

    def close(self) -> None:
        """Close what was opened here; a client of the caller stays open."""
        if self._is_own:
            self.client.close()
        if self._cluster is not None:
            self._cluster.close()

    def _workers(self) -> int:
        with self._noticing_loss():
            return len(self.client.scheduler_info(n_workers=-1).get("workers", ()))

    def _check(self) -> None:
        """Raise an error if the scheduler is lost, but not while the client tries to reconnect."""
        if self.client.status not in ("running", "connecting"):
            raise _gone(self.address)

    @contextmanager
    def _noticing_loss(self) -> Iterator[None]:
        """Replace errors of a client that has lost its scheduler by one that names the scheduler."""
        while self.client.status == "connecting":
            time.sleep(LOOK_EVERY / 5)
        self._check()
        try:
            yield
        except Exception as error:
            if isinstance(error, OSError) or self.client.status != "running":
                raise _gone(self.address) from error
            raise


def _gone(address: str) -> SearchError:
    return SearchError(f"the Dask scheduler at {address} is gone; start it again, or give another address")


def _result(future: Any) -> Any:
    """Return the result of a task that has ended, or `Lost`."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker
    from distributed.comm.core import CommClosedError

    try:
        return future.result()
    except KilledWorker:
        return Lost(is_deadly=True)
    except (CancelledError, CommClosedError):
        return Lost(is_deadly=False)


def _client_at(address: str) -> Any:
    """Return a client of the scheduler at an address.

    The address is tried first: a client at a wrong one may wait for ever, and takes 20 s to be deleted.
    """
    import distributed

    with ThreadPoolExecutor(1) as thread:  # in a notebook, this thread has a running event loop
        error = thread.submit(asyncio.run, _check_scheduler(address)).exception()
    if error is None:
        try:
            return distributed.Client(address, timeout=ANSWER_SECONDS, set_as_default=False)
        except OSError as lost:
            error = lost
    reason = f": {error}" if isinstance(error, (TypeError, ValueError)) else ""
    what = f"no Dask scheduler answers at {address or 'an empty address'}{reason}"
    raise SearchError(f"{what}; check that it runs, and that its address is of the form tcp://host:8786") from error


async def _check_scheduler(address: str) -> None:
    """Raise an error unless a scheduler answers; ValueError or TypeError if the address cannot be that of one."""
    from distributed import Security, rpc

    settings = Security().get_connection_args("client")
    async with rpc(address, timeout=CONNECT_SECONDS, connection_args=settings) as server:
        found = await asyncio.wait_for(server.identity(), CONNECT_SECONDS)
    if found["type"] != "Scheduler":
        raise ValueError(f"this is the address of a {found['type'].lower()}")


def _current_client() -> Any:
    import distributed

    try:
        return distributed.get_client()
    except ValueError:  # there is none
        return None
