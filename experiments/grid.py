"""Many trainings, a few at a time, each measured on a part of its corpus that it did not see.

A row is written as soon as it is there, and a grid that was stopped goes on with the rows it lacks.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import os
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from edhie.corpora import Corpus, build, named_recipe
from edhie.expr import Forest
from edhie.generators import TrainConfig, save
from settings import FOLDS, SPLIT_SEED, config_for

RESULTS = Path(__file__).parent / "results"
KEY = ("dataset", "model", "fold", "training_size", "latent")
FIELDS = (
    "dataset", "model", "fold", "edit_distance", "invalid_percent", "exact_percent",
    "training_size", "latent", "seconds",
)  # fmt: skip
GRIDS = ("reconstruction.csv", "training_size.csv", "latent_dimension.csv")


@dataclass(frozen=True)
class Job:
    """One training and its measurement."""

    dataset: str
    model: str
    fold: int
    training_size: int | None = None
    """How many expressions to learn from; all of the other folds where it is None."""
    latent: int | None = None
    """The number of latent dimensions; the model's setting where it is None."""

    @property
    def config(self) -> TrainConfig:
        """How the model is trained."""
        config = replace(config_for(self.model, self.dataset), seed=self.fold, validation=0.0)
        return config if self.latent is None else replace(config, latent=self.latent)


def split(n: int, fold: int) -> tuple[np.ndarray, np.ndarray]:
    """The places for training and for testing; the same for all models."""
    order = np.random.default_rng(SPLIT_SEED).permutation(n)
    parts = np.array_split(order, FOLDS)
    return np.concatenate(parts[:fold] + parts[fold + 1 :]), parts[fold]


@lru_cache(maxsize=2)
def forest_of(dataset: str, corpora: Path) -> Forest:
    """A named corpus, built where it is not there yet."""
    folder = corpora / dataset
    corpus = Corpus.load(folder) if folder.is_dir() else build(named_recipe(dataset), folder)
    return corpus.forest


def run_job(job: Job, corpora: Path, keep: Path | None) -> dict[str, Any]:
    """Train, measure, and keep the model of the first fold where asked to."""
    from edhie.generators.reconstruction import reconstruct
    from edhie.generators.train import train

    forest = forest_of(job.dataset, corpora)
    learned, tested = split(len(forest), job.fold)
    learned = learned[: job.training_size]
    began = time.perf_counter()
    model, history = train(forest.take(learned), job.config)
    seconds = time.perf_counter() - began
    found = reconstruct(model, forest.take(tested))
    if keep is not None and job.fold == 0:
        save(keep / f"{job.dataset}-{job.model}", model, job.config, history=[vars(epoch) for epoch in history])
    return {
        "dataset": job.dataset, "model": job.model, "fold": job.fold,
        "edit_distance": f"{found.edit_distance:.4f}", "invalid_percent": f"{found.invalid_percent:.2f}",
        "exact_percent": f"{100 * found.exact:.2f}", "training_size": len(learned), "latent": model.latent_dim,
        "seconds": f"{seconds:.0f}",
    }  # fmt: skip


def rows_of(path: Path) -> list[dict[str, str]]:
    """What a results file holds so far."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def run(jobs: Iterable[Job], path: Path, options: argparse.Namespace) -> list[dict[str, str]]:
    """Run the jobs that no grid has a row for yet; all rows, sorted, and so written."""
    asked = [job for job in jobs if _is_chosen(job, options)]
    done = {_identity(row): row for name in GRIDS for row in rows_of(path.with_name(name))}
    _write(path, _merged(rows_of(path), [done[_expected(job)] for job in asked if _expected(job) in done]))
    chosen = [job for job in asked if _expected(job) not in done]
    os.environ["OMP_NUM_THREADS"] = "1"  # the workers share the cores
    with ProcessPoolExecutor(options.workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        waiting = [pool.submit(run_job, job, options.corpora, options.keep_models) for job in chosen]
        for number, future in enumerate(as_completed(waiting), start=1):
            row = future.result()
            _append(path, row)
            print(f"{number}/{len(waiting)}", *(f"{row[name]}" for name in FIELDS), flush=True)
    rows = _merged(rows_of(path))
    _write(path, rows)
    return rows


def _merged(*parts: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """All rows once, in order."""
    by_identity = {_identity(row): row for part in parts for row in part}
    return [by_identity[key] for key in sorted(by_identity)]


def parser(description: str | None) -> argparse.ArgumentParser:
    """The options that all grids share."""
    found = argparse.ArgumentParser(description=description)
    found.add_argument("--corpora", type=Path, default=Path("corpora"), help="where the named corpora are, or go")
    found.add_argument("--workers", type=int, default=os.cpu_count(), help="trainings at a time, each on one core")
    found.add_argument("--dataset", nargs="*", help="only these sets")
    found.add_argument("--model", nargs="*", help="only these models")
    found.add_argument("--fold", nargs="*", type=int, help="only these folds")
    found.add_argument("--results", type=Path, default=RESULTS, help="the folder of the results")
    found.add_argument("--keep-models", type=Path, help="a folder for the models of the first fold")
    return found


def _is_chosen(job: Job, options: argparse.Namespace) -> bool:
    asked = (options.dataset, options.model, options.fold)
    return all(not names or value in names for names, value in zip(asked, (job.dataset, job.model, job.fold)))  # noqa: B905


def _expected(job: Job) -> tuple[Any, ...]:
    size = job.training_size
    if size is None:
        size = len(split(named_recipe(job.dataset).size, job.fold)[0])
    return job.dataset, job.model, job.fold, size, job.config.latent


def _identity(row: dict[str, str]) -> tuple[Any, ...]:
    return row["dataset"], row["model"], *(int(row[name]) for name in KEY[2:])


def _append(path: Path, row: dict[str, Any]) -> None:
    with path.open("a", encoding="utf-8", newline="") as file:
        csv.DictWriter(file, fieldnames=FIELDS).writerow(row)


def _write(path: Path, rows: Sequence[dict[str, str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=FIELDS)
        writer.writeheader()
        writer.writerows(rows)
