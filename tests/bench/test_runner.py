"""Benchmarks that are run: nothing is lost, nothing is done twice, and workers change nothing but the time."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edhie.bench import ProblemError, runner, workers
from edhie.bench import execute as execution
from edhie.bench.execute import execute
from edhie.bench.methods import METHODS, Baseline
from edhie.bench.records import read_rows_of
from edhie.bench.runner import Plan, run_benchmark
from edhie.bench.trial import COLUMNS, CURVE, Outcome, Shard, Trial, TrialSettings
from edhie.bench.workers import Failure
from edhie.results import Front, History, SearchResult

SETTINGS = TrialSettings(evaluations=300)
PLAN = Plan("nguyen", "hvar", runs=2, ids=("NG-1", "NG-8"), settings=SETTINGS)
CHANGING = ("seconds",)


def rows_of(path: Path) -> list[dict[str, str]]:
    return [{name: value for name, value in row.items() if name not in CHANGING} for row in read_rows_of(path)]


def curves_of(folder: Path) -> dict[str, list[list[str]]]:
    found = {}
    for path in sorted((folder / "curves").iterdir()):
        with path.open(newline="") as file:
            lines = list(csv.reader(file))
        assert tuple(lines[0]) == CURVE
        found[path.name] = [line[:2] + line[3:] for line in lines]
    return found


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What an undisturbed run leaves."""
    folder = tmp_path_factory.mktemp("whole")
    ended = run_benchmark(PLAN, folder, workers=1)
    assert ended.failures == []
    assert len(ended.rows) == 4
    return folder


def test_the_table(whole: Path) -> None:
    with (whole / "nguyen-hvar.csv").open(newline="") as file:
        lines = list(csv.reader(file))
    assert lines[0][:14] == (
        "problem method run seed success equivalent rmse r2_test evaluated evaluated_to_success screened invalid "
        "seconds expression".split()
    )
    assert tuple(lines[0]) == COLUMNS
    assert [(line[0], line[2]) for line in lines[1:]] == [("NG-1", "0"), ("NG-1", "1"), ("NG-8", "0"), ("NG-8", "1")]
    assert all(int(row["evaluated"]) <= SETTINGS.evaluations for row in rows_of(whole / "nguyen-hvar.csv"))
    assert len(curves_of(whole)) == 4
    assert json.loads((whole / "nguyen-hvar.json").read_text())["evaluations"] == 300


def test_the_number_of_workers_changes_nothing(whole: Path, tmp_path: Path) -> None:
    run_benchmark(PLAN, tmp_path, workers=2)
    assert rows_of(tmp_path / "nguyen-hvar.csv") == rows_of(whole / "nguyen-hvar.csv")
    assert curves_of(tmp_path) == curves_of(whole)


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_shards_share_all_runs_and_no_run_twice(count: int) -> None:
    plan = replace(PLAN, runs=5)
    parts = [replace(plan, shard=Shard(number, count)).trials() for number in range(1, count + 1)]
    assert sorted(map(str, (trial for part in parts for trial in part))) == sorted(map(str, plan.trials()))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_tables_of_shards_together_are_the_whole_table(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, lines = rows_of(whole / "nguyen-hvar.csv"), []
    for number in (2, 1, 3):
        ended = run_benchmark(replace(PLAN, shard=Shard(number, 3)), tmp_path)
        assert ended.path == tmp_path / f"nguyen-hvar-shard-{number}-of-3.csv"
        assert rows_of(ended.path) == expected[number - 1 :: 3]
        lines += ended.path.read_text().splitlines(keepends=True)[len(lines) > 0 :]
    assert not (tmp_path / "nguyen-hvar.csv").exists()
    joined = tmp_path / "joined.csv"
    joined.write_text("".join(lines))  # as `cat` does, without the names of all but the first
    assert sorted(map(str, rows_of(joined))) == sorted(map(str, expected))
    (tmp_path / "nguyen-hvar-shard-2-of-3.csv").write_text(",".join(COLUMNS) + "\n")  # its run was lost
    seen = counted(monkeypatch)
    run_benchmark(PLAN, tmp_path)
    assert [(trial.problem, trial.run) for trial in seen] == [("NG-1", 1)]
    assert rows_of(tmp_path / "nguyen-hvar.csv") == expected
    assert curves_of(tmp_path) == curves_of(whole)
    (tmp_path / "nguyen-hvar.csv").unlink()
    with pytest.raises(ProblemError, match=r"shard-1-of-3.csv holds runs with evaluations = 300, not 400"):
        run_benchmark(replace(PLAN, settings=TrialSettings(evaluations=400)), tmp_path)


@pytest.mark.parametrize("text", ["0/3", "4/3", "2", "a/b", "1/0", "-1/3", "1/3/4"])
def test_what_is_no_shard(text: str) -> None:
    with pytest.raises(ProblemError, match="is no shard; give its number, from 1 on"):
        Shard.parse(text)


def counted(monkeypatch: pytest.MonkeyPatch) -> list[Trial]:
    """The tasks that are run from now on; in this process, which is quicker."""
    seen: list[Trial] = []

    def outcomes(tasks: list[Trial], workers: int) -> Iterator[Outcome]:
        for task in tasks:
            seen.append(task)
            yield execute(task)

    monkeypatch.setattr(runner, "process_outcomes", outcomes)
    return seen


@pytest.mark.parametrize("kept", [0, 1, 3, 4])
@pytest.mark.parametrize("torn", ["", "NG-1,hvar,1,1", '"NG'])
def test_a_run_that_goes_on_repeats_nothing_and_loses_nothing(
    kept: int, torn: str, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = (whole / "nguyen-hvar.csv").read_text().splitlines(keepends=True)
    (tmp_path / "curves").mkdir()
    for path in (whole / "curves").iterdir():
        (tmp_path / "curves" / path.name).write_bytes(path.read_bytes())
    (tmp_path / "nguyen-hvar.json").write_bytes((whole / "nguyen-hvar.json").read_bytes())
    (tmp_path / "nguyen-hvar.csv").write_text("".join(lines[: kept + 1]) + torn)
    seen = counted(monkeypatch)
    ended = run_benchmark(PLAN, tmp_path)
    assert len(seen) == 4 - kept
    assert rows_of(ended.path) == rows_of(whole / "nguyen-hvar.csv")
    assert curves_of(tmp_path) == curves_of(whole)


def test_killed_in_the_middle(whole: Path, tmp_path: Path) -> None:
    script = (
        "from pathlib import Path\n"
        "from edhie.bench.runner import Plan, run_benchmark\n"
        "from edhie.bench.trial import TrialSettings\n"
        "plan = Plan('nguyen', 'hvar', runs=2, ids=('NG-1', 'NG-8'), settings=TrialSettings(evaluations=300))\n"
        f"run_benchmark(plan, Path({str(tmp_path)!r}))\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    table = tmp_path / "nguyen-hvar.csv"
    with subprocess.Popen([sys.executable, "-c", script], env=environment, start_new_session=True) as process:
        deadline = time.monotonic() + 120
        while process.poll() is None and time.monotonic() < deadline:
            if table.is_file() and table.read_bytes().count(b"\n") >= 2:
                process.send_signal(signal.SIGKILL)
            time.sleep(0.005)
    finished = rows_of(table)
    assert 1 <= len(finished) <= 4
    ended = run_benchmark(PLAN, tmp_path)
    assert rows_of(ended.path) == rows_of(whole / "nguyen-hvar.csv")


def test_more_runs_and_other_problems_are_added(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = counted(monkeypatch)
    small = replace(PLAN, runs=1, ids=("NG-8",))
    run_benchmark(small, tmp_path)
    ended = run_benchmark(PLAN, tmp_path)
    assert [(task.problem, task.run) for task in seen] == [("NG-8", 0), ("NG-1", 0), ("NG-1", 1), ("NG-8", 1)]
    assert rows_of(ended.path) == rows_of(whole / "nguyen-hvar.csv")
    assert len(run_benchmark(small, tmp_path).rows) == 1  # what was asked, not all that is there


def test_noise_has_rows_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = counted(monkeypatch)
    plan = replace(PLAN, runs=1, ids=("NG-8",))
    run_benchmark(plan, tmp_path)
    ended = run_benchmark(replace(plan, noise=0.05), tmp_path)
    assert [task.noise for task in seen] == [0.0, 0.05]
    assert [row["noise"] for row in read_rows_of(ended.path)] == ["0.0", "0.05"]
    (row,) = ended.rows
    assert row["evaluated"] == "300"  # nothing stops it before the budget does
    assert {"nguyen-hvar-NG-8-0.csv", "nguyen-hvar-NG-8-0-noise0.05.csv"} == set(curves_of(tmp_path))


def copied(folder: Path, to: Path) -> None:
    """Copy the files of a folder as a clone has them: without learning curves and digests."""
    for path in folder.glob("nguyen-hvar.*"):
        (to / path.name).write_bytes(path.read_bytes())
    asked = json.loads((to / "nguyen-hvar.json").read_text())
    del asked["rows"]
    (to / "nguyen-hvar.json").write_text(f"{json.dumps(asked, indent=2)}\n")


def test_finished_runs_change_no_file(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copied(whole, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    seen = counted(monkeypatch)
    run_benchmark(PLAN, tmp_path)
    assert seen == []
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


def test_runs_without_a_curve_are_repeated_if_curves_are_asked_for(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied(whole, tmp_path)
    (tmp_path / "curves").mkdir()
    kept = "nguyen-hvar-NG-1-1.csv"
    (tmp_path / "curves" / kept).write_bytes((whole / "curves" / kept).read_bytes())
    seen = counted(monkeypatch)
    run_benchmark(PLAN, tmp_path, with_curves=True)
    assert [(trial.problem, trial.run) for trial in seen] == [("NG-1", 0), ("NG-8", 0), ("NG-8", 1)]
    assert rows_of(tmp_path / "nguyen-hvar.csv") == rows_of(whole / "nguyen-hvar.csv")  # each run once
    assert curves_of(tmp_path) == curves_of(whole)
    run_benchmark(PLAN, tmp_path, with_curves=True)
    assert len(seen) == 3


def test_models_are_trained_for_missing_runs_only(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copied(whole, tmp_path)
    needed = Baseline("hvae", "Nguyen-1", 99)
    monkeypatch.setattr(runner, "needed_training", lambda method, problems: [needed])
    counted(monkeypatch)
    trained: list[Baseline] = []
    run_benchmark(PLAN, tmp_path, train=trained.append)
    assert trained == []
    with pytest.raises(ProblemError, match=r"a model has to be trained first \(hvae on Nguyen-1\)"):
        run_benchmark(replace(PLAN, runs=3), tmp_path)
    run_benchmark(replace(PLAN, runs=3), tmp_path, train=trained.append)
    assert trained == [needed]


# -- what is refused ------------------------------------------------------------------


def test_runs_that_were_asked_something_else(whole: Path, tmp_path: Path) -> None:
    for path in whole.iterdir():
        if path.is_file():
            (tmp_path / path.name).write_bytes(path.read_bytes())
    other = replace(PLAN, settings=TrialSettings(evaluations=400))
    with pytest.raises(ProblemError, match="holds runs with evaluations = 300, not 400; use the same settings"):
        run_benchmark(other, tmp_path)
    asked = json.loads((tmp_path / "nguyen-hvar.json").read_text())
    asked["problems"]["NG-1"] = "x^3; x in [-20, 20]; 5000 + 5000 rows"
    (tmp_path / "nguyen-hvar.json").write_text(json.dumps(asked))
    with pytest.raises(ProblemError, match="holds runs of another NG-1"):
        run_benchmark(PLAN, tmp_path)


def test_tables_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "nguyen-hvar.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ProblemError, match="is not a table of results of this edhie version"):
        run_benchmark(PLAN, tmp_path)
    (tmp_path / "nguyen-hvar.csv").write_text(",".join(COLUMNS) + "\nNG-1,hvar\n")
    with pytest.raises(ProblemError, match="line 2 is damaged; remove it"):
        run_benchmark(PLAN, tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(ProblemError, match="cannot write results to"):
        run_benchmark(PLAN, tmp_path / "file" / "below")


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (replace(PLAN, method="evolution"), "unknown method 'evolution'"),
        (replace(PLAN, ids=("NG-77",)), "unknown problem 'NG-77'"),
        (replace(PLAN, runs=0), "at least one run"),
        (replace(PLAN, settings=TrialSettings(evaluations=0)), "a run without limit would not end"),
        (replace(PLAN, settings=TrialSettings(model="nowhere/at/all")), "there is no model"),
        (replace(PLAN, ids=(), settings=TrialSettings(model="general-5")), "no generator for any problem of nguyen"),
    ],
)
def test_plans_that_cannot_be(plan: Plan, message: str, tmp_path: Path) -> None:
    with pytest.raises(Exception, match=message):
        run_benchmark(plan, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_has_no_generator_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan("nguyen", "hvar", runs=1, settings=replace(SETTINGS, model="nguyen-2", evaluations=50))
    counted(monkeypatch)
    ended = run_benchmark(plan, tmp_path)
    assert [row["problem"] for row in ended.rows] == ["NG-9", "NG-10"]
    assert ended.left_out == [f"NG-{k}" for k in range(1, 9)]


# -- workers --------------------------------------------------------------------------


def test_a_task_that_fails_keeps_no_other_from_going_on(tmp_path: Path) -> None:
    text = "".join(
        f'[[problem]]\nid = "{name}"\ntarget = "y"\nformula = "{formula}"\nvariables = {{ x = [0, 1] }}\nn_train = 5\n'
        for name, formula in (("bad", "log(x - 0.005)"), ("good", "x"))  # of five points none is below 0.005
    )
    (tmp_path / "own.toml").write_text(text)
    plan = Plan(str(tmp_path / "own.toml"), "proged", runs=1, settings=TrialSettings(evaluations=50))
    told: list[tuple[int, int, str]] = []
    ended = run_benchmark(plan, tmp_path / "out", on_row=lambda *each: told.append(each))
    assert [row["problem"] for row in ended.rows] == ["good"]
    (failure,) = ended.failures
    assert failure.trial.problem == "bad"
    assert "has no finite value" in failure.reason
    assert [(done, total) for done, total, _ in told] == [(0, 2), (1, 2), (2, 2)]
    assert told[1][2] == "bad run 0 failed"


def test_a_process_that_ends_is_told_and_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = [Trial("nguyen", "NG-8", METHODS["hvar"], run, settings=TrialSettings(evaluations=20)) for run in range(2)]
    submit = workers.submit

    def kill_first(number: int, work: Any, task: Trial) -> Any:
        if task.run == 0:
            return submit(number, os.kill, submit(number, os.getpid).result(), signal.SIGKILL)
        return submit(number, work, task)

    monkeypatch.setattr(workers, "submit", kill_first)
    first, second = workers.process_outcomes(tasks, 1)
    assert isinstance(first, Failure)
    assert first.reason == "its process ended with code -9, perhaps for lack of memory; try fewer workers"
    assert isinstance(second, Outcome)
    assert second.row | {"seconds": 0} == execute(tasks[1]).row | {"seconds": 0}


# -- single runs ----------------------------------------------------------------------


def test_a_success() -> None:
    row = execute(Trial("nguyen", "NG-8", METHODS["hvar"], 0, settings=TrialSettings(evaluations=1000))).row
    assert (row["success"], row["equivalent"], row["stopped"]) == (True, "yes", "target")
    assert row["rmse"] < 1e-10
    assert row["r2_test"] == pytest.approx(1)
    assert 1 <= row["evaluated_to_success"] <= row["evaluated"] <= 1000


def test_a_failure() -> None:
    outcome = execute(Trial("nguyen", "NG-5", METHODS["hvar"], 0, settings=TrialSettings(evaluations=50)))
    row = outcome.row
    assert (row["success"], row["equivalent"], row["evaluated_to_success"]) == (False, "no", None)
    assert row["evaluated"] == 50
    executed, _, _, errors, r2 = np.array(outcome.curve).T
    assert (np.diff(executed) >= 0).all()
    assert (np.diff(errors) < 0).all()
    assert (np.diff(r2) >= 0).all()
    assert errors[-1] == row["rmse"]


def test_a_search_without_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def found_nothing(*arguments: object, **options: object) -> SearchResult:
        result = search(*arguments, **options)  # type: ignore[arg-type]
        nothing = result.candidates.take([])
        return replace(result, candidates=nothing, front=Front.of(nothing), history=History())

    search = execution.run
    monkeypatch.setattr(execution, "run", found_nothing)
    for noise in (0.0, 0.1):
        outcome = execute(Trial("nguyen", "NG-8", METHODS["hvar"], 0, noise, TrialSettings(evaluations=10)))
        row = outcome.row
        assert (row["success"], row["equivalent"], row["rmse"], row["expression"]) == (False, "no", np.inf, "")
        assert outcome.curve == []


def test_constants_that_follow_the_noise_are_fitted_again() -> None:
    row = execute(Trial("feynman16", "FM-8", METHODS["hvar"], 0, 0.05, TrialSettings(evaluations=500))).row
    assert row["success"]
    assert row["rank"] >= 1


def test_noise_is_judged_without_noise() -> None:
    row = execute(Trial("nguyen", "NG-8", METHODS["hvar"], 0, 0.1, TrialSettings(evaluations=500))).row
    assert row["success"]
    assert row["rank"] >= 1
    assert row["rmse"] > 1e-3
    assert 1 <= row["evaluated_to_success"] <= 500
