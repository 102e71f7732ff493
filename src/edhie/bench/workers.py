"""Worker processes that share trials: JSON lines in and out, one thread each."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from queue import SimpleQueue
from typing import Any

from edhie.bench.trial import WORKER, Outcome, Trial
from edhie.processes import LOOK_EVERY, ask_process, end_process, serve, start_process

ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


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
        self._idle: SimpleQueue[subprocess.Popen[str] | None] = SimpleQueue()  # None: not started yet
        self._processes: list[subprocess.Popen[str]] = []
        self._lock = threading.Lock()
        self._is_closed = False

    def outcomes(self) -> Generator[Outcome | Failure]:
        """Yield the outcomes of trials as they end; all processes are ended afterwards."""
        threads = ThreadPoolExecutor(self._size)
        for _ in range(self._size):
            self._idle.put(None)
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
        """Give a trial to an idle process; start a new one if that has ended, for example for lack of memory."""
        process = self._idle.get()
        try:
            if process is not None and process.poll() is not None:
                end_process(process)
                process = None
            process = process or self._start()
            return _asked(process, trial)
        finally:
            self._idle.put(process)

    def _start(self) -> subprocess.Popen[str]:
        with self._lock:
            process = start_process("edhie.bench.workers", dict.fromkeys(ONE_THREAD, "1"))
            self._processes.append(process)
            if self._is_closed:
                process.kill()
        return process


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


def main() -> None:
    """Run trials until the input ends."""
    os.environ[WORKER] = "1"
    serve(answer)


def answer(message: dict[str, Any]) -> dict[str, Any]:
    """Return the outcome of a trial, or the error that ended it."""
    from edhie.bench.execute import execute

    return answer_with(lambda trial: asdict(execute(trial)), message)


def answer_with(work: Callable[[Trial], dict[str, Any]], message: dict[str, Any]) -> dict[str, Any]:
    """Return the result of a function for a trial, or the error that ended it."""
    from edhie.errors import EdhieError

    try:
        return work(Trial.from_json(message))
    except EdhieError as error:
        return {"error": str(error)}
    except MemoryError:
        return {"error": "there is too little memory for it"}
    except Exception as error:  # a bug: report it, and let the other runs continue
        return {"error": f"an unexpected {type(error).__name__}: {error}"}


if __name__ == "__main__":
    main()
