"""The folder of a search: whether one may begin there, and what it is gone on from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from edhie.errors import SearchError
from edhie.search.checkpoint import DESCRIPTION

BEST = "best.txt"


def check_folder(folder: Path, *, resume: bool) -> None:
    """Raise where a new search would write among something else."""
    if folder.exists() and not folder.is_dir():
        raise SearchError(f"{folder} is a file; choose a folder")
    if resume or not folder.exists():
        return
    if (folder / DESCRIPTION).exists():
        raise SearchError(f"{folder} holds a search already; go on with it (--resume), or choose another folder")
    try:
        is_empty = next(folder.iterdir(), None) is None
    except OSError as error:
        raise SearchError(f"cannot look into {folder}: {error.strerror or error}") from error
    if not is_empty:
        raise SearchError(f"{folder} is not empty; choose another folder, or one that is not there yet")


def write_best(folder: Path, equation: str) -> None:
    """The selected equation, with all digits."""
    _written(lambda: (folder / BEST).write_text(f"{equation}\n", encoding="utf-8"), folder)


def _written(change: Callable[[], object], folder: Path) -> None:
    try:
        change()
    except OSError as error:
        raise SearchError(f"cannot keep the search in {folder}: {error.strerror or error}") from error
