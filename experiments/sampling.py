"""Random sampling on Nguyen 1 to 8 with HVAE, GVAE and CVAE of several latent dimensions, ten runs each.

python experiments/sampling.py --workers 2
python experiments/sampling.py --models models --train-only --workers 9 --device cuda

The first trains the models of the runs that are missing, and then samples; both can be stopped and started again. A run
draws 100,000 codes: the paper's counts of invalid expressions add up to that. It is a run of `edhie bench nguyen
--method hvar --latent 64` and so on, which draws until 100,000 distinct expressions are executed, cut off there. The
codes of a run follow from its number alone, so all equations get the same expressions; these are decoded once for all
of them, which changes nothing but the time.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from edhie.bench.methods import METHODS, Baseline, answer_library
from edhie.bench.trial import Trial, TrialSettings
from edhie.generators import load
from edhie.generators.base import Codes, Decoded, Model
from edhie.processes import end_with
from edhie.search.sampling import Draw, DrawConfig
from rows import Row, one_thread, read_rows, run_missing, write_rows

RESULTS = Path(__file__).parent / "results"
CORPUS = "Nguyen-1"
PROBLEMS = tuple(f"NG-{k}" for k in range(1, 9))
RUNS = 10
SAMPLES = 100_000
DIMENSIONS = {"hvae": (16, 32, 64, 128), "gvae": (32, 64, 128), "cvae": (32, 64, 128)}
METHOD = {"hvae": "hvar", "gvae": "gvae", "cvae": "cvae"}
KEY = ("model", "dimension", "run")
FIELDS = ("model", "dimension", "problem", "run", "success", "r2", "evaluated", "invalid", "sampled", "found_after")
"""`evaluated`: distinct expressions executed; `sampled`: codes drawn; `invalid`: codes that gave no expression;
`found_after`: distinct expressions executed until the equation was found."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Train what waiting runs need, then sample."""
    options = _parser().parse_args(arguments)
    pairs = [(model, each) for model in options.model for each in DIMENSIONS[model] if each in options.latent]
    table = options.results / "nguyen-sampling.csv"
    jobs = [
        {"model": model, "dimension": str(latent), "run": str(run)}
        for run in range(options.runs)
        for model, latent in pairs
    ]
    done = {tuple(map(row.get, KEY)) for row in whole(read_rows(table))}
    waiting = {(job["model"], int(job["dimension"])) for job in jobs if tuple(job.values()) not in done}
    needed = [pair for pair in pairs if options.train_only or pair in waiting]
    wanted = [_baseline(*pair, options.models) for pair in needed if not _is_shipped(*pair)]
    train([each for each in wanted if not each.is_trained], options)
    if not options.train_only:
        write_rows(whole(read_rows(table)), table, FIELDS)
        run = partial(sample, models=options.models, evaluations=options.evaluations)
        write_rows(whole(run_missing(run, jobs, table, FIELDS, workers=options.workers)), table, FIELDS)


def train(missing: Sequence[Baseline], options: argparse.Namespace) -> None:
    """Train and keep these models, some at a time."""
    if not missing:
        return
    one_thread()
    begin = partial(end_with, os.getpid())
    workers = min(options.workers, len(missing))
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=begin) as pool:
        effort = {"device": options.device, "epochs": options.epochs, "expressions": options.expressions}
        for note in pool.map(partial(_trained, **effort), missing):
            print(note, flush=True)


def _trained(baseline: Baseline, **effort: Any) -> str:
    name = baseline.folder.name

    def tell(epoch: int, total: int) -> None:
        if epoch % 10 == 0 or epoch == total:
            print(f"{name}: epoch {epoch} of {total}", file=sys.stderr, flush=True)

    baseline.train(tell, **effort)
    return f"{baseline.folder} is trained"


def sample(job: Row, models: Path | None = None, evaluations: int = TrialSettings.evaluations) -> list[Row]:
    """Return a row for each equation: one run of one model."""
    from edhie.bench.execute import execute
    from edhie.fit.warm_up import warm_up

    latent = int(job["dimension"])
    shipped = _is_shipped(job["model"], latent)
    model = load(CORPUS.lower()) if shipped else _baseline(job["model"], latent, models).load()
    method = replace(METHODS[METHOD[job["model"]]], latent=latent, strategy=f"{__file__}:draw", name="sampling")
    remembering = Remembering(model)
    warm_up(remembering, answer_library(remembering, strict=True), method.strategy)
    rows = []
    for problem in PROBLEMS:
        remembering.restart()
        trial = Trial("nguyen", problem, method, int(job["run"]), 0.0, TrialSettings(evaluations))
        row = execute(trial, remembering).row
        rows.append({
            "problem": problem, "success": str(int(row["success"])), "r2": f"{row['r2_test']:.6f}",
            "evaluated": str(row["evaluated"]), "invalid": str(remembering.invalid),
            "sampled": str(remembering.sampled), "found_after": str(row["evaluated_to_success"] or ""),
        })  # fmt: skip
    return rows


def draw() -> Draw:
    """Return random sampling with the paper's number of samples."""
    return Draw(DrawConfig(attempts=SAMPLES))


class Remembering:
    """An autoencoder that keeps what it has decoded, and counts."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._known: dict[bytes, Decoded] = {}
        self.library, self.latent_dim = model.library, model.latent_dim
        self.encode, self.sample = model.encode, model.sample
        self.restart()

    def restart(self) -> None:
        """Count from 0 again."""
        self.sampled = self.invalid = 0

    def decode(self, codes: Codes) -> Decoded:
        """Decode, or return what these codes gave before."""
        key = blake2b(np.ascontiguousarray(codes).tobytes(), digest_size=16).digest()
        if key not in self._known:
            self._known[key] = self._model.decode(codes)
        found = self._known[key]
        self.sampled += found.attempts
        self.invalid += found.invalid
        return found


def whole(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of the runs that are complete for all equations, in order."""
    counts = Counter(tuple(map(row.get, KEY)) for row in rows)
    kept = [row for row in rows if counts[tuple(map(row.get, KEY))] == len(PROBLEMS)]
    models = list(DIMENSIONS)
    return sorted(
        kept,
        key=lambda row: (models.index(row["model"]), int(row["dimension"]), row["problem"], int(row["run"])),
    )


def _is_shipped(model: str, latent: int) -> bool:
    return METHODS[METHOD[model]].with_latent(latent).is_shipped


def _baseline(model: str, latent: int, models: Path | None) -> Baseline:
    return Baseline(model, CORPUS, latent, models)  # type: ignore[arg-type]


def _parser() -> argparse.ArgumentParser:
    dimensions = sorted({each for some in DIMENSIONS.values() for each in some})
    found = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    found.add_argument("--model", nargs="*", default=list(DIMENSIONS), choices=list(DIMENSIONS), help="which models")
    found.add_argument("--latent", nargs="*", type=int, default=dimensions, help="which latent dimensions")
    found.add_argument("--models", type=Path, help="the folder of the trained models (default: in the user's cache)")
    found.add_argument("--train-only", action="store_true", help="train what is missing, and end")
    found.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto", help="where models are trained")
    found.add_argument("--epochs", type=int, help="epochs of a training, to try it out (default: the paper's)")
    found.add_argument("--expressions", type=int, help="expressions of a training, to try it out")
    found.add_argument("--runs", type=int, default=RUNS, help="runs of each model and equation")
    found.add_argument(
        "--evaluations", type=int, default=TrialSettings.evaluations, help="distinct expressions executed at most"
    )
    found.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes of one thread each")
    found.add_argument("--results", type=Path, default=RESULTS, help="the folder of the table")
    return found


if __name__ == "__main__":
    main()
