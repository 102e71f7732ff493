"""Threads of one search: loops shared out over the cores that it may use.

Compiled kernels and large NumPy operations release the interpreter lock, so threads suffice, and data are shared. The
parts of a loop do not depend on each other: the number of threads never changes a result.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import lru_cache
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

from edhie.errors import EdhieError

T = TypeVar("T")
R = TypeVar("R")
PARTS_PER_THREAD = 8  # expressions differ in cost: small parts balance the load
_threads: ContextVar[int] = ContextVar("threads", default=1)


@contextmanager
def using_threads(count: int | None) -> Iterator[None]:
    """Let loops use `count` threads within the context, None for one per core; BLAS has one in each of them."""
    count = core_count() if count is None else count
    if count < 1:
        raise EdhieError(f"the number of threads must be at least 1, not {count}; give None to use every core")
    before = _threads.set(count)
    try:
        with _blas:
            yield
    finally:
        _threads.reset(before)


class _OneBlasThread:
    """A limit for the whole process, from the first context that is entered to the last that is left."""

    def __init__(self) -> None:
        self._lock, self._depth = threading.Lock(), 0
        self._limits: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._depth == 0:
                self._limits = threadpool_limits(1, user_api="blas")
            self._depth += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                self._limits.restore_original_limits()


_blas = _OneBlasThread()


def thread_count() -> int:
    """Return the number of threads that a loop uses here."""
    return _threads.get()


def core_count() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def parallel_for(work: Callable[[int, int], None], n: int) -> None:
    """Call `work(from, to)` over 0 to n in parts."""
    count = thread_count()
    if count == 1 or n <= 1:
        work(0, n)
        return
    size = max(1, -(-n // (PARTS_PER_THREAD * count)))
    parallel_map(lambda start: work(start, min(start + size, n)), range(0, n, size))


def parallel_map(work: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """Return the result of `work` for each item, in order."""
    items, count = list(items), thread_count()
    if count == 1 or len(items) <= 1:
        return [work(item) for item in items]
    pool = _pool(count, os.getpid())
    futures = [pool.submit(_inside_context(), work, item) for item in items]
    try:
        return [future.result() for future in futures]
    except BaseException:
        for future in futures:
            future.cancel()
        wait(futures)  # parts that still run write into arrays of the caller
        raise


def _inside_context() -> Callable[..., Any]:
    """Return a caller with this thread's context, such as NumPy's error state, in which loops have one thread."""
    context = copy_context()
    context.run(_threads.set, 1)
    return context.run


@lru_cache(maxsize=4)
def _pool(count: int, process: int) -> ThreadPoolExecutor:
    """Return a lasting pool, since starting threads takes longer than many loops. A forked process needs its own."""
    return ThreadPoolExecutor(count, thread_name_prefix="edhie")
