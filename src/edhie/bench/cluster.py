"""Trials on a Dask cluster: one task each."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import edhie
from edhie.bench.problem_files import ProblemError
from edhie.bench.trial import WORKER, Outcome, Trial
from edhie.bench.workers import Failure, answer, executed, outcome_of
from edhie.dask_cluster import DaskCluster, Lost
from edhie.errors import SearchError
from edhie.evaluate.parallel import using_threads

ATTEMPTS = 5  # at a trial that is lost with its worker, if Dask does not retry it
_here = threading.local()  # set while a worker's thread runs a task


def cluster_outcomes(trials: Sequence[Trial], address: str, workers: int) -> Generator[Outcome | Failure]:
    """Yield the outcomes of trials as they end; trials of lost workers are repeated.

    Workers need edhie, and the files and methods that trials refer to. `workers` is the size of a new cluster on this
    machine.
    """
    if not trials:
        return
    with closing(DaskCluster(address, workers)) as cluster:
        check_workers(cluster, trials[0])
        try:
            yield from _run(cluster, trials)
        except SearchError as error:  # the scheduler is gone
            raise ProblemError(f"{error}; finished runs are kept, and the same command resumes") from error


def _run(cluster: DaskCluster, trials: Sequence[Trial]) -> Iterator[Outcome | Failure]:
    left = {f"{each.problem}-{each.run}-{each.noise:g}": each for each in trials}
    for attempt in range(ATTEMPTS):
        messages = {f"{name}-{attempt}": (asdict(_with_absolute_paths(left[name])),) for name in left}
        for key, found in cluster.tasks(_answer_on_worker, messages):
            name = key.rpartition("-")[0]
            if not isinstance(found, Lost):
                yield outcome_of(left.pop(name), found)
            elif found.is_deadly:
                yield Failure(left.pop(name), "its workers died, perhaps out of memory; see their logs")
    for trial in left.values():
        yield Failure(trial, f"the cluster lost it {ATTEMPTS} times; its workers' logs say why")


def check_workers(cluster: DaskCluster, trial: Trial) -> None:
    """Raise an error if a worker cannot run a trial, or has another version of edhie."""
    message = asdict(_with_absolute_paths(trial))
    for worker, found in cluster.on_workers(_answer_on_worker, message, _ready).items():
        if isinstance(found, OSError):  # the worker was lost meanwhile
            continue
        if isinstance(found, Exception):  # edhie itself cannot be imported
            found = {"error": f"{type(found).__name__}: {found}"}
        if "error" in found:
            raise ProblemError(
                f"the worker {worker} cannot run {trial.method} on {trial.problem}: {found['error']}; workers need "
                "all packages that the method imports, and its files at the same place"
            )
        if found["version"] != edhie.__version__:
            versions = f"edhie {found['version']}, and this machine {edhie.__version__}"
            raise ProblemError(f"the worker {worker} has {versions}; install the same")


def is_on_worker() -> bool:
    """Return True in a process, or in a thread, that runs trials for a benchmark."""
    return WORKER in os.environ or getattr(_here, "is_worker", False)


def _with_absolute_paths(trial: Trial) -> Trial:
    """Return a trial with absolute paths, for workers with another working directory."""
    own, model = trial.own, trial.settings.model
    if own is not None:
        file, colon, name = own.strategy.rpartition(":")
        own = replace(own, strategy=f"{_absolute(file)}{colon}{name}") if file.endswith(".py") else own
    settings = trial.settings if model is None else replace(trial.settings, model=_absolute(model))
    return replace(trial, benchmark=_absolute(trial.benchmark), settings=settings, own=own)


def _absolute(text: str) -> str:
    return str(Path(text).resolve()) if Path(text).exists() else text


# -- on a worker --------------------------------------------------------------------------


def _answer_on_worker(message: dict[str, Any], work: Callable[[Trial], dict[str, Any]] = executed) -> dict[str, Any]:
    _here.is_worker = True
    try:
        with using_threads(1):
            return answer(message, work)
    finally:
        _here.is_worker = False


def _ready(trial: Trial) -> dict[str, Any]:
    """Import and load what a trial needs; return the version of edhie."""
    from edhie.bench.execute import prepare

    prepare(trial)
    return {"version": edhie.__version__}
