"""Random sampling by dimension: the runs are those of the benchmark, and only whole ones are kept."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sampling
from edhie.bench.execute import execute
from edhie.bench.methods import METHODS
from edhie.bench.trial import Trial, TrialSettings
from edhie.generators import load
from rows import read_rows, write_rows
from sampling import FIELDS, PROBLEMS, Remembering, sample, whole


def test_rows_are_those_of_the_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "PROBLEMS", ("NG-5", "NG-1"))
    rows = sample({"model": "hvae", "dimension": "32", "run": "0"}, evaluations=3000)
    for row in rows:
        expected = execute(Trial("nguyen", row["problem"], METHODS["hvar"], 0, 0.0, TrialSettings(3000))).row
        assert row["success"] == str(int(expected["success"]))
        assert row["evaluated"] == str(expected["evaluated"])
        assert row["found_after"] == str(expected["evaluated_to_success"] or "")
        assert int(row["sampled"]) >= int(row["evaluated"])
    assert [row["success"] for row in rows] == ["0", "1"]
    assert set(rows[0]) | {"model", "dimension", "run"} == set(FIELDS)


def test_remembering_decodes_once() -> None:
    model = load("nguyen-1")
    codes = np.random.default_rng(0).standard_normal((5, model.latent_dim), dtype=np.float32)
    twice = Remembering(model)
    first, second = twice.decode(codes), twice.decode(codes.copy())
    assert first is second
    assert list(first.forest) == list(model.decode(codes).forest)
    assert twice.decode(-codes) is not first
    assert (twice.sampled, twice.invalid) == (15, 0)


def test_only_models_of_missing_runs_are_trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trained: list[str] = []
    monkeypatch.setattr(
        sampling, "train", lambda missing, options: trained.extend(each.folder.name for each in missing)
    )
    monkeypatch.setattr(sampling, "run_missing", lambda run, jobs, table, fields, workers: read_rows(table))
    table = tmp_path / "nguyen-sampling.csv"
    table.write_bytes((sampling.RESULTS / table.name).read_bytes())
    arguments = ["--models", str(tmp_path), "--results", str(tmp_path)]
    sampling.main(arguments)
    assert trained == []
    assert table.read_bytes() == (sampling.RESULTS / table.name).read_bytes()
    write_rows(read_rows(table)[:-1], table, FIELDS)  # of the last run of CVAE 128
    sampling.main(arguments)
    assert trained == ["cvae-nguyen-1-128"]
    trained.clear()
    sampling.main([*arguments, "--train-only"])
    assert len(trained) == 9


def test_runs_that_are_not_there_for_all_equations_are_dropped(tmp_path: Path) -> None:
    rows = [
        {"model": "gvae", "dimension": "32", "problem": problem, "run": run}
        for run in ("10", "9")
        for problem in PROBLEMS[: 8 if run == "9" else 7]
    ]
    assert whole(rows[::-1]) == [row for row in rows if row["run"] == "9"]
