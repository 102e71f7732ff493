"""Where trials run: in worker processes of this machine, or on a Dask cluster; with one thread each."""

from __future__ import annotations

import os
import re
import signal
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import edhie
from edhie.bench.problem_files import ProblemError
from edhie.bench.trial import Outcome, Trial
from edhie.dask_cluster import DaskCluster, Lost
from edhie.errors import EdhieError, SearchError
from edhie.evaluate.parallel import using_threads
from edhie.processes import LOOK_EVERY, end_worker, ended, submit

WORKER = "EDHIE_BENCH_WORKER"
"""An environment variable of worker processes: a module imported there must not start a benchmark."""
FIRST = 1000  # number of the first worker process: searches have lower ones
ATTEMPTS = 5  # at a trial that is lost with its worker, if Dask does not retry it
_here = threading.local()  # set while a thread of a cluster's worker runs a task


@dataclass(frozen=True)
class Failure:
    """A trial that failed."""

    trial: Trial
    reason: str


def process_outcomes(trials: Sequence[Trial], workers: int) -> Generator[Outcome | Failure]:
    """Yield the outcomes of trials as they end; all processes are ended afterwards."""
    left, free = list(trials[::-1]), [FIRST + k for k in range(max(1, min(workers, len(trials))))]
    running: dict[Future[Outcome | Failure], tuple[int, Trial]] = {}
    numbers = list(free)
    try:
        while left or running:
            while left and free:
                number, trial = free.pop(), left.pop()
                running[submit(number, _in_process, trial)] = number, trial
            for future in wait(running, LOOK_EVERY, FIRST_COMPLETED).done:
                number, trial = running.pop(future)
                free.append(number)
                yield _result(future, trial)
    finally:
        for number in numbers:
            end_worker(number)


def _result(future: Future[Outcome | Failure], trial: Trial) -> Outcome | Failure:
    try:
        return future.result()
    except ended() as error:
        code = re.search(r"[A-Z]\((-?\d+)\)", str(error))  # such as {SIGKILL(-9)}
        with_code = f" with code {code[1]}" if code else ""
        return Failure(trial, f"its process ended{with_code}, perhaps for lack of memory; try fewer workers")


def _in_process(trial: Trial) -> Outcome | Failure:
    """Run a trial in a worker process, without output; signals are for the parent, which ends this process."""
    if WORKER not in os.environ:
        os.environ[WORKER] = "1"
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (1, 2):
            os.dup2(nowhere, stream)
    found: Outcome | Failure = attempted(trial, executed)
    return found


def executed(trial: Trial) -> Outcome:
    """Return the outcome of a trial."""
    from edhie.bench.execute import execute

    return execute(trial)


def attempted(trial: Trial, work: Callable[[Trial], Any]) -> Any:
    """Return what a function finds for a trial, with one thread; a `Failure` if it raises an error."""
    try:
        with using_threads(1):
            return work(trial)
    except EdhieError as error:
        return Failure(trial, str(error))
    except MemoryError:
        return Failure(trial, "there is too little memory for it")
    except Exception as error:  # a bug: report it, and let the other runs continue
        return Failure(trial, f"an unexpected {type(error).__name__}: {error}")


def is_on_worker() -> bool:
    """Return True in a process, or in a thread, that runs trials for a benchmark."""
    return WORKER in os.environ or getattr(_here, "is_worker", False)


# -- on a cluster -------------------------------------------------------------------------


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
            yield from _tasks(cluster, trials)
        except SearchError as error:  # the scheduler is gone
            raise ProblemError(f"{error}; finished runs are kept, and the same command resumes") from error


def _tasks(cluster: DaskCluster, trials: Sequence[Trial]) -> Iterator[Outcome | Failure]:
    left = {f"{each.problem}-{each.run}-{each.noise:g}": each for each in trials}
    for attempt in range(ATTEMPTS):
        tasks = {f"{name}-{attempt}": (_with_absolute_paths(left[name]), executed) for name in left}
        for key, found in cluster.tasks(_on_worker, tasks):
            name = key.rpartition("-")[0]
            if not isinstance(found, Lost):
                trial = left.pop(name)
                yield replace(found, trial=trial) if isinstance(found, Failure) else found
            elif found.is_deadly:
                yield Failure(left.pop(name), "its workers died, perhaps out of memory; see their logs")
    for trial in left.values():
        yield Failure(trial, f"the cluster lost it {ATTEMPTS} times; its workers' logs say why")


def check_workers(cluster: DaskCluster, trial: Trial) -> None:
    """Raise an error if a worker cannot run a trial, or has another version of edhie."""
    for worker, found in cluster.on_workers(_on_worker, _with_absolute_paths(trial), _version_if_ready).items():
        if isinstance(found, OSError):  # the worker was lost meanwhile
            continue
        if isinstance(found, Exception | Failure):  # if edhie itself cannot be imported, an error
            reason = found.reason if isinstance(found, Failure) else f"{type(found).__name__}: {found}"
            raise ProblemError(
                f"the worker {worker} cannot run {trial.method.name} on {trial.problem}: {reason}; workers need "
                "all packages that the method imports, and its files at the same place"
            )
        if found != edhie.__version__:
            versions = f"edhie {found}, and this machine {edhie.__version__}"
            raise ProblemError(f"the worker {worker} has {versions}; install the same")


def _with_absolute_paths(trial: Trial) -> Trial:
    """Return a trial with absolute paths, for workers with another working directory."""
    method, model = trial.method, trial.settings.model
    file, colon, name = method.strategy.rpartition(":")
    method = replace(method, strategy=f"{_absolute(file)}{colon}{name}") if file.endswith(".py") else method
    settings = trial.settings if model is None else replace(trial.settings, model=_absolute(model))
    return replace(trial, benchmark=_absolute(trial.benchmark), settings=settings, method=method)


def _absolute(text: str) -> str:
    return str(Path(text).resolve()) if Path(text).exists() else text


def _on_worker(trial: Trial, work: Callable[[Trial], Any]) -> Any:
    """Run a function of a trial in a thread of a cluster's worker."""
    _here.is_worker = True
    try:
        return attempted(trial, work)
    finally:
        _here.is_worker = False


def _version_if_ready(trial: Trial) -> str:
    """Import and load what a trial needs; return the version of edhie."""
    from edhie.bench.execute import prepare

    prepare(trial)
    return edhie.__version__
