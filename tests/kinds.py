"""Small folders of every kind that edhie writes."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from edhie.bench.runner import Plan, run_benchmark
from edhie.bench.trial import TrialSettings
from edhie.corpora import Corpus
from edhie.evaluate import Data
from edhie.fit import Settings, discover
from edhie.fit.run_folder import save as save_run
from edhie.generators import TrainConfig, save
from edhie.grammar import load as load_grammar

CONFIG = TrainConfig(hidden=8, latent=4, epochs=2, batch=16, validation=0.0)
PLAN = Plan("nguyen", "hvar", runs=2, ids=("NG-1",), settings=TrialSettings(evaluations=100))


def make_one_of_each(place: Path) -> None:
    """Make a corpus, a training that was stopped, a model, a run and results of a benchmark."""
    from edhie.generators.train import train

    forest = load_grammar("trig").sample(300, np.random.default_rng(0), max_height=3).unique()[:40]
    Corpus("forty", forest).save(place / "corpus")
    model, _ = train(forest, CONFIG, folder=place / "training")
    save(place / "model", model, CONFIG)
    x = np.linspace(1, 5, 40)
    data = Data(x[np.newaxis], 3 * np.exp(-x) + 0.01 * np.sin(40 * x), None, ("x",))
    settings = Settings(max_time=None, max_evaluations=300, search="draw")
    save_run(discover(data, settings, folder=place / "run"), place / "run")
    run_benchmark(PLAN, place / "results")


def without_seconds(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file without the column of seconds."""
    with path.open(encoding="utf-8", newline="") as file:
        return [{name: text for name, text in row.items() if name != "seconds"} for row in csv.DictReader(file)]
