"""Compiled loops on several threads: each takes the next few expressions until none are left."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

from edhie.errors import EdhieError

PARTS_A_THREAD = 8  # expressions differ in cost: small parts even it out


def thread_count(threads: int | None) -> int:
    """How many threads to use: as many as there are cores for None."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if threads < 1:
        raise EdhieError(f"threads must be at least 1, not {threads}; give None to use every core")
    return threads


def spread(work: Callable[[int, int], None], n: int, threads: int | None, *, parts: int = PARTS_A_THREAD) -> None:
    """Call `work(from, to)` over 0 to n in parts, so many a thread; compiled code lets the others run meanwhile.

    What a part computes may not depend on the others, so that the number of threads changes nothing.
    """
    count = thread_count(threads)
    if count == 1 or n <= 1:
        work(0, n)
        return
    size = max(1, -(-n // (parts * count)))
    places = [(start, min(start + size, n)) for start in range(0, n, size)]
    for _ in _pool(count, os.getpid()).map(lambda place: work(*place), places):
        pass


@lru_cache(maxsize=4)
def _pool(count: int, process: int) -> ThreadPoolExecutor:
    """Threads that stay: starting them takes longer than many a forest. A forked process has to start its own."""
    return ThreadPoolExecutor(count, thread_name_prefix="edhie")
