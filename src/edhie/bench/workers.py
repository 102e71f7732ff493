"""Worker processes that share trials: JSON lines in and out, one thread each."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from edhie.bench.trial import READY, WORKER, Outcome, Trial

ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
LOOK_EVERY = 0.5  # seconds: how long Ctrl-C may wait where a queue does not hear it


@dataclass(frozen=True)
class Failure:
    """A trial that came to nothing."""

    trial: Trial
    reason: str


class Crew:
    """Worker processes, one thread each, so that how many there are changes nothing but the time."""

    def __init__(self, trials: Sequence[Trial], workers: int) -> None:
        self._trials: queue.SimpleQueue[Trial] = queue.SimpleQueue()
        for trial in trials:
            self._trials.put(trial)
        self._done: queue.Queue[Outcome | Failure] = queue.Queue()
        self._count = len(trials)
        self._size = min(workers, len(trials))
        self._processes: list[subprocess.Popen[str]] = []
        self._lock = threading.Lock()
        self._is_closed = False

    def outcomes(self) -> Iterator[Outcome | Failure]:
        """Yield the outcomes of trials as they end; afterwards all processes are gone."""
        threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(self._size)]
        try:
            for thread in threads:
                thread.start()
            for _ in range(self._count):
                yield self._next()
        finally:
            self.close()
            for thread in threads:
                thread.join()

    def close(self) -> None:
        """End all processes, whatever they work on."""
        with self._lock:
            self._is_closed = True
            for process in self._processes:
                process.kill()

    def _next(self) -> Outcome | Failure:
        while True:
            try:
                return self._done.get(timeout=LOOK_EVERY)
            except queue.Empty:
                continue

    def _serve(self) -> None:
        """Hand trials to one process; start a new one if it ended, for example for lack of memory."""
        process: subprocess.Popen[str] | None = None
        while not self._is_closed:
            try:
                trial = self._trials.get_nowait()
            except queue.Empty:
                break
            if process is not None and process.poll() is not None:
                _ended(process)
                process = None
            process = process or self._started()
            self._done.put(_asked(process, trial))
        if process is not None:
            _ended(process)

    def _started(self) -> subprocess.Popen[str]:
        with self._lock:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "edhie.bench.workers"],  # -P: no module of the working folder
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                text=True, encoding="utf-8", env=_environment(),
            )  # fmt: skip
            self._processes.append(process)
            if self._is_closed:
                process.kill()
        return process


def _asked(process: subprocess.Popen[str], trial: Trial) -> Outcome | Failure:
    line = ""
    try:
        print(json.dumps(asdict(trial)), file=process.stdin, flush=True)
        line = _pipe(process).readline()
        if line.strip() == READY:
            line = _pipe(process).readline()
    except (BrokenPipeError, ValueError):
        pass
    if not line.endswith("\n"):
        process.kill()
        code = process.wait()
        return Failure(trial, f"its process ended with code {code}, as where memory runs out; try fewer workers")
    answer = json.loads(line)
    return Failure(trial, answer["error"]) if "error" in answer else Outcome(**answer)


def _pipe(process: subprocess.Popen[str]) -> IO[str]:
    if process.stdout is None:
        raise RuntimeError("the process has no pipes")
    return process.stdout


def _ended(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except BrokenPipeError:  # what was still unsent had no reader
                continue


def _environment() -> dict[str, str]:
    """Return an environment in which a worker imports what this process does and uses one thread."""
    paths = [path or str(Path.cwd()) for path in sys.path]
    return os.environ | dict.fromkeys(ONE_THREAD, "1") | {"PYTHONPATH": os.pathsep.join(paths)}


LOOK_EVERY = 1.0  # seconds between looks whether the parent is still there


def main() -> None:
    """Answer trials until the input ends."""
    os.environ[WORKER] = "1"
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's affair
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever else is printed must not stand between answers
    sys.stdout = sys.stderr
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    print(READY, file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), file=answers, flush=True)


def answer(message: dict[str, Any]) -> dict[str, Any]:
    """Return the outcome of a trial, or the error that ended it."""
    from edhie.bench.execute import execute
    from edhie.bench.trial import Trial
    from edhie.errors import EdhieError

    try:
        return asdict(execute(Trial.from_json(message)))
    except EdhieError as error:
        return {"error": str(error)}
    except MemoryError:
        return {"error": "there is too little memory for it"}
    except Exception as error:  # a fault of ours: the other runs go on, and this one is told
        return {"error": f"an unexpected {type(error).__name__}: {error}"}


def _end_with_parent(parent: int) -> None:
    """End the process as soon as its parent is gone."""
    while os.getppid() == parent:
        time.sleep(LOOK_EVERY)
    os._exit(1)


if __name__ == "__main__":
    main()
