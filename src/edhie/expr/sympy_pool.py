"""SymPy in processes of its own, each question with a time limit that always holds.

A signal or a thread cannot stop SymPy inside one long operation on huge integers; killing
its process can. The processes speak JSON lines, so they need no pickling and no guard in
the caller's script, and they run with a fixed hash seed, on which SymPy's order of terms
depends.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from itertools import islice
from types import TracebackType
from typing import Any

Answer = dict[str, Any]
TIMED_OUT: Answer = {"error": "timed out", "timed_out": True}


class SympyWorker:
    """One process; it is started when first asked, and again after it had to be killed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def ask(self, message: Answer, time_limit: float) -> Answer:
        """The worker's answer, or `TIMED_OUT` once `time_limit` seconds have passed."""
        process = self._running()
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the SymPy process has no pipes")
        timer = threading.Timer(time_limit, process.kill)
        timer.daemon = True
        timer.start()
        try:
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except (BrokenPipeError, ValueError):
            line = ""
        finally:
            timer.cancel()
        if line.endswith("\n"):
            found: Answer = json.loads(line)
            return found
        self.close()
        return TIMED_OUT

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._process = subprocess.Popen(
                [sys.executable, "-m", "edhie.expr.sympy_tasks"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=_environment(),
            )
            if self._process.stdout is None or self._process.stdout.readline() != "ready\n":
                raise RuntimeError("the SymPy process did not start; try: python -m edhie.expr.sympy_tasks")
        return self._process

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    _close_quietly(pipe)


def _close_quietly(pipe: Any) -> None:
    try:
        pipe.close()
    except BrokenPipeError:
        pass  # what was still unsent had no reader


def _environment() -> dict[str, str]:
    """This process's environment, able to import this edhie and with a fixed hash seed."""
    paths = [path for path in sys.path if path] + [os.getcwd()]
    return os.environ | {"PYTHONHASHSEED": "0", "PYTHONPATH": os.pathsep.join(paths)}


class SympyPool:
    """Several workers that answer a stream of questions in its order."""

    def __init__(self, workers: int, time_limit: float) -> None:
        self.time_limit = time_limit
        self._local = threading.local()
        self._workers: list[SympyWorker] = []
        self._lock = threading.Lock()
        self._size = workers
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="sympy")

    def map(self, messages: Iterable[Answer]) -> Iterator[Answer]:
        """The answers, each as soon as it and all before it are there."""
        source = iter(messages)
        waiting: list[Future[Answer]] = [self._submit(each) for each in islice(source, 4 * self._size)]
        while waiting:
            yield waiting.pop(0).result()
            waiting.extend(self._submit(each) for each in islice(source, 1))

    def _submit(self, message: Answer) -> Future[Answer]:
        return self._threads.submit(self._ask, message)

    def _ask(self, message: Answer) -> Answer:
        if not hasattr(self._local, "worker"):
            self._local.worker = SympyWorker()
            with self._lock:
                self._workers.append(self._local.worker)
        answer: Answer = self._local.worker.ask(message, self.time_limit)
        return answer

    def __enter__(self) -> SympyPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in self._workers:
            worker.close()


@cache
def shared_worker() -> SympyWorker:
    """The one worker that single questions go to; it lives as long as this process."""
    worker = SympyWorker()
    atexit.register(worker.close)
    return worker
