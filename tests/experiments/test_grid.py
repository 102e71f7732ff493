"""The grid of trainings: fair splits, rows kept once, and nothing trained twice."""

from __future__ import annotations

from argparse import Namespace
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import grid
import rows
from grid import RESULTS, Job, split
from rows import read_rows
from settings import DATASETS, FOLDS, MODELS


@pytest.mark.parametrize("n", [7, 2000])
def test_folds_share_out_the_corpus(n: int) -> None:
    parts = [split(n, fold) for fold in range(FOLDS)]
    assert sorted(np.concatenate([tested for _, tested in parts])) == list(range(n))
    for learned, tested in parts:
        assert sorted(np.concatenate([learned, tested])) == list(range(n))


def test_a_grid_goes_on_and_takes_rows_from_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[Job] = []

    def run_job(job: Job, *_: Any) -> dict[str, str]:
        ran.append(job)
        return dict.fromkeys(("edit_distance", "invalid_percent", "exact_percent", "seconds"), "0")

    def threads(workers: int, **_: Any) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(workers)

    built: list[str] = []
    monkeypatch.setattr(grid, "forest_of", lambda dataset, corpora: built.append(dataset))
    monkeypatch.setattr(grid, "run_job", run_job)
    monkeypatch.setattr(rows, "ProcessPoolExecutor", threads)
    for name in rows.THREADS:
        monkeypatch.setenv(name, "1")
    options = Namespace(
        dataset=None, model=["hvae"], fold=None, workers=1, corpora=tmp_path, keep_models=None, epochs=None,
        expressions=None,
    )  # fmt: skip
    jobs = [Job("AE4-2k", model, fold) for model in MODELS for fold in range(FOLDS)]
    first = grid.run(jobs, tmp_path / "reconstruction.csv", options)
    assert [(row["model"], row["fold"], row["training_size"]) for row in first] == [
        ("hvae", str(fold), "1600") for fold in range(FOLDS)
    ]
    assert grid.run(jobs, tmp_path / "reconstruction.csv", options) == first
    assert built == ["AE4-2k"]  # before the first jobs, and not for those that are done
    assert [job.fold for job in ran] == list(range(FOLDS))
    smaller = [Job("AE4-2k", "hvae", 0, 500), Job("AE4-2k", "hvae", 0, 1600)]  # the second is in the first grid
    assert len(grid.run(smaller, tmp_path / "training_size.csv", options)) == 2
    assert [job.training_size for job in ran[FOLDS:]] == [500]
    options.epochs, options.expressions = 1, 300
    grid.run(jobs[:1], tmp_path / "reconstruction.csv", options)
    assert (ran[-1].training_size, ran[-1].config.epochs) == (300, 1)


def test_the_committed_rows_are_whole() -> None:
    kept = read_rows(RESULTS / "reconstruction.csv")
    expected = {(dataset, model, str(fold)) for dataset in DATASETS for model in MODELS for fold in range(FOLDS)}
    assert {(row["dataset"], row["model"], row["fold"]) for row in kept} == expected
    assert len(kept) == len(expected)
    assert all(float(row["invalid_percent"]) == 0 for row in kept if row["model"] == "hvae")
