"""Files that are replaced as a whole, small files of text, and locks of folders: one process in each.

A lock ends with its process; a note beside it tells who holds it.
"""

from __future__ import annotations

import errno
import json
import os
import platform
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import IO

from edhie.errors import EdhieError, InUseError

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


# -- locks -----------------------------------------------------------------------------

LOCK, HOLDER = ".lock", ".process"
MOST_LETTERS = 10_000  # of the note about the process
WITHOUT_LOCKS = {errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP}  # file systems that have none
_HELD: set[tuple[Path, int, int]] = set()
"""Locks that are held, with the process and the thread that hold them."""


def _unwritable(folder: Path, error: OSError) -> EdhieError:
    return EdhieError(f"cannot write to {folder}: {error.strerror or error}; choose another folder")


@contextmanager
def locked(
    folder: Path, name: str = "", *, unwritable: Callable[[Path, OSError], EdhieError] = _unwritable
) -> Iterator[None]:
    """Lock a folder, or the part of it with this name, while a process works there; raise if another one does.

    The lock ends with the process, however that ends. Within the block it may be taken again. A folder that was made
    for the lock is removed if it is empty at the end. `unwritable` makes the error if nothing can be written there.
    """
    lock_file, holder_file = _files(folder, name)
    key = (lock_file.resolve(), os.getpid(), threading.get_ident())
    if key in _HELD:
        yield
        return
    from filelock import FileLock, Timeout

    lock, is_new = FileLock(lock_file), False
    try:
        if lock_file.is_symlink():  # in an untrusted folder: the file that it points to would be emptied
            lock_file.unlink()
        is_new = not folder.is_dir()
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout:
        holder = holder_of(folder, name) or "another process"
        raise InUseError(f"{folder / name} is in use by {holder}; wait for it, or choose another folder") from None
    except NotImplementedError:
        pass
    except OSError as error:
        if error.errno not in WITHOUT_LOCKS:
            raise unwritable(folder, error) from error
    _HELD.add(key)
    try:
        _note_holder(holder_file)
        yield
    finally:
        _HELD.discard(key)
        with suppress(OSError):
            holder_file.unlink(missing_ok=True)
            lock_file.unlink(missing_ok=True)  # while it is held: a process that opened it sees that it is gone
        lock.release()
        if is_new:
            with suppress(OSError):  # unless something is in it
                folder.rmdir()


def holder_of(folder: Path, name: str = "") -> str | None:
    """Return the process that works in a folder, or that was killed there, as text; None if it is not known."""
    try:
        with _files(folder, name)[1].open(encoding="utf-8") as file:
            note = json.loads(file.read(MOST_LETTERS))
        where = "" if note["host"] == platform.node() else f" on {note['host']}"
        return f"process {int(note['process'])}{where} (since {note['since']})"
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def is_in_use(folder: Path) -> bool:
    """Return whether a process works in a folder; one that was killed there may have left its note."""
    lock_file, holder_file = _files(folder, "")
    if not holder_file.is_file() or lock_file.is_symlink():
        return False
    from filelock import FileLock, Timeout

    try:
        with FileLock(lock_file).acquire(timeout=0):
            return False
    except Timeout:
        return True
    except (OSError, NotImplementedError):
        return False


def is_lock(path: Path) -> bool:
    """Return whether a file belongs to a lock; a process that was killed leaves them behind."""
    return path.name.startswith(".") and path.name.endswith((LOCK, HOLDER))


def _files(folder: Path, name: str) -> tuple[Path, Path]:
    """Return the file that is locked, and that of the note: some systems do not let a locked file be read."""
    prefix = f".{name}" if name else ""
    return folder / f"{prefix}{LOCK}", folder / f"{prefix}{HOLDER}"


def _note_holder(path: Path) -> None:
    since = datetime.now().isoformat(" ", "seconds")
    note = {"process": os.getpid(), "host": platform.node(), "since": since}
    with suppress(OSError):
        path.unlink(missing_ok=True)  # in an untrusted folder it may be a link to another file
        path.write_text(json.dumps(note), encoding="utf-8")
