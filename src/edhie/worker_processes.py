"""Worker processes for calls of functions. They stay for the next call, and end with this process."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from typing import Any

from edhie.processes import end_with

IDLE_SECONDS = 300  # after which an idle process ends
ONE_THREAD = dict.fromkeys([f"{each}_NUM_THREADS" for each in ("OMP", "OPENBLAS", "MKL", "NUMBA")], "1")
ONE_THREAD["VECLIB_MAXIMUM_THREADS"] = "1"
_workers: dict[int, Any] = {}


def submit(number: int, work: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in worker process `number`, which is started if need be; return the future result."""
    try:
        return _worker(number).submit(work, *arguments)
    except ended():
        end_worker(number)
        return _worker(number).submit(work, *arguments)


def ended() -> tuple[type[Exception], ...]:
    """Return the errors of a process that was killed, or that another search of this program ended."""
    from loky.process_executor import ShutdownExecutorError

    return BrokenExecutor, ShutdownExecutorError


def end_worker(number: int) -> None:
    """Kill a worker process, whatever it works on."""
    if number in _workers:
        _workers.pop(number).shutdown(wait=True, kill_workers=True)


def _worker(number: int) -> Any:
    """Return an executor of one process."""
    from loky import ProcessPoolExecutor

    if number not in _workers:
        _workers[number] = ProcessPoolExecutor(
            1, timeout=IDLE_SECONDS, env=ONE_THREAD, initializer=end_with, initargs=(os.getpid(),)
        )
        atexit.register(end_worker, number)
    return _workers[number]
