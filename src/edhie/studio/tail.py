"""`Tail`: what the events of a search say, read as they are written.

A folder from a stranger may have a huge file of events: of that the end is read, and little at a time.
"""

from __future__ import annotations

import asyncio
import json
import math
from contextlib import suppress
from pathlib import Path
from typing import Any

PROGRESS = ("time", "seconds", "executed", "rate", "fraction", "seconds_left", "error")
CHUNK = 1 << 20  # bytes that are read at once
LITTLE = 1 << 18  # bytes that are read in no time
MOST = 1 << 26  # bytes of a file that are read: of more, the last ones
LONGEST_LINE = 1 << 22  # bytes


class Tail:
    """The state of a search by the file that `--events` writes; half a line is left for the next time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._forget()

    def _forget(self) -> None:
        self.place = 0
        """Bytes that were read."""
        self.look: dict[str, Any] | None = None
        """The first look."""
        self.progress: dict[str, Any] | None = None
        """The last progress, with the front."""
        self.finished: dict[str, Any] | None = None
        """The end of the search; None while it runs."""
        self.n_starts = 0
        """Number of times the search was started or resumed."""
        self._front: dict[str, Any] = {"front": [], "chosen": None}
        self._half = b""

    def read(self, most: float = LITTLE) -> bool:
        """Read what is new, at most so many bytes; return whether there is more."""
        with suppress(OSError):
            size = self._path.stat().st_size
            if size < self.place:  # it was written anew
                self._forget()
            if size == self.place:
                return False
            if size - self.place > MOST:
                self.place, self._half = size - MOST, b""
            end = int(min(size, self.place + most))
            with self._path.open("rb") as file:
                file.seek(self.place)
                while self.place < end and (content := file.read(min(CHUNK, end - self.place))):
                    self.place += len(content)
                    *lines, self._half = (self._half + content).split(b"\n")
                    for line in lines:
                        self._take(line)
                    if len(self._half) > LONGEST_LINE:
                        self._half = b"-"  # what follows of this line is no JSON
            return self.place < size
        return False

    async def catch_up(self) -> None:
        """Read all that is new; others are answered in between."""
        while self.read():
            await asyncio.sleep(0)

    def _take(self, line: bytes) -> None:
        try:
            event = json.loads(line, parse_constant=lambda _: None, parse_float=_finite)
            kind = event["event"]
        except (ValueError, KeyError, TypeError, RecursionError):  # half a line, such as after a full disk
            return
        if kind == "glimpsed":
            self.look = {name: event.get(name) for name in ("text", "expression", "mathml", "error")}
        elif kind == "started":
            self.n_starts += 1
            self.finished = None
        elif kind == "front":
            self._front = _front(event)
        elif kind == "progressed":
            numbers = {name: event.get(name) for name in PROGRESS}
            numbers = {name: value if isinstance(value, int | float) else None for name, value in numbers.items()}
            self.progress = numbers | self._front
        elif kind == "finished":
            self.finished = {name: event.get(name) for name in ("reason", "executed", "seconds")}

    @property
    def best(self) -> dict[str, Any] | None:
        """The expression that would be chosen now, or else the one with the lowest error."""
        front, chosen = self._front["front"], self._front["chosen"]
        return dict(front[-1 if chosen is None else chosen]) if front else None


def _finite(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


def _front(event: dict[str, Any]) -> dict[str, Any]:
    """Return what is right of the front of an event, which may be from a stranger, and the place of the chosen one."""
    front, chosen = event.get("front"), event.get("chosen")
    front = [each for each in front if isinstance(each, dict)] if isinstance(front, list) else []
    is_place = isinstance(chosen, int) and 0 <= chosen < len(front)
    return {"front": front, "chosen": chosen if is_place else None}
