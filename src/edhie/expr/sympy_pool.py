"""SymPy in child processes, with a time limit for each question.

Neither a signal nor a thread can stop SymPy inside one long operation on huge integers; killing its process can. The
processes exchange JSON lines, so that they need no pickling and no guard in the caller's script. They run with a fixed
hash seed, on which SymPy's order of terms depends.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from itertools import islice
from queue import SimpleQueue
from typing import Any

from edhie.errors import EdhieError
from edhie.processes import ask_process, end_process, killed_after, output_of, start_process

Answer = dict[str, Any]
TIMED_OUT: Answer = {"error": "timed out", "timed_out": True}
START_LIMIT = 60.0
ATTEMPTS = 2  # at a question whose process was ended, by the system or its memory limit
ENDED: Answer = {"error": "the SymPy process ended without an answer"}


class SympyWorker:
    """One process, for one question at a time; it starts with the first question, and again after it ended."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()

    def ask(self, message: Answer, time_limit: float) -> Answer:
        """Return the answer, `TIMED_OUT` once `time_limit` seconds have passed, or another `error`."""
        with self._lock:
            process = self._running()
            answer = None
            start = time.monotonic()
            with killed_after(time_limit, process) as reasons:
                try:
                    answer = ask_process(process, message)
                finally:
                    if answer is None:  # it ended, or Ctrl-C left it with a question half answered
                        self._end()
            is_late = bool(reasons) or time.monotonic() - start > time_limit
            return TIMED_OUT if is_late else answer or ENDED

    def _running(self) -> subprocess.Popen[str]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._end()
        self._process = process = start_process("edhie.expr.sympy_tasks", {"PYTHONHASHSEED": "0"})
        is_ready = False
        try:
            with killed_after(START_LIMIT, process):
                is_ready = "ready\n" in iter(output_of(process).readline, "")
        finally:
            if not is_ready:
                self._end()
        if not is_ready:
            raise EdhieError("the SymPy process did not start; run python -m edhie.expr.sympy_tasks to see why")
        return process

    def close(self) -> None:
        """End the process, and with it the question that it works on."""
        process = self._process
        if process is not None:
            process.kill()
        with self._lock:
            self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            end_process(process)

    def forget(self) -> None:
        """Forget the process, which is the parent's, in the child after a fork."""
        self._process = None
        self._lock = threading.Lock()


class SympyPool:
    """Several workers that answer a stream of questions in its order."""

    def __init__(self, workers: int, time_limit: float) -> None:
        self.time_limit = time_limit
        self._workers = [SympyWorker() for _ in range(workers)]
        self._idle: SimpleQueue[SympyWorker] = SimpleQueue()
        for worker in self._workers:
            self._idle.put(worker)
        self._is_closed = False
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="sympy")

    def map(self, messages: Iterable[Answer]) -> Iterator[Answer]:
        """Yield the answers, each as soon as it and all before it are there."""
        source = iter(messages)
        waiting = deque(self._submit(each) for each in islice(source, 4 * len(self._workers)))
        while waiting:
            yield waiting.popleft().result()
            waiting.extend(self._submit(each) for each in islice(source, 1))

    def _submit(self, message: Answer) -> Future[Answer]:
        try:
            return self._threads.submit(self._ask, message)
        except RuntimeError:  # closed in the meantime
            ended: Future[Answer] = Future()
            ended.set_result(ENDED)
            return ended

    def _ask(self, message: Answer) -> Answer:
        worker = self._idle.get()
        try:
            answers = (ENDED if self._is_closed else worker.ask(message, self.time_limit) for _ in range(ATTEMPTS))
            return next((answer for answer in answers if answer is not ENDED), ENDED)
        except EdhieError:
            if self._is_closed:  # before its process had started
                return ENDED
            raise
        finally:
            self._idle.put(worker)

    def close(self) -> None:
        """End all workers, even busy ones; questions still unanswered get `ENDED`."""
        self._is_closed = True
        self._threads.shutdown(wait=False)
        for worker in self._workers:
            worker.close()
        self._threads.shutdown(wait=True)
        for worker in self._workers:  # one may have been about to start its process
            worker.close()

    def __enter__(self) -> SympyPool:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


@cache
def shared_worker() -> SympyWorker:
    """Return the one worker for single questions; it lives as long as this process."""
    worker = SympyWorker()
    atexit.register(worker.close)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=worker.forget)
    return worker
