"""Detection of symmetries in a worker process, if the search may use another core.

Symmetries depend only on the data and the seed, so the search continues until it needs them. A thread would not help,
because it and the search would share one global interpreter lock.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from edhie.evaluate.data import Data
from edhie.evaluate.parallel import thread_count
from edhie.expr import SymbolLibrary
from edhie.search.mosaic.symmetry.symmetries import Reduction, find_reduction, may_be_reduced
from edhie.worker_processes import submit

WORKER = -1  # islands use workers from 0


def begin_reduction(data: Data, library: SymbolLibrary, seed: int) -> Callable[[], Reduction | None]:
    """Start `find_reduction`, and return a function that waits for its result.

    Without a free core, or where the worker fails, that function runs `find_reduction` itself.
    """

    def find_here() -> Reduction | None:
        return find_reduction(data, library, np.random.default_rng(seed))

    if thread_count() == 1 or not may_be_reduced(data, library):
        return find_here
    try:
        future = submit(WORKER, find_reduction, data, library, np.random.default_rng(seed))
    except Exception:  # the limit of processes is reached, or this one may not start any
        return find_here

    def wait() -> Reduction | None:
        try:
            found: Reduction | None = future.result()
        except Exception:  # the worker was killed, or a user's functions cannot be sent to it
            return find_here()
        return found

    return wait
