"""A disk that is full, for tests."""

from __future__ import annotations

import errno
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


class Disk:
    """A disk that is full once it is said to be; what is there already stays."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_full_for: Callable[[Path], bool] = lambda path: False
        opened = Path.open

        def opening(path: Path, mode: str = "r", *arguments: Any, **options: Any) -> Any:
            if set(mode) & set("wax+") and self.is_full_for(path):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
            return opened(path, mode, *arguments, **options)

        monkeypatch.setattr(Path, "open", opening)


class SmallDisk:
    """A real disk of few bytes for a process, which is full while the test says so.

    It is a file system in memory that only the process and its children see; `under` is the command that runs it so.
    """

    WATCH = """
        mount -t tmpfs -o size=$1 none "$2" || exit 1
        server=$$
        (while kill -0 $server 2>/dev/null; do
            if [ -e "$3" ]; then cat /dev/zero >> "$2/.filling" 2>/dev/null; touch "$3.done"
            else rm -f "$2/.filling" "$3.done"; fi
            sleep 0.05
        done) > /dev/null &
        shift 3
        exec "$@"
    """

    def __init__(self, folder: Path, size: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._sign = str(folder), folder.with_suffix(".full")
        self.under = ["unshare", "--map-root-user", "--mount", "sh", "-c", self.WATCH, "sh", str(size), str(folder),
                      str(self._sign)]  # fmt: skip

    def fill(self) -> None:
        self._sign.touch()
        self._wait(is_full=True)

    def empty(self) -> None:
        self._sign.unlink()
        self._wait(is_full=False)

    def _wait(self, *, is_full: bool) -> None:
        ended = time.monotonic() + 20
        while self._sign.with_suffix(".full.done").exists() != is_full:
            assert time.monotonic() < ended
            time.sleep(0.02)

    @property
    def is_possible(self) -> bool:
        """True if this machine lets users mount file systems of their own."""
        try:
            mount = [*self.under[:3], "mount", "-t", "tmpfs", "none", self._folder]
            return subprocess.run(mount, capture_output=True, timeout=10).returncode == 0
        except OSError:
            return False
