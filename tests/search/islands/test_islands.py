"""Laws of islands: the same result wherever epochs run, budgets kept, nothing lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
import pytest

from edhie import processes as worker_processes
from edhie.errors import SearchError
from edhie.evaluate import Evaluator
from edhie.processes import import_path
from edhie.results import SearchResult
from edhie.search import Budget, run, strategy_named
from edhie.search.islands import Islands
from edhie.search.islands.engines import Engine, Here, Processes
from edhie.search.islands.epoch import Epoch, Setup
from searches import HVAE, X, Y, assert_same

BUDGET = Budget(evaluations=6_000)
LAW = np.sin(X[:, 0] ** 2) * np.cos(X[:, 0]) - 1
NOISY = Y + 0.1 * np.random.default_rng(1).normal(size=len(Y))


def evaluator() -> Evaluator:
    return Evaluator(HVAE.library, X, NOISY)


def searched(engine: Engine, islands: int = 2, search: str = "mosaic", **options: Any) -> SearchResult:
    strategy = Islands(strategy_named(search), islands, engine)
    return run(HVAE, evaluator(), strategy=strategy, rng=3, **{"budget": BUDGET, **options})


@pytest.fixture(scope="module")
def plain() -> SearchResult:
    """Two islands, one after the other in one process."""
    return searched(Here())


def test_processes_give_the_same_result(plain: SearchResult) -> None:
    with closing(Processes(2)) as engine:
        assert_same(searched(engine), plain)


def test_a_killed_process_changes_nothing(plain: SearchResult) -> None:
    class Killing(Processes):
        """Kills a process while the second epoch runs."""

        def _result(self, future: Any, k: int, *job: Any) -> Any:
            if job[-1].number == 1 and k == 0:
                os.kill(next(iter(worker_processes._worker(1)._processes)), signal.SIGKILL)
            return super()._result(future, k, *job)

    with closing(Killing(2)) as engine:
        assert_same(searched(engine), plain)


def test_an_island_that_stays_goes_on_as_one_that_is_restored(plain: SearchResult) -> None:
    class Forgetful(Here):
        def map(self, work: Callable[..., Any], setup: Any, jobs: Sequence[Any]) -> list[Any]:
            setup.live.clear()
            return super().map(work, setup, jobs)

    assert_same(searched(Forgetful()), plain)


class Moving(Here):
    """Two workers that keep islands; from epoch to epoch islands change places, and each epoch is run twice."""

    def __init__(self) -> None:
        super().__init__()
        self.setups: list[Setup] = []
        self.last_epoch = 0
        self.stale = 0

    def map(self, work: Callable[..., Any], setup: Any, jobs: Sequence[Any]) -> list[Any]:
        self.setups = self.setups or [cloudpickle.loads(cloudpickle.dumps(setup)) for _ in range(2)]
        self.last_epoch = jobs[0].number
        found = []
        for job in jobs:
            there = self.setups[(job.number + job.island) // 2 % 2]
            found.append([work(there, job) for _ in range(2)][1])
            self.stale += sum(epoch < job.number for _, epoch in there.live)
        return found


def test_an_island_that_moved_is_restored_and_what_it_left_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("edhie.search.islands.islands.FIRST_EPOCH", 100)
    engine = Moving()
    assert_same(searched(engine, search="evolve"), searched(Here(), search="evolve"))
    assert engine.last_epoch > 3
    assert engine.stale == 0


def test_the_budget_is_kept_and_islands_differ(plain: SearchResult) -> None:
    assert plain.counts.executed <= 6_000
    three = searched(Here(), islands=3)
    assert three.counts.executed <= 6_000
    assert not np.array_equal(three.candidates.errors, plain.candidates.errors)


@pytest.mark.parametrize("search", ["mosaic", "evolve", "draw"])
def test_one_island_is_the_search_without_islands(search: str) -> None:
    alone = run(HVAE, evaluator(), strategy=search, budget=Budget(evaluations=2_500), rng=3)
    one = searched(Here(), 1, search, budget=Budget(evaluations=2_500))
    np.testing.assert_array_equal(one.candidates.errors, alone.candidates.errors)
    assert one.counts.executed == alone.counts.executed


def test_islands_receive_the_best_of_the_others() -> None:
    inboxes: list[list[int]] = []

    class Watched(Here):
        def map(self, work: Callable[..., Any], setup: Any, jobs: Sequence[Any]) -> list[Any]:
            inboxes.append([len(job.inbox) for job in jobs])
            return super().map(work, setup, jobs)

    searched(Watched(), islands=2)
    first, *others = inboxes
    assert first == [0, 0]
    assert others
    assert all(n > 0 for inbox in others for n in inbox)


def test_a_stopped_search_resumes_to_the_same_result(plain: SearchResult, tmp_path: Path) -> None:
    class Stopping(Here):
        """An engine that is interrupted in the second epoch."""

        def map(self, work: Callable[..., Any], setup: Any, jobs: Sequence[Any]) -> list[Any]:
            if isinstance(jobs[0], Epoch) and jobs[0].number == 1:
                raise KeyboardInterrupt
            return super().map(work, setup, jobs)

    stopped = searched(Stopping(), folder=tmp_path / "run")
    assert stopped.stopped == "interrupted"
    assert 0 < stopped.counts.executed < plain.counts.executed
    assert_same(searched(Here(), folder=tmp_path / "run", resume=True), plain)


def test_of_exact_islands_the_one_with_the_fewest_evaluations_counts() -> None:
    """Others may have stopped because of it, so that what they found depends on when they heard of it."""
    budget, found = Budget(evaluations=60_000), []
    for engine in (Here(), Processes(2), Deaf()):
        with closing(engine):
            strategy = Islands(strategy_named("mosaic"), 3, engine)
            found.append(run(HVAE, Evaluator(HVAE.library, X, LAW), strategy=strategy, budget=budget, rng=0))
    assert found[0].stopped == "finished"
    assert found[0].front.errors.min() < 1e-12
    assert_same(found[1], found[0])
    assert_same(found[2], found[0])


class Deaf(Here):
    """Islands that do not hear of each other during an epoch, as on several machines."""

    is_remote = True


def test_what_is_shared_is_removed_when_the_search_is_killed() -> None:
    code = "from edhie.search.islands.engines import Processes; import time\n"
    code += "engine = Processes(1); engine.map(divmod, 7, [2]); print(engine._shared[1], flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=import_path()) as search:
        assert search.stdout is not None
        folder = Path(search.stdout.readline().strip())
        assert (folder / "setup").exists()
        search.kill()
    until = time.monotonic() + 10
    while folder.exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not folder.exists()


# -- on a Dask cluster --------------------------------------------------------------------


def test_a_cluster_gives_the_same_result(plain: SearchResult) -> None:
    """Kills of workers are tested in tests/faults."""
    distributed = pytest.importorskip("distributed")
    from edhie.search.islands.engines import Dask

    options = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, closing(Dask(cluster.scheduler_address)) as engine:
        assert_same(searched(engine), plain)


def test_searches_on_one_cluster_share_no_islands() -> None:
    """Workers keep islands with the setup, which may be the same for two seeds."""
    distributed = pytest.importorskip("distributed")
    from edhie.search.islands.engines import Dask

    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, ExitStack() as stack:
        both = [stack.enter_context(closing(Dask(cluster.scheduler_address))) for _ in range(2)]
        assert both[0]._send(len, "setup") != both[1]._send(len, "setup")


def test_a_process_that_is_killed_again_and_again_is_an_error() -> None:
    with closing(Processes(1)) as engine, pytest.raises(SearchError, match="ended 3 times"):
        engine.map(_die, None, [0])


def _die(setup: object, job: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)
