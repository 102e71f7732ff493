"""The folder of a search: whether one may begin there, and what it is gone on from."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from edhie.errors import SearchError
from edhie.events import Event, Finished
from edhie.search.checkpoint import ARRAYS, DESCRIPTION

BEST = "best.txt"
WHOLE = "whole.npz"


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


class WholeSteps:
    """Has a search that its evaluations ended go on from the end of a whole step.

    Such a search ends in the middle of a step. Going on from there would leave out the rest of the step, and
    end otherwise than a search that had never stopped. So the checkpoint before is put back, or none: up to the
    20 seconds between two checkpoints are then done again.
    """

    def __init__(self, folder: Path) -> None:
        self._checkpoint, self._whole = folder / ARRAYS, folder / WHOLE
        if self._whole.exists():  # it was killed before it could be put back
            _do(lambda: self._whole.replace(self._checkpoint), folder)

    def __call__(self, event: Event) -> None:
        """Set the checkpoint aside before the last one is written over it."""
        if isinstance(event, Finished) and event.reason == "evaluations" and self._checkpoint.exists():
            _do(lambda: shutil.copyfile(self._checkpoint, self._whole), self._whole.parent)

    def put_back(self, stopped: str) -> None:
        """Leave the checkpoint that a search is to go on from."""
        if stopped != "evaluations":
            return
        if self._whole.exists():
            _do(lambda: self._whole.replace(self._checkpoint), self._whole.parent)
        else:
            _do(lambda: self._checkpoint.unlink(missing_ok=True), self._whole.parent)


def write_best(folder: Path, equation: str) -> None:
    """The selected equation, with all digits."""
    _do(lambda: (folder / BEST).write_text(f"{equation}\n", encoding="utf-8"), folder)


def _do(change: Callable[[], object], folder: Path) -> None:
    try:
        change()
    except OSError as error:
        raise SearchError(f"cannot keep the search in {folder}: {error.strerror or error}") from error
