"""The experiments on searches, on next to nothing."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import learning_curves
import noise
import search_runs
from edhie.bench.runner import Ended
from edhie.bench.trial import Trial
from edhie.bench.workers import Failure

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


def test_noise(tmp_path: Path) -> None:
    noise.main([*SMALL, "--problems", "NG-8", "--levels", "0.01", "0.1", "--results", str(tmp_path)])
    rows = rows_of(tmp_path / "noise.csv")
    assert [(row["noise"], row["problem"], row["runs"]) for row in rows] == [
        (level, problem, "1") for level in ("0.01", "0.1") for problem in ("NG-8", "total")
    ]
    assert [row["noise"] for row in rows_of(tmp_path / "nguyen-noise.csv")] == ["0.01", "0.1"]
    assert "| NG-8 | " in (tmp_path / "noise.md").read_text(encoding="utf-8")


def test_a_run_that_failed_is_printed_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    failure = Failure(Trial("nguyen", "NG-8", "hvar", 3), "no memory")
    monkeypatch.setattr(search_runs, "run_benchmark", lambda *_, **__: Ended([], tmp_path, [failure], []))
    search_runs.run("hvar", search_runs.parser(None, ["hvar"]).parse_args(["--results", str(tmp_path)]))
    assert capsys.readouterr().out == "NG-8, run 3 failed: no memory\n"
