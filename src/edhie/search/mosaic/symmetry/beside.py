"""Look for symmetries in a process beside the search, where this may use another core.

Symmetries follow from the data and the seed alone, so the search goes on until it needs them; threads would not help,
as both hold the interpreter lock.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from edhie.evaluate.data import Data
from edhie.evaluate.parallel import thread_count
from edhie.expr import SymbolLibrary
from edhie.search.mosaic.symmetry.symmetries import Reduction, find_reduction, may_be_reduced
from edhie.worker_processes import submit

WORKER = -1  # islands have processes from 0


def begin_reduction(data: Data, library: SymbolLibrary, seed: int) -> Callable[[], Reduction | None]:
    """Begin `find_reduction`, and return a function that waits for its result."""

    def find_here() -> Reduction | None:
        return find_reduction(data, library, np.random.default_rng(seed))

    if thread_count() == 1 or not may_be_reduced(data, library):
        return find_here
    try:
        future = submit(WORKER, find_reduction, data, library, np.random.default_rng(seed))
    except Exception:  # there are no more processes, or this one may not start any
        return find_here

    def wait() -> Reduction | None:
        try:
            found: Reduction | None = future.result()
        except Exception:  # it was killed, or functions of the user cannot be sent
            return find_here()
        return found

    return wait
