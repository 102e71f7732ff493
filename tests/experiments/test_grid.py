"""The grid of trainings: fair splits, rows kept once, and nothing trained twice."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import grid
from grid import RESULTS, Job, rows_of, split
from settings import DATASETS, FOLDS, MODELS


@pytest.mark.parametrize("n", [7, 2000])
def test_folds_share_out_the_corpus(n: int) -> None:
    parts = [split(n, fold) for fold in range(FOLDS)]
    assert sorted(np.concatenate([tested for _, tested in parts])) == list(range(n))
    for learned, tested in parts:
        assert sorted(np.concatenate([learned, tested])) == list(range(n))


def row_of(job: Job, *_: Any) -> dict[str, Any]:
    size = job.training_size or len(split(2000, job.fold)[0])
    return dict.fromkeys(grid.FIELDS, "0") | {
        "dataset": job.dataset, "model": job.model, "fold": job.fold,
        "training_size": size, "latent": job.config.latent,
    }  # fmt: skip


class AtOnce:
    """A pool that runs each job where it stands, and notes it."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.ran: list[Job] = []
        pools.append(self)

    def __enter__(self) -> AtOnce:
        return self

    def __exit__(self, *_: object) -> None: ...

    def submit(self, function: Any, job: Job, *_: Any) -> Any:
        self.ran.append(job)
        return Namespace(result=lambda: row_of(job))


pools: list[AtOnce] = []


def test_a_grid_goes_on_and_takes_rows_from_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid, "ProcessPoolExecutor", AtOnce)
    monkeypatch.setattr(grid, "as_completed", lambda waiting: waiting)
    pools.clear()
    options = Namespace(dataset=None, model=["hvae"], fold=None, workers=1, corpora=tmp_path, keep_models=None)
    jobs = [Job("AE4-2k", model, fold) for model in MODELS for fold in range(FOLDS)]
    first = grid.run(jobs, tmp_path / "reconstruction.csv", options)
    assert len(first) == FOLDS
    assert {row["model"] for row in first} == {"hvae"}
    assert len(grid.run(jobs, tmp_path / "reconstruction.csv", options)) == FOLDS
    smaller = [Job("AE4-2k", "hvae", 0, 500), Job("AE4-2k", "hvae", 0, 1600)]  # the second is in the first grid
    assert len(grid.run(smaller, tmp_path / "training_size.csv", options)) == 2
    assert [len(pool.ran) for pool in pools] == [FOLDS, 0, 1]


def test_the_committed_rows_are_whole() -> None:
    rows = rows_of(RESULTS / "reconstruction.csv")
    expected = {(dataset, model, str(fold)) for dataset in DATASETS for model in MODELS for fold in range(FOLDS)}
    assert {(row["dataset"], row["model"], row["fold"]) for row in rows} == expected
    assert len(rows) == len(expected)
    assert all(float(row["invalid_percent"]) == 0 for row in rows if row["model"] == "hvae")
