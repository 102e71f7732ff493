"""Train many models, a few at a time, and measure each on a held-out part of its corpus.

A row is written as soon as its training ends; an interrupted grid resumes with the missing rows.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from edhie.corpora import Corpus, build, named_recipe
from edhie.corpora.corpus import DESCRIPTION
from edhie.expr import Forest
from edhie.generators import TrainConfig, save
from rows import Row, read_rows, run_missing, write_rows
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
    """Number of expressions for training; None for all of the other folds."""
    latent: int | None = None
    """Number of latent dimensions; None for the model's setting."""
    epochs: int | None = None
    """Fewer epochs than the model's setting, to try it out."""

    @property
    def config(self) -> TrainConfig:
        """Settings of the training."""
        config = replace(config_for(self.model, self.dataset), seed=self.fold, validation=0.0)
        return replace(config, latent=self.latent or config.latent, epochs=self.epochs or config.epochs)


def split(n: int, fold: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions for training and for testing, the same for all models."""
    order = np.random.default_rng(SPLIT_SEED).permutation(n)
    parts = np.array_split(order, FOLDS)
    return np.concatenate(parts[:fold] + parts[fold + 1 :]), parts[fold]


@lru_cache(maxsize=2)
def forest_of(dataset: str, corpora: Path) -> Forest:
    """Return a named corpus; build it if it is missing."""
    folder = corpora / dataset
    corpus = Corpus.load(folder) if (folder / DESCRIPTION).is_file() else build(named_recipe(dataset), folder)
    return corpus.forest


def run_job(job: Job, corpora: Path, keep: Path | None) -> Row:
    """Train and measure a model; save that of the first fold in the folder `keep`, if given."""
    from edhie.generators.train import train
    from edhie.generators.walks import reconstruct

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
        "edit_distance": f"{found.edit_distance:.4f}", "invalid_percent": f"{found.invalid_percent:.2f}",
        "exact_percent": f"{100 * found.exact:.2f}", "seconds": f"{seconds:.0f}",
    }  # fmt: skip


def run(jobs: Iterable[Job], path: Path, options: argparse.Namespace) -> list[Row]:
    """Run the jobs without a row in any grid; return and write all rows, sorted."""
    chosen = [job for job in jobs if _is_chosen(job, options)]
    asked = [_row(replace(job, training_size=options.expressions or job.training_size)) for job in chosen]
    done = {_identity(row): row for name in GRIDS for row in read_rows(path.with_name(name))}
    known = [done[_identity(row)] for row in asked if _identity(row) in done]
    write_rows(_merged(read_rows(path), known), path, FIELDS)
    for dataset in dict.fromkeys(row["dataset"] for row in asked if _identity(row) not in done):
        forest_of(dataset, options.corpora)  # built here, since each process would build it
    run_one = partial(_run_row, corpora=options.corpora, keep=options.keep_models, epochs=options.epochs)
    rows = _merged(run_missing(run_one, asked, path, FIELDS, workers=options.workers))
    write_rows(rows, path, FIELDS)
    return rows


def _run_row(row: Row, corpora: Path, keep: Path | None, epochs: int | None) -> Row:
    dataset, model, *numbers = (row[name] for name in KEY)
    return run_job(Job(dataset, model, *map(int, numbers), epochs=epochs), corpora, keep)


def _merged(*parts: Sequence[Row]) -> list[Row]:
    """Return all rows in order, without duplicates."""
    by_identity = {_identity(row): row for part in parts for row in part}
    return [by_identity[key] for key in sorted(by_identity)]


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options of all grids."""
    found = argparse.ArgumentParser(description=description)
    found.add_argument("--corpora", type=Path, default=Path("corpora"), help="folder of the named corpora")
    found.add_argument("--workers", type=int, default=os.cpu_count(), help="trainings at a time, each on one core")
    found.add_argument("--dataset", nargs="*", help="only these sets")
    found.add_argument("--model", nargs="*", help="only these models")
    found.add_argument("--fold", nargs="*", type=int, help="only these folds")
    found.add_argument("--epochs", type=int, help="epochs of a training, to try it out")
    found.add_argument("--expressions", type=int, help="expressions of a training, to try it out")
    found.add_argument("--results", type=Path, default=RESULTS, help="the folder of the results")
    found.add_argument("--keep-models", type=Path, help="a folder for the models of the first fold")
    return found


def _is_chosen(job: Job, options: argparse.Namespace) -> bool:
    asked = (options.dataset, options.model, options.fold)
    return all(not names or value in names for names, value in zip(asked, (job.dataset, job.model, job.fold)))  # noqa: B905


def _row(job: Job) -> Row:
    """Return the columns that identify a job."""
    size = job.training_size
    if size is None:
        size = len(split(named_recipe(job.dataset).size, job.fold)[0])
    values = (job.dataset, job.model, job.fold, size, job.config.latent)
    return dict(zip(KEY, map(str, values), strict=True))


def _identity(row: Row) -> tuple[Any, ...]:
    return row["dataset"], row["model"], *(int(row[name]) for name in KEY[2:])
