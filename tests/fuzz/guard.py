"""What reading an input must never do: run its text as code, start a program, open a socket, write a file elsewhere.

Python reports such acts to audit hooks. A hook cannot be removed, so it is told when it is on.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

FORBIDDEN = (
    "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.startfile", "os.putenv",
    "os.kill", "os.chmod", "os.chown", "os.link", "os.symlink", "pty.spawn", "subprocess.Popen", "socket.", "urllib.",
    "http.", "ftplib.", "smtplib.", "webbrowser.", "pickle.find_class", "marshal.", "ctypes.dlopen",
    "sys.addaudithook", "code.__new__",
)  # fmt: skip
WRITES = ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.truncate", "shutil.")
IMPORTING = "<frozen importlib._bootstrap>"
COMPILING = f"{os.sep}numba{os.sep}"


class Forbidden(BaseException):
    """Reading did what it must not do; no `except Exception` hides it."""


class Guard:
    """An audit hook for a process that reads malformed inputs; only files in `place` may be written."""

    def __init__(self, place: Path) -> None:
        self.place = str(place)
        self.packages = {name.partition(".")[0] for name in sys.modules}
        """Those that were imported before; others are not expected."""
        self.is_on = False
        self.broken: str | None = None
        sys.addaudithook(self._heard)

    @contextmanager
    def on(self) -> Iterator[None]:
        """Raise `Forbidden` for a forbidden act in the block, even where the error was caught."""
        self.broken, self.is_on = None, True
        try:
            yield
        finally:
            self.is_on = False
        if self.broken is not None:
            raise Forbidden(self.broken)

    def _heard(self, event: str, details: tuple[Any, ...]) -> None:
        if self.is_on and not self._is_allowed(event, details):
            self.is_on, self.broken = False, f"{event} {details!r:.200}"
            raise Forbidden(self.broken)

    def _is_allowed(self, event: str, details: tuple[Any, ...]) -> bool:
        if event == "open":
            return self._may_open(*details) or _is_trusted(sys._getframe(2))
        if event in ("compile", "exec"):
            return _is_trusted(sys._getframe(2))
        if event == "import":
            return str(details[0]).partition(".")[0] in sys.stdlib_module_names | self.packages
        if event.startswith(WRITES):
            paths = [each for each in details if isinstance(each, str | bytes | os.PathLike)]
            return all(map(self._is_inside, paths)) or _is_trusted(sys._getframe(2))
        return not event.startswith(FORBIDDEN) or _is_trusted(sys._getframe(2))

    def _may_open(self, path: Any, mode: str | None, flags: int) -> bool:
        writes = set(mode or "") & set("wax+") if mode else flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        return not writes or self._is_inside(path)

    def _is_inside(self, path: Any) -> bool:
        return isinstance(path, int) or os.fsdecode(path).startswith((self.place, "/dev/null"))


def _is_trusted(frame: FrameType | None) -> bool:
    """Return whether a module is imported, numba compiles, or a text is parsed by `ast`, which runs nothing."""
    while frame is not None:
        code = frame.f_code
        if code.co_filename == IMPORTING or COMPILING in code.co_filename:
            return True
        if code.co_name == "parse" and code.co_filename == ast.__file__:
            return True
        frame = frame.f_back
    return False
