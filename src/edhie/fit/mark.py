"""A mark that somebody is at work: one at a time holds it, and what a killed process left is recognised."""

from __future__ import annotations

import os
import socket
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

SILENT_SECONDS = 900.0  # without a sign of life: then it is a mark of somebody who is gone, on whatever machine


@dataclass(frozen=True)
class Mark:
    """A file that says who is at work; its time is that of the last sign of life."""

    path: Path

    def take(self) -> bool:
        """Whether it is ours now: nobody held it, or nobody who is still there."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self._is_left_behind():
                self.path.unlink(missing_ok=True)
            self.path.touch(exist_ok=False)
        except OSError:  # somebody else is at it, or there is no place for it
            return False
        return True

    def sign(self) -> None:
        """Say that it is this process which is at work, and that it is alive."""
        with suppress(OSError):
            self.path.write_text(f"{socket.gethostname()} {os.getpid()}\n", encoding="utf-8")

    def give_back(self) -> None:
        """Nobody is at work any more."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)

    def _is_left_behind(self) -> bool:
        try:
            host, _, pid = self.path.read_text(encoding="utf-8").strip().partition(" ")
            is_silent = time.time() - self.path.stat().st_mtime > SILENT_SECONDS
        except FileNotFoundError:
            return False
        except (OSError, ValueError):
            return True
        return is_silent or (host == socket.gethostname() and pid.isdecimal() and not _is_alive(int(pid)))


def _is_alive(pid: int) -> bool:
    if os.name != "posix":  # elsewhere a signal would end it: silence has to tell
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # somebody else's
        return True
    with suppress(OSError, IndexError):  # one that has ended is listed until its parent has noticed
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    return True
