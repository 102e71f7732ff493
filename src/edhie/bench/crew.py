"""Several worker processes that share out tasks; answers come as they are ready."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from edhie.bench.task import READY, Outcome, Task

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
    """A task that came to nothing."""

    task: Task
    reason: str


class Crew:
    """Worker processes, one thread each, so that how many there are changes nothing but the time."""

    def __init__(self, tasks: Sequence[Task], workers: int) -> None:
        self._tasks: queue.SimpleQueue[Task] = queue.SimpleQueue()
        for task in tasks:
            self._tasks.put(task)
        self._done: queue.Queue[Outcome | Failure] = queue.Queue()
        self._count = len(tasks)
        self._size = min(workers, len(tasks))
        self._processes: list[subprocess.Popen[str]] = []
        self._lock = threading.Lock()
        self._is_closed = False

    def outcomes(self) -> Iterator[Outcome | Failure]:
        """What tasks came to, in the order in which they end; the processes are gone when it is over."""
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
        """Hand tasks to one process; a new one after it ended, as where memory ran out."""
        process: subprocess.Popen[str] | None = None
        while not self._is_closed:
            try:
                task = self._tasks.get_nowait()
            except queue.Empty:
                break
            if process is not None and process.poll() is not None:
                _ended(process)
                process = None
            process = process or self._started()
            self._done.put(_asked(process, task))
        if process is not None:
            _ended(process)

    def _started(self) -> subprocess.Popen[str]:
        with self._lock:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "edhie.bench.worker"],  # -P: no module of the working folder
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                text=True, encoding="utf-8", env=_environment(),
            )  # fmt: skip
            self._processes.append(process)
            if self._is_closed:
                process.kill()
        return process


def _asked(process: subprocess.Popen[str], task: Task) -> Outcome | Failure:
    line = ""
    try:
        print(json.dumps(asdict(task)), file=process.stdin, flush=True)
        line = _pipe(process).readline()
        if line.strip() == READY:
            line = _pipe(process).readline()
    except (BrokenPipeError, ValueError):
        pass
    if not line.endswith("\n"):
        process.kill()
        code = process.wait()
        return Failure(task, f"its process ended with code {code}, as where memory runs out; try fewer workers")
    answer = json.loads(line)
    return Failure(task, answer["error"]) if "error" in answer else Outcome(**answer)


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
    """This process's environment, able to import what this one does, with one thread."""
    paths = [path or str(Path.cwd()) for path in sys.path]
    return os.environ | dict.fromkeys(ONE_THREAD, "1") | {"PYTHONPATH": os.pathsep.join(paths)}
