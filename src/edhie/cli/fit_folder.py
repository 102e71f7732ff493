"""The folder of a fit: whether one may begin there, and the pictures that go with the equations."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from edhie.console import error_console, say
from edhie.errors import SearchError
from edhie.fit import Discovery
from edhie.search.checkpoint import DESCRIPTION

FRONT, FIT, REPORT = "front.png", "fit.png", "report.html"


def check_folder(folder: Path, *, resume: bool) -> None:
    """Raise where a new search would write among something else, or nothing can be written."""
    if folder.exists() and not folder.is_dir():
        raise SearchError(f"{folder} is a file; choose a folder")
    there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    if not there.is_dir():
        raise SearchError(f"cannot keep the search in {folder}: {there} is a file; choose another folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise SearchError(f"cannot keep the search in {folder}: {there} is read-only; choose another folder")
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


def forget_pictures(folder: Path) -> None:
    """No picture is left of what was found before the search went on."""
    with suppress(OSError):
        for name in (FRONT, FIT, REPORT):
            (folder / name).unlink(missing_ok=True)


def draw(found: Discovery, folder: Path, *, command: str) -> None:
    """The front, the fit and the report; one that cannot be made is told, and no reason to lose the others."""
    from edhie.plots import plot_fit, plot_front, save
    from edhie.report import write_report

    _attempt(folder / FRONT, lambda path: save(plot_front(found), path))
    _attempt(folder / FIT, lambda path: save(plot_fit(found), path))
    _attempt(folder / REPORT, lambda path: write_report(found, path, command=command))


def _attempt(path: Path, make: Callable[[Path], object]) -> None:
    try:
        make(path)
    except Exception as error:  # whatever it is: the equations are kept already, and a picture is not worth more
        with suppress(OSError):  # half of one, where the disk is full
            path.unlink(missing_ok=True)
        say(f"warning: {path} is not there: {error or repr(error)}", to=error_console)
