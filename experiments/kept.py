"""Models of the first fold, trained if they are missing."""

from __future__ import annotations

import argparse
from pathlib import Path

from edhie.expr import Forest
from edhie.generators import load
from edhie.generators.base import Model
from grid import RESULTS, Job, forest_of, run_job, split


def options_of(description: str | None) -> argparse.Namespace:
    """Return the options of a script that uses these models."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--corpora", type=Path, default=Path("corpora"))
    parser.add_argument("--models", type=Path, default=Path("models/experiments"))
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--dataset", nargs="*", help="only these sets")
    return parser.parse_args()


def first_fold_model(dataset: str, model: str, models: Path, corpora: Path) -> Model:
    """Return the model trained on all folds but the first."""
    folder = models / f"{dataset}-{model}"
    if not folder.is_dir():
        print(f"training {model} on {dataset}", flush=True)
        run_job(Job(dataset, model, 0), corpora, models)
    return load(folder)


def first_fold(dataset: str, corpora: Path) -> Forest:
    """Return the expressions that are held out from these models."""
    forest = forest_of(dataset, corpora)
    return forest.take(split(len(forest), 0)[1])
