"""Symmetries detected in a worker process are those that the search detects itself."""

from __future__ import annotations

import numpy as np
import pytest

from edhie import processes as worker_processes
from edhie.evaluate.parallel import using_threads
from edhie.expr.standard_libraries import everything
from edhie.search.mosaic.symmetry import reduced_search
from edhie.search.mosaic.symmetry.symmetries import find_reduction
from mosaics import data_of

A, B, C = X = np.random.default_rng(0).uniform(1, 3, (3, 150))
DATA, LIBRARY = data_of(X, A * np.tanh(B / C)), everything(3)
EXPECTED = find_reduction(DATA, LIBRARY, np.random.default_rng(0))


def test_one_core_needs_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reduced_search, "submit", lambda *_: pytest.fail("a process was started"))
    assert reduced_search.begin_reduction(DATA, LIBRARY, 0)() == EXPECTED
    with using_threads(2):
        assert reduced_search.begin_reduction(data_of(X[:1], A), everything(1), 0)() is None, "one variable: none"


def test_a_process_finds_the_same_and_its_death_changes_nothing() -> None:
    assert EXPECTED is not None
    with using_threads(2):
        assert reduced_search.begin_reduction(DATA, LIBRARY, 0)() == EXPECTED
        found = reduced_search.begin_reduction(DATA, LIBRARY, 0)
        worker_processes.end_worker(reduced_search.WORKER)
        assert found() == EXPECTED


@pytest.mark.parametrize("error", [OSError("no more processes"), AssertionError("daemonic processes have no children")])
def test_where_no_process_can_be_started_the_search_looks_itself(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise error

    monkeypatch.setattr(reduced_search, "submit", refuse)
    with using_threads(2):
        assert reduced_search.begin_reduction(DATA, LIBRARY, 0)() == EXPECTED
