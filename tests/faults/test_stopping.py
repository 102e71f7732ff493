"""SIGTERM is like Ctrl-C for commands that take long: what was found is kept, and the same command resumes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from edhie.bench.runner import run_benchmark
from edhie.events import Progressed
from edhie.fit.run_folder import load
from edhie.generators import load as load_model
from edhie.generators.saving import epochs_done
from edhie.view import SearchView


def terminate(*arguments: object, **options: object) -> None:
    for _ in range(2):  # as `timeout` of coreutils sends it
        os.kill(os.getpid(), signal.SIGTERM)


def weights_in(folder: Path) -> dict[str, bytes]:
    return {name: weight.tobytes() for name, weight in load_model(folder).weights.items()}


@pytest.mark.parametrize("name", ["fit", "revise"])
def test_a_search_keeps_what_it_found(
    name: str, edhie: Callable[..., Any], commands: dict[str, list[object]], tmp_path: Path, monkeypatch: Any
) -> None:
    def stop(self: SearchView, event: object) -> None:
        if isinstance(event, Progressed) and event.executed > (600 if name == "fit" else 0):
            terminate()

    monkeypatch.setattr("edhie.search.watching.PROGRESS_SECONDS", 0.0)
    monkeypatch.setattr(SearchView, "__call__", stop)
    code, out, err = edhie(*commands[name], tmp_path / "run")
    assert code == 130
    assert out.startswith("T = ")
    kept = f"{tmp_path / 'run'} keeps it; resume with the same command and --resume"
    assert err == f"stopped: this was found so far; {kept}\n"
    assert (tmp_path / "run" / "best.txt").read_text().startswith("T = ")
    if name == "fit":
        assert load(tmp_path / "run").result.stopped == "interrupted"
    monkeypatch.undo()
    resumed = edhie(*commands[name], tmp_path / "run", "--resume")
    assert resumed == edhie(*commands[name], tmp_path / "whole")
    for file in ("candidates.jsonl", "front.csv", "best.txt"):
        assert (tmp_path / "run" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes()


def test_training_resumes(
    edhie: Callable[..., Any], commands: dict[str, list[object]], tmp_path: Path, monkeypatch: Any
) -> None:
    train, write = import_module("edhie.generators.train"), import_module("edhie.generators.saving").write_state

    def stop(*arguments: Any) -> None:
        write(*arguments)
        terminate()

    monkeypatch.setattr(train, "write_state", stop)
    code, out, err = edhie(*commands["train"], tmp_path / "model")
    kept = f"what was learnt is kept in {tmp_path / 'model'}: the same command resumes from there"
    assert (code, out, err) == (130, "", f"stopped after 1 of 2 epochs; {kept}\n")
    monkeypatch.undo()
    assert edhie(*commands["train"], tmp_path / "model").code == 0
    assert edhie(*commands["train"], tmp_path / "whole").code == 0
    assert weights_in(tmp_path / "model") == weights_in(tmp_path / "whole")


def test_a_killed_training_ends_with_the_same_weights(
    edhie: Callable[..., Any], commands: dict[str, list[object]], tmp_path: Path
) -> None:
    longer = [*map(str, commands["train"][:-1]), "--epochs", "60", "--out"]
    paths = os.pathsep.join(filter(None, sys.path))
    command = [sys.executable, "-m", "edhie", *longer, str(tmp_path / "model")]
    with subprocess.Popen(command, env=os.environ | {"PYTHONPATH": paths}) as process:
        while process.poll() is None and not (tmp_path / "model" / "training.safetensors").exists():
            time.sleep(0.005)
        process.kill()
    assert process.returncode == -signal.SIGKILL
    assert 0 < epochs_done(tmp_path / "model") < 60
    assert edhie(*longer, tmp_path / "model").code == 0
    assert edhie(*longer, tmp_path / "whole").code == 0
    assert weights_in(tmp_path / "model") == weights_in(tmp_path / "whole")


def test_a_benchmark_and_a_corpus_resume(
    edhie: Callable[..., Any], commands: dict[str, list[object]], tmp_path: Path, monkeypatch: Any
) -> None:
    results = tmp_path / "results"

    def run(plan: Any, out: Path, *, on_row: Any, **options: Any) -> Any:
        return run_benchmark(plan, out, on_row=lambda done, *more: terminate() if done else None, **options)

    monkeypatch.setattr(import_module("edhie.cli.bench"), "run_benchmark", run)
    code, out, err = edhie(*commands["bench"], results)
    assert (code, out) == (130, "")
    assert err == f"stopped; finished runs are kept in {results}; the same command resumes\n"
    assert len((results / "nguyen-hvar.csv").read_text().splitlines()) == 2
    monkeypatch.setattr(import_module("edhie.cli.corpus"), "build", terminate)
    code, out, err = edhie(*commands["corpus build"], tmp_path / "corpus")
    assert (code, out, err) == (130, "", "stopped; nothing was made\n")
    assert not (tmp_path / "corpus").exists()


def test_a_clock_that_goes_back_changes_nothing(
    edhie: Callable[..., Any], commands: dict[str, list[object]], tmp_path: Path, monkeypatch: Any
) -> None:
    now = [time.time()]

    def backwards() -> float:
        now[0] -= 3600
        return now[0]

    expected = edhie(*commands["fit"], tmp_path / "whole", "--max-time", 60)
    monkeypatch.setattr(time, "time", backwards)
    assert edhie(*commands["fit"], tmp_path / "run", "--max-time", 60) == expected
    assert 0 < load(tmp_path / "run").result.seconds < 60


def test_no_duration_is_measured_by_the_clock_on_the_wall() -> None:
    source = Path(import_module("edhie").__file__ or "").parent
    used = [path.name for path in source.rglob("*.py") if "time.time(" in path.read_text(encoding="utf-8")]
    # two compare it with the time of a file, and events say when they were written
    assert sorted(used) == ["background_training.py", "event_log.py", "uploads.py"]
