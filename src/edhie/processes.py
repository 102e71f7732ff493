"""Child processes: those that answer JSON lines, one question at a time, and workers that call functions."""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

PARENT = "EDHIE_PARENT"
"""An environment variable with the id of the process that starts another, which may be gone before the other runs."""
LOOK_EVERY = 0.5  # seconds: until Ctrl-C is heard where waiting blocks it, and until a process misses its parent
MEMORY_EVERY = 0.05  # seconds between looks at the memory of a process


def command_of(module: str) -> list[str]:
    """Return the command that runs a module, in the environment `import_path()`."""
    return [sys.executable, "-P", "-m", module]  # -P: no module of the working folder


def import_path() -> dict[str, str]:
    """Return the environment of this process with its import path."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(path or str(Path.cwd()) for path in sys.path)}


def start_process(module: str, environment: dict[str, str], *, is_group: bool = False) -> subprocess.Popen[str]:
    """Run a module as a process with this one's import path; `environment` adds variables.

    With `is_group`, it and the processes that it starts are a group, where there are such: they can be killed together.
    """
    # on Windows, a launcher of Python may be the parent
    parent = {} if sys.platform == "win32" else {PARENT: str(os.getpid())}
    return subprocess.Popen(
        command_of(module),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
        env=import_path() | parent | environment,
        process_group=0 if is_group else None,
    )


def output_of(process: subprocess.Popen[str]) -> IO[str]:
    """Return the pipe that a process writes to."""
    if process.stdout is None:
        raise RuntimeError("the process has no pipes")
    return process.stdout


def ask_process(process: subprocess.Popen[str], message: dict[str, Any]) -> dict[str, Any] | None:
    """Return the answer to a message, or None if the process ends before it."""
    try:
        print(json.dumps(message), file=process.stdin, flush=True)
        line = output_of(process).readline()
    except (BrokenPipeError, ValueError):
        return None
    return dict(json.loads(line)) if line.endswith("\n") else None


@contextmanager
def killed_after(
    seconds: float, process: subprocess.Popen[str], *, memory: int | None = None, is_group: bool = False
) -> Iterator[list[str]]:
    """Kill a process unless the block ends in time; the list then holds the reason.

    With `memory`, it is also killed if it takes more bytes than that, where that is known. With `is_group`, the
    processes that it started are killed too.
    """
    is_over, reasons = threading.Event(), list[str]()
    deadline = time.monotonic() + max(seconds, 0.0)

    def watch() -> None:
        while not reasons:
            left = max(deadline - time.monotonic(), 0.0)
            if is_over.wait(left if memory is None else min(left, MEMORY_EVERY)):
                return
            if time.monotonic() >= deadline:
                reasons.append(f"killed, since it had not answered after {seconds:g} s")
            elif memory is not None and _occupied(process) > memory:
                reasons.append(f"killed, since it took more than {memory >> 30} GiB of memory")
        kill(process, is_group=is_group)

    guard = threading.Thread(target=watch, daemon=True)
    guard.start()
    try:
        yield reasons
    finally:
        is_over.set()
        guard.join()
        if reasons:
            process.wait()  # so that the next question finds it ended


def kill(process: subprocess.Popen[str], *, is_group: bool = False) -> None:
    """Kill a process, with `is_group` also those that it started."""
    if is_group and sys.platform != "win32":
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()


def _occupied(process: subprocess.Popen[str]) -> int:
    """Return the resident memory of a process in bytes; 0 where it is unknown."""
    try:
        pages = Path(f"/proc/{process.pid}/statm").read_text(encoding="ascii").split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def end_process(process: subprocess.Popen[str]) -> None:
    """Kill a process, whatever it works on, and close its pipes."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(BrokenPipeError):  # what was still unsent had no reader
                pipe.close()


def serve(answer: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Answer messages until the input ends, or the parent does; signals are for the parent, which ends this process."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # other output must not mix with the answers
    sys.stdout = sys.stderr
    end_with(int(os.environ.pop(PARENT, os.getppid())))
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), file=answers, flush=True)


def end_with(parent: int, end: Callable[[], None] = lambda: os._exit(1)) -> None:
    """End this process as soon as its parent is gone, even if that was killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(LOOK_EVERY)
        end()

    threading.Thread(target=watch, daemon=True).start()


# -- workers, which stay for the next call, and end with this process --------------------

IDLE_SECONDS = 300  # after which an idle process ends
ONE_THREAD = dict.fromkeys([f"{each}_NUM_THREADS" for each in ("OMP", "OPENBLAS", "MKL", "NUMBA")], "1")
ONE_THREAD["VECLIB_MAXIMUM_THREADS"] = "1"
_workers: dict[int, Any] = {}


def submit(number: int, work: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in worker process `number`, which is started if need be; return the future result."""
    try:
        return _worker(number).submit(work, *arguments)
    except ended():
        end_worker(number)
        return _worker(number).submit(work, *arguments)


def ended() -> tuple[type[Exception], ...]:
    """Return the errors of a process that was killed, or that another search of this program ended."""
    from loky.process_executor import ShutdownExecutorError

    return BrokenExecutor, ShutdownExecutorError


def end_worker(number: int) -> None:
    """Kill a worker process, whatever it works on."""
    if number in _workers:
        _workers.pop(number).shutdown(wait=True, kill_workers=True)


def _worker(number: int) -> Any:
    """Return an executor of one process."""
    from loky import ProcessPoolExecutor

    if number not in _workers:
        _workers[number] = ProcessPoolExecutor(
            1, timeout=IDLE_SECONDS, env=ONE_THREAD, initializer=end_with, initargs=(os.getpid(),)
        )
        atexit.register(end_worker, number)
    return _workers[number]
