"""Runs on the Nguyen equations, saved as by `edhie bench`; shared by the experiments on searches."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from edhie.bench.methods import METHODS, Baseline, method_named
from edhie.bench.runner import RUNS, Ended, Plan, run_benchmark
from edhie.bench.trial import TrialSettings

BENCHMARK = "nguyen"
RESULTS = Path(__file__).parent / "results"


def parser(description: str | None, methods: Sequence[str], problems: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Return a parser with the options of these experiments."""
    found = argparse.ArgumentParser(description=description)
    found.add_argument("--method", nargs="*", default=list(methods), choices=list(METHODS), help="which methods")
    found.add_argument("--problems", nargs="*", default=list(problems), help="which equations (default: all)")
    found.add_argument("--runs", type=int, default=RUNS, help="how often each is run")
    found.add_argument(
        "--evaluations", type=int, default=TrialSettings.evaluations, help="expressions executed at most"
    )
    found.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="runs at a time, each on one core")
    found.add_argument("--results", type=Path, default=RESULTS, help="the folder of the results")
    return found


def run(method: str, options: argparse.Namespace, *, with_curves: bool = False) -> Ended:
    """Run what is missing from the results; strict, so that all methods have the same symbols."""
    is_strict = None if method_named(method).strict else True  # as `edhie bench` has it, so that both share runs
    settings = TrialSettings(evaluations=options.evaluations, strict=is_strict)
    plan = Plan(BENCHMARK, method, options.runs, tuple(options.problems), settings=settings)
    ended = run_benchmark(
        plan, options.results, workers=options.workers, with_curves=with_curves, train=_train, on_row=_report
    )
    for failure in ended.failures:
        print(f"{failure.trial.problem}, run {failure.trial.run} failed: {failure.reason}", flush=True)
    return ended


def _train(baseline: Baseline) -> None:
    print(f"training {baseline.kind} on {baseline.corpus}; it is kept in {baseline.folder}", flush=True)
    baseline.train()


def _report(done: int, total: int, note: str) -> None:
    if note:
        print(f"{done}/{total} {note}", flush=True)
