"""Compiled loops on several threads: each takes the next few expressions until none are left."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from edhie.errors import EdhieError

PARTS_A_THREAD = 8  # expressions differ in cost: small parts even it out


def thread_count(threads: int | None) -> int:
    """How many threads to use: as many as there are cores for None."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if threads < 1:
        raise EdhieError(f"threads must be at least 1, not {threads}; give None to use every core")
    return threads


def spread(work: Callable[[int, int], None], n: int, threads: int | None) -> None:
    """Call `work(from, to)` over 0 to n in parts; compiled code lets the others run meanwhile.

    What a part computes may not depend on the others, so that the number of threads changes nothing.
    """
    count = thread_count(threads)
    size = max(1, -(-n // (PARTS_A_THREAD * count)))
    if count == 1 or n <= 1:
        work(0, n)
        return
    parts = [(start, min(start + size, n)) for start in range(0, n, size)]
    with ThreadPoolExecutor(count, thread_name_prefix="edhie") as pool:
        for _ in pool.map(lambda part: work(*part), parts):
            pass
