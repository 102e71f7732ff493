"""A process that runs tasks: JSON lines in and out, one thread, and nothing of it outlives the one that started it.

Lines need no pickling and no guard in the caller's script.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from dataclasses import asdict
from typing import Any

from edhie.bench.task import READY, WORKER

LOOK_EVERY = 1.0  # seconds between looks whether the parent is still there


def main() -> None:
    """Answer tasks until the input ends."""
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
    """The outcome of a task, or the error that ended it."""
    from edhie.bench.execution import execute
    from edhie.bench.task import Task
    from edhie.errors import EdhieError

    try:
        return asdict(execute(Task.from_json(message)))
    except EdhieError as error:
        return {"error": str(error)}
    except MemoryError:
        return {"error": "there is too little memory for it"}
    except Exception as error:  # a fault of ours: the other runs go on, and this one is told
        return {"error": f"an unexpected {type(error).__name__}: {error}"}


def _end_with_parent(parent: int) -> None:
    """A search may be long: end it as soon as nobody waits for its answer."""
    while os.getppid() == parent:
        time.sleep(LOOK_EVERY)
    os._exit(1)


if __name__ == "__main__":
    main()
