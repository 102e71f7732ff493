"""The experiments on searches, on next to nothing."""

from __future__ import annotations

import csv
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import learning_curves
import noise
import rows as rows_module
import search_runs
from edhie.bench.methods import METHODS
from edhie.bench.runner import Ended
from edhie.bench.trial import COLUMNS, Trial
from edhie.bench.workers import Failure
from rows import write_rows

SMALL = ["--method", "hvar", "--runs", "1", "--evaluations", "200", "--workers", "1"]


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_learning_curves(tmp_path: Path) -> None:
    learning_curves.main([*SMALL, "--problems", "NG-1", "NG-8", "--results", str(tmp_path)])
    rows = rows_of(tmp_path / "learning_curves.csv")
    assert {row["problem"] for row in rows} == {"NG-1", "NG-8"}
    for problem in ("NG-1", "NG-8"):
        curve = [float(row["r2"]) for row in rows if row["problem"] == problem]
        assert curve == sorted(curve)
    assert (tmp_path / "learning_curves.png").stat().st_size > 1000


def test_mean_curves_are_drawn_in_a_clone_without_running_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_runs, "run_benchmark", None)
    table = tmp_path / "learning_curves.csv"
    table.write_bytes((search_runs.RESULTS / table.name).read_bytes())
    learning_curves.main(["--results", str(tmp_path)])
    assert table.read_bytes() == (search_runs.RESULTS / table.name).read_bytes()
    assert (tmp_path / "learning_curves.png").stat().st_size > 1000


def test_runs_without_a_curve_are_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = [*SMALL, "--runs", "2", "--problems", "NG-1", "--results", str(tmp_path)]
    learning_curves.main(arguments)
    before = {path.name: path.read_bytes() for path in tmp_path.glob("learning_curves.*")}
    (tmp_path / "curves" / "nguyen-hvar-NG-1-1.csv").unlink()
    learning_curves.main(arguments)
    assert {path.name for path in (tmp_path / "curves").iterdir()} == {
        "nguyen-hvar-NG-1-0.csv", "nguyen-hvar-NG-1-1.csv"
    }  # fmt: skip
    assert {path.name: path.read_bytes() for path in tmp_path.glob("learning_curves.*")} == before
    (tmp_path / "learning_curves.csv").unlink()
    shutil.rmtree(tmp_path / "curves")
    learning_curves.main(arguments)  # all rows are there, but neither the curves nor their means
    assert {path.name: path.read_bytes() for path in tmp_path.glob("learning_curves.*")} == before
    assert len(rows_of(tmp_path / "nguyen-hvar.csv")) == 2


def test_the_committed_curves_are_of_the_runs_in_the_tables() -> None:
    curves = rows_of(search_runs.RESULTS / "learning_curves.csv")
    for method in learning_curves.METHODS:
        runs = rows_of(search_runs.RESULTS / f"nguyen-{method}.csv")
        for problem in learning_curves.PROBLEMS:
            own = [row for row in runs if row["problem"] == problem]
            curve = [row for row in curves if (row["method"], row["problem"]) == (method, problem)]
            is_found = all(row["success"] == "1" for row in own)
            assert (curve[-1]["r2"] == "1.0000") == is_found
            assert float(curve[-1]["r2"]) >= sum(row["success"] == "1" for row in own) / len(own)
            assert curve[-1]["evaluated"] == "100000"
            if method == "default":  # nothing comes close to R² = 1 before the equation is found
                last = max(int(row["evaluated_to_success"]) for row in own)
                ends = [int(row["evaluated"]) for row in curve if row["r2"] == "1.0000"]
                assert last <= ends[0] <= 1.07 * last  # the next point of the grid


def test_noise(tmp_path: Path) -> None:
    arguments = [*SMALL, "--problems", "NG-8", "--levels", "0.01", "0.1", "--results", str(tmp_path)]
    noise.main(arguments)
    rows = rows_of(tmp_path / "noise.csv")
    assert [(row["noise"], row["problem"], row["runs"]) for row in rows] == [
        (level, problem, "1") for level in ("0.01", "0.1") for problem in ("NG-8", "total")
    ]
    assert [row["noise"] for row in rows_of(tmp_path / "nguyen-noise.csv")] == ["0.01", "0.1"]
    assert "| NG-8 | " in (tmp_path / "noise.md").read_text(encoding="utf-8")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    noise.main(arguments)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before  # also the seconds: nothing is run
    with pytest.raises(SystemExit, match="has runs of hvar with 200 evaluations, not 300; use the same number"):
        noise.main([*arguments, "--evaluations", "300"])


def made_up(method: str, run: int, **cells: str) -> dict[str, str]:
    own = {"problem": "NG-3", "method": method, "run": str(run), "noise": "0.05", "stopped": "evaluations"}
    numbers = dict.fromkeys(("rmse", "r2_test", "screened", "seconds"), "1")
    return dict.fromkeys(COLUMNS, "") | numbers | own | cells


def test_the_tables_of_noise_have_both_methods_beside_the_paper(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[tuple[str, str]] = []

    def run_one(job: dict[str, str], budgets: dict[str, int]) -> dict[str, str]:
        ran.append((job["method"], job["run"]))
        found = {"success": "1", "rank": "4", "selected_equivalent": "no"} if job["run"] == "0" else {"success": "0"}
        row = made_up(job["method"], 0, evaluated=str(budgets[job["method"]]), **found)
        return {name: value for name, value in row.items() if name not in job}

    monkeypatch.setattr(noise, "run_one", run_one)
    monkeypatch.setattr(rows_module, "ProcessPoolExecutor", lambda workers, **_: ThreadPoolExecutor(workers))
    for name in rows_module.THREADS:
        monkeypatch.setenv(name, "1")
    known = made_up("default", 0, evaluated="20000", success="1", rank="2", selected_equivalent="yes")
    write_rows([known], tmp_path / "nguyen-noise.csv", COLUMNS)
    noise.main(["--problems", "NG-3", "--levels", "0.05", "--runs", "2", "--workers", "1", "--results", str(tmp_path)])
    assert ran == [("default", "1"), ("edhie", "0"), ("edhie", "1")]  # what was there is not run
    assert [(row["method"], row["run"]) for row in rows_of(tmp_path / "nguyen-noise.csv")] == [
        (method, run) for method in ("default", "edhie") for run in "01"
    ]
    found = {row["method"]: row for row in rows_of(tmp_path / "noise.csv") if row["problem"] == "NG-3"}
    assert [(row["successes"], row["mean_rank"], row["selected"]) for row in found.values()] == [
        ("1", "2.00", "1"), ("1", "4.00", "0")
    ]  # fmt: skip
    page = (tmp_path / "noise.md").read_text(encoding="utf-8")
    assert "## Default search, 20,000 expressions" in page
    assert "| NG-3 | 1/2, 2.0, 1 (3, 34.3) |" in page
    assert "## EDHiE, 100,000 expressions" in page
    assert "| NG-3 | 1/2, 4.0, 0 (3, 34.3) |" in page


def test_a_run_that_failed_is_printed_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    failure = Failure(Trial("nguyen", "NG-8", METHODS["hvar"], 3), "no memory")
    monkeypatch.setattr(search_runs, "run_benchmark", lambda *_, **__: Ended([], tmp_path, [failure], []))
    search_runs.run("hvar", search_runs.parser(None, ["hvar"]).parse_args(["--results", str(tmp_path)]))
    assert capsys.readouterr().out == "NG-8, run 3 failed: no memory\n"
