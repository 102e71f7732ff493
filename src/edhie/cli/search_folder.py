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
    """A listener that has a search which its evaluations ended go on from the end of a whole step.

    Such a search ends in the middle of a step. Going on from there would leave out the rest of the step, and
    end otherwise than a search that had never stopped. So an earlier checkpoint is put back, or none: what was
    done since, 20 seconds or a little more, is done again.
    """

    def __init__(self, folder: Path, evaluations: int | None) -> None:
        self._folder = folder
        self._evaluations = evaluations
        self._checkpoint, self._whole = folder / ARRAYS, folder / WHOLE
        self._seen: tuple[int, int] | None = None
        if self._whole.exists():  # it was killed before it could be put back
            self._do(self._restore)

    def __call__(self, event: Event) -> None:
        """Set the checkpoint aside while the budget lasts: until then every step was whole."""
        if self._evaluations is None or isinstance(event, Finished) or event.executed >= self._evaluations:
            return
        if self._checkpoint.exists():
            self._do(self._set_aside)

    def _set_aside(self) -> None:
        found = self._checkpoint.stat()
        if self._seen == (found.st_ino, found.st_mtime_ns):
            return
        self._whole.unlink(missing_ok=True)
        try:
            self._whole.hardlink_to(self._checkpoint)  # which is replaced, never written to
        except OSError:  # not every disk has links
            shutil.copyfile(self._checkpoint, self._whole)
        self._seen = found.st_ino, found.st_mtime_ns

    def put_back(self, stopped: str) -> None:
        """Leave the checkpoint that a search is to go on from, and no other."""
        if stopped != "evaluations":
            self._do(lambda: self._whole.unlink(missing_ok=True))
        elif self._whole.exists():
            self._do(self._restore)
        else:
            self._do(lambda: self._checkpoint.unlink(missing_ok=True))

    def _restore(self) -> None:
        self._whole.replace(self._checkpoint)
        self._whole.unlink(missing_ok=True)  # it is still there where both are links to one file

    def _do(self, change: Callable[[], object]) -> None:
        _written(change, self._folder)


def write_best(folder: Path, equation: str) -> None:
    """The selected equation, with all digits."""
    _written(lambda: (folder / BEST).write_text(f"{equation}\n", encoding="utf-8"), folder)


def _written(change: Callable[[], object], folder: Path) -> None:
    try:
        change()
    except OSError as error:
        raise SearchError(f"cannot keep the search in {folder}: {error.strerror or error}") from error
