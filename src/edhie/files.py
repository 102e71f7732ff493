"""Files that are replaced as a whole, and small files of text."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

PART = ".part"
MOST_TEXT = 1 << 26  # bytes of a description


def remove_link(path: Path) -> None:
    """Remove a symbolic link, as in an untrusted folder: writing would change the file that it points to."""
    if path.is_symlink():
        path.unlink()


def replace_file(path: Path, content: bytes | Callable[[IO[bytes]], object]) -> None:
    """Write a file atomically; `content` may be a function that writes to an open file."""
    part = path.with_name(f"{path.name}{PART}")
    remove_link(part)
    try:
        with part.open("wb") as file:
            file.write(content) if isinstance(content, bytes) else content(file)
        part.replace(path)
    except BaseException:
        with suppress(OSError):  # half a file is of no use, and a full disk needs the room
            part.unlink(missing_ok=True)
        raise


def small_text(path: Path) -> str:
    """Return the text of a file such as a description; raise a ValueError if it is too large for one."""
    size = path.stat().st_size
    if size > MOST_TEXT:
        raise ValueError(f"it has {size:,} bytes, and such a file has at most {MOST_TEXT:,}")
    return path.read_text(encoding="utf-8")
