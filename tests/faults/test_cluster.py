"""Kill -9 on a Dask cluster: of a worker, of the client and of the scheduler."""

from __future__ import annotations

import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dask_processes import DaskProcesses
from edhie.events import Progressed
from edhie.processes import command_of, import_path
from edhie.view import SearchView

NAMES = ("candidates.jsonl", "front.csv", "best.txt", "equations.csv")
OPTIONS = "--target T --search evolve --islands 2 --evaluations 9000 --quiet --no-report".split()


@pytest.fixture(scope="module")
def cluster() -> Iterator[DaskProcesses]:
    pytest.importorskip("distributed")
    found = DaskProcesses()
    yield found
    found.close()


@pytest.fixture
def fit(cup: Path) -> list[object]:
    return ["fit", cup, *OPTIONS]


@pytest.fixture(scope="module")
def known() -> dict[str, bytes]:
    return {}


@pytest.fixture
def whole(edhie: Callable[..., Any], fit: list[object], tmp_path: Path, known: dict[str, bytes]) -> dict[str, bytes]:
    """The equations without a fault and without a cluster."""
    if not known:
        assert edhie(*fit, "--jobs", 1, "--out", tmp_path / "whole").code == 0
        known |= content_of(tmp_path / "whole")
    return known


def content_of(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in NAMES}


def after_an_epoch(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Act while the second epoch runs."""
    is_done = False

    def watch(self: SearchView, event: object) -> None:
        nonlocal is_done
        if isinstance(event, Progressed) and event.executed > 0 and not is_done:
            is_done = True
            threading.Timer(0.1, act).start()

    monkeypatch.setattr("edhie.search.watching.PROGRESS_SECONDS", 0.0)
    monkeypatch.setattr(SearchView, "__call__", watch)


@pytest.mark.slow
def test_a_killed_worker_changes_nothing(
    edhie: Callable[..., Any],
    fit: list[object],
    whole: dict[str, bytes],
    cluster: DaskProcesses,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    after_an_epoch(monkeypatch, cluster.workers[0].kill)
    code, out, err = edhie(*fit, "--cluster", cluster.address, "--out", tmp_path / "run")
    assert (code, err) == (0, "")
    assert out.startswith("T = ")
    assert cluster.workers[0].wait(10) == -signal.SIGKILL
    assert content_of(tmp_path / "run") == whole


def test_a_killed_client_resumes_and_leaves_nothing_on_the_workers(
    edhie: Callable[..., Any], fit: list[object], whole: dict[str, bytes], cluster: DaskProcesses, tmp_path: Path
) -> None:
    options = [*map(str, fit), "--cluster", cluster.address, "--out", str(tmp_path / "run")]
    with subprocess.Popen([*command_of("edhie"), *options], env=import_path()) as process:
        while process.poll() is None and not (tmp_path / "run" / "checkpoint.npz").exists():
            time.sleep(0.005)
        process.kill()
    assert process.returncode == -signal.SIGKILL
    assert not (tmp_path / "run" / "best.txt").exists()
    assert cluster.is_empty(seconds=20)
    assert edhie(*options, "--resume").code == 0
    assert content_of(tmp_path / "run") == whole


def test_a_killed_scheduler_ends_the_search_and_keeps_it(
    edhie: Callable[..., Any],
    fit: list[object],
    whole: dict[str, bytes],
    cluster: DaskProcesses,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("edhie.dask_cluster.ANSWER_SECONDS", 0.5)
    after_an_epoch(monkeypatch, cluster.scheduler.kill)
    since = time.monotonic()
    code, out, err = edhie(*fit, "--cluster", cluster.address, "--out", tmp_path / "run")
    assert time.monotonic() - since < 30
    assert (code, out) == (1, "")
    best, kept, error = err.splitlines()
    assert best.startswith("the best until then: T = ")
    assert kept == f"{tmp_path / 'run'} keeps the search; resume with the same command and --resume"
    assert error == f"error: the Dask scheduler at {cluster.address} is gone; start it again, or give another address"
    monkeypatch.undo()
    assert edhie(*fit, "--jobs", 1, "--out", tmp_path / "run", "--resume").code == 0
    assert content_of(tmp_path / "run") == whole
