"""A Dask scheduler and workers as processes of this machine, which may be killed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

START_SECONDS = 60
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


class DaskProcesses:
    """A scheduler and workers, without nannies: a worker that is killed is gone."""

    def __init__(self, workers: int = 2) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = str(free.getsockname()[1])
        self.address = f"tcp://127.0.0.1:{self._port}"
        self.start(workers)

    def start(self, workers: int) -> None:
        """Start a scheduler at the address, and workers."""
        self.scheduler = _start("scheduler", "--host", "127.0.0.1", "--port", self._port)
        self.workers: list[subprocess.Popen[bytes]] = []
        for _ in range(workers):
            self.add_worker()
        self.ask(lambda client: client.wait_for_workers(workers, timeout=START_SECONDS))

    def add_worker(self) -> None:
        """Start one more worker."""
        self.workers.append(_start("worker", self.address, "--nthreads", "1", "--no-nanny"))

    def ask(self, question: Callable[[Any], Any]) -> Any:
        """Return what a client of a moment answers."""
        import distributed

        with distributed.Client(self.address, timeout=START_SECONDS, set_as_default=False) as client:
            return question(client)

    def is_empty(self, seconds: float) -> bool:
        """Return whether scheduler and workers forget all tasks and results within so many seconds."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if self.ask(_count) == 0:
                return True
            time.sleep(0.2)
        return False

    def close(self) -> None:
        """Kill all processes."""
        for process in (self.scheduler, *self.workers):
            process.kill()
            process.wait()


def _count(client: Any) -> int:
    """Return the number of tasks and results on the cluster."""
    tasks = client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))
    held = client.run(lambda dask_worker: len(dask_worker.data) + len(dask_worker.state.tasks))
    return int(tasks + sum(held.values()))


def _start(kind: str, *arguments: str) -> subprocess.Popen[bytes]:
    paths = os.pathsep.join(filter(None, sys.path))
    command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *arguments, "--no-dashboard"]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, stdout=quiet, stderr=quiet, env=os.environ | ONE_THREAD | {"PYTHONPATH": paths})
