"""Benchmarks on a Dask cluster: the rows are those of processes, and nothing that is finished is lost."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import edhie
from edhie.bench import ProblemError
from edhie.bench.records import read_rows_of
from edhie.bench.runner import Plan, run_benchmark
from edhie.bench.trial import TrialSettings
from edhie.bench.workers import check_workers

PLAN = Plan("nguyen", "hvar", runs=2, ids=("NG-1", "NG-8"), settings=TrialSettings(evaluations=300))


def rows_of(folder: Path) -> list[dict[str, str]]:
    return [{**row, "seconds": ""} for row in read_rows_of(folder / "nguyen-hvar.csv")]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of two processes."""
    folder = tmp_path_factory.mktemp("whole")
    run_benchmark(PLAN, folder, workers=2)
    return folder


@pytest.fixture
def cluster() -> Iterator[Any]:
    """A cluster of two threads of this process."""
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with distributed.LocalCluster(**options) as found:
        yield found


def test_a_cluster_gives_the_rows_of_processes(whole: Path, cluster: Any, tmp_path: Path) -> None:
    told: list[int] = []
    ended = run_benchmark(
        PLAN, tmp_path, cluster=cluster.scheduler_address, on_row=lambda done, *more: told.append(done)
    )
    assert ended.failures == []
    assert told == [0, 1, 2, 3, 4]
    assert rows_of(tmp_path) == rows_of(whole)
    assert not cluster.scheduler.tasks
    assert not cluster.scheduler.clients.keys() - {"fire-and-forget"}


def test_a_stopped_benchmark_resumes(whole: Path, cluster: Any, tmp_path: Path) -> None:
    def stop(done: int, total: int, note: str) -> None:
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_benchmark(PLAN, tmp_path, cluster=cluster.scheduler_address, on_row=stop)
    assert len(rows_of(tmp_path)) == 1
    run_benchmark(PLAN, tmp_path, cluster=cluster.scheduler_address)
    assert rows_of(tmp_path) == rows_of(whole)


def test_a_scheduler_that_goes_away(whole: Path, cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("edhie.dask_cluster.ANSWER_SECONDS", 0.5)
    address, plan = cluster.scheduler_address, replace(PLAN, runs=50)

    def close(done: int, total: int, note: str) -> None:
        if done == 1:
            cluster.close()

    with pytest.raises(ProblemError) as error:
        run_benchmark(plan, tmp_path, cluster=address, on_row=close)
    assert str(error.value) == (
        f"the Dask scheduler at {address} is gone; start it again, or give another address; finished runs are kept, "
        "and the same command resumes"
    )
    assert 1 <= len(rows_of(tmp_path)) < 100
    run_benchmark(PLAN, tmp_path)
    first = {(row["problem"], row["run"]): row for row in rows_of(tmp_path)}
    assert all(first[row["problem"], row["run"]] == row for row in rows_of(whole))


def test_a_method_that_workers_cannot_import(cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "mine_only.py"
    file.write_text("def root(X, y, budget, rng):\n    return 'sqrt(x0)', 1\n")
    plan = replace(PLAN, method=f"{file}:root")
    plan.trials()  # here it can be imported
    file.unlink()
    with pytest.raises(
        ProblemError, match=rf"worker \S+ cannot run root on NG-1: there is no file {file}, .*same place"
    ):
        run_benchmark(plan, tmp_path / "out", cluster=cluster.scheduler_address)
    monkeypatch.setattr(edhie, "__version__", "0.0.1")  # here and on the workers, which are threads
    monkeypatch.setattr("edhie.bench.workers._version_if_ready", lambda trial: "0.0.2")
    with pytest.raises(ProblemError, match=r"has edhie 0\.0\.2, and this machine 0\.0\.1; install the same"):
        run_benchmark(PLAN, tmp_path / "out", cluster=cluster.scheduler_address)


def test_workers_that_are_lost_while_they_are_checked() -> None:
    class Losing:
        """A cluster whose first worker is killed before it answers, and whose second has no edhie."""

        def on_workers(self, *given: Any) -> dict[str, Any]:
            return {"first": ConnectionResetError("reset by peer"), "second": ModuleNotFoundError("no edhie")}

    with pytest.raises(ProblemError, match="the worker second cannot run hvar on NG-1: ModuleNotFoundError: no edhie"):
        check_workers(Losing(), PLAN.trials()[0])  # type: ignore[arg-type]


def test_a_file_that_starts_a_benchmark_when_imported(cluster: Any, tmp_path: Path) -> None:
    file = tmp_path / "starts.py"
    file.write_text("def root(X, y, budget, rng):\n    return 'sqrt(x0)', 1\n")
    plan = replace(PLAN, method=f"{file}:root")
    plan.trials()
    del sys.modules["starts"]
    file.write_text(
        f"{file.read_text()}\nfrom edhie.bench.runner import Plan, run_benchmark\n"
        "run_benchmark(Plan('nguyen', 'hvar'), 'nowhere')\n"
    )
    with pytest.raises(ProblemError, match="put that under: if __name__ == '__main__'"):
        run_benchmark(plan, tmp_path / "out", cluster=cluster.scheduler_address)
