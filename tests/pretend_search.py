"""A command that only pretends to search, in place of the real one: quick, and as long as a test needs it.

It takes the arguments of `edhie fit`, writes events, and ends when a file `end` lies in the run folder, or by SIGTERM.
A file `fail` makes it fail.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Any

LIMIT = 30.0  # seconds after which it ends in any case
FRONT = [{"expression": "2.5*x", "text": "2.5*x", "mathml": "<mi>x</mi>", "complexity": 3.0, "error": 0.5}]


def main() -> None:
    given = dict(each[2:].split("=", 1) for each in sys.argv if each.startswith("--") and "=" in each)
    out, events = Path(given["out"]), Path(given["events"])

    def write(kind: str, **told: Any) -> None:
        with events.open("a") as file:
            file.write(json.dumps({"event": kind, "time": time.time(), **told}) + "\n")

    def stop(number: int, frame: FrameType | None) -> None:
        write("finished", reason="interrupted", executed=count, seconds=count / 10)
        sys.exit(130)

    count = 0
    signal.signal(signal.SIGTERM, stop)
    write("started", strategy="pretend", seed=0)
    (out / "run.json").write_text(json.dumps(sys.argv[1:]))
    write("front", front=FRONT, chosen=0)
    began = time.monotonic()
    while time.monotonic() - began < LIMIT and not (out / "end").exists():
        if (out / "fail").exists():
            print("something\nerror: it went wrong: do it otherwise", file=sys.stderr)
            sys.exit(1)
        count += 1
        write("progressed", executed=count, seconds=count / 10, rate=10.0, fraction=0.5, seconds_left=9.0, error=0.5)
        time.sleep(0.02)
    write("finished", reason="seconds", executed=count, seconds=count / 10)


if __name__ == "__main__":
    main()
