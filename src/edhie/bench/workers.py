"""Worker processes that share trials: JSON lines in and out, one thread each."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from typing import Any

from edhie.bench.trial import WORKER, Outcome, Trial
from edhie.errors import EdhieError
from edhie.processes import LOOK_EVERY, ask_process, end_process, serve, start_process

ONE_THREAD = [f"{library}_NUM_THREADS" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")] + ["VECLIB_MAXIMUM_THREADS"]


@dataclass(frozen=True)
class Failure:
    """A trial that failed."""

    trial: Trial
    reason: str


class Crew:
    """Worker processes with one thread each, so that results do not depend on their number."""

    def __init__(self, trials: Sequence[Trial], workers: int) -> None:
        self._trials = trials
        self._size = max(1, min(workers, len(trials)))
        self._own = threading.local()  # the process of a thread
        self._processes: list[subprocess.Popen[str]] = []
        self._lock = threading.Lock()
        self._is_closed = False

    def outcomes(self) -> Generator[Outcome | Failure]:
        """Yield the outcomes of trials as they end; all processes are ended afterwards."""
        threads = ThreadPoolExecutor(self._size)
        try:
            waiting = {threads.submit(self._run, trial) for trial in self._trials}
            while waiting:
                done, waiting = wait(waiting, LOOK_EVERY, FIRST_COMPLETED)
                for each in done:
                    yield each.result()
        finally:
            with self._lock:
                self._is_closed = True
                for process in self._processes:
                    process.kill()
            threads.shutdown(cancel_futures=True)
            for process in self._processes:
                end_process(process)

    def _run(self, trial: Trial) -> Outcome | Failure:
        """Give a trial to the process of this thread; start another if it has ended, for example for lack of memory."""
        process: subprocess.Popen[str] | None = getattr(self._own, "process", None)
        if process is None or process.poll() is not None:
            with self._lock:
                process = self._own.process = start_process("edhie.bench.workers", dict.fromkeys(ONE_THREAD, "1"))
                self._processes.append(process)
                if self._is_closed:
                    process.kill()
        return _asked(process, trial)


def _asked(process: subprocess.Popen[str], trial: Trial) -> Outcome | Failure:
    answer = ask_process(process, asdict(trial))
    if answer is None:
        process.kill()
        code = process.wait()
        return Failure(trial, f"its process ended with code {code}, perhaps for lack of memory; try fewer workers")
    return outcome_of(trial, answer)


def outcome_of(trial: Trial, answer: dict[str, Any]) -> Outcome | Failure:
    """Return the outcome in the answer of a worker."""
    return Failure(trial, answer["error"]) if "error" in answer else Outcome(**answer)


def executed(trial: Trial) -> dict[str, Any]:
    """Return the outcome of a trial."""
    from edhie.bench.execute import execute

    return asdict(execute(trial))


def answer(message: dict[str, Any], work: Callable[[Trial], dict[str, Any]] = executed) -> dict[str, Any]:
    """Return what a function finds for a trial, by default its outcome, or the error that ended it."""
    try:
        return work(Trial.from_json(message))
    except EdhieError as error:
        return {"error": str(error)}
    except MemoryError:
        return {"error": "there is too little memory for it"}
    except Exception as error:  # a bug: report it, and let the other runs continue
        return {"error": f"an unexpected {type(error).__name__}: {error}"}


if __name__ == "__main__":
    os.environ[WORKER] = "1"
    serve(answer)
