"""Files and folders that commands write: existing ones are not replaced without --force."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from edhie.errors import EdhieError, ExpressionError, SearchError
from edhie.search.checkpoint import DESCRIPTION as RUN

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Force = Annotated[
    bool, typer.Option("--force", help="Replace the file if it exists; files of a run, model or corpus are kept.")
]


class Kind(NamedTuple):
    """A kind of folder that edhie writes."""

    what: str
    marks: Sequence[str]
    """Files that show that a folder is of this kind."""
    files: Sequence[str]
    """Names of the files that belong to it."""


# as text, since importing all modules that write them would make every command slower
KINDS = (
    Kind(
        "run",
        ("discovery.json", "run.json", "result.json"),
        "discovery.json data.safetensors equations.csv best.txt run.json checkpoint.npz result.json symbols.json "
        "candidates.jsonl front.csv history.csv front.png fit.png report.html revisions.csv difference.png".split(),
    ),
    Kind(
        "model",
        ("weights.safetensors", "training.safetensors"),
        "config.json symbols.json weights.safetensors history.csv history.png README.md training.safetensors".split(),
    ),
    Kind("corpus", ("corpus.json",), ("corpus.json", "expressions.txt")),
    Kind("regressor", ("estimator.json",), ("estimator.json",)),
)


def check_output(path: Path, *, force: bool) -> None:
    """Raise an error if writing to `path` would destroy a file; call it before anything takes time.

    Devices and pipes, such as /dev/stdout, may be written to.
    """
    owner = _owner(path)
    if owner is not None:
        raise EdhieError(f"{path} belongs to the {owner} in {path.resolve().parent}; choose another file")
    if path.is_file() and not force:
        raise EdhieError(f"{path} already exists; choose another file, or replace it with --force")


def _owner(path: Path) -> str | None:
    """Return the kind of folder that a file belongs to, whether it exists or not; None for a file of the user."""
    whole = path.resolve()  # writing follows links too
    name = whole.name.casefold()  # some file systems do not distinguish Run.json from run.json
    for kind in KINDS:
        is_theirs = name in {each.casefold() for each in kind.files}
        if is_theirs and any((whole.parent / mark).is_file() for mark in kind.marks):
            return kind.what
    return None


def check_figure(path: Path, *, force: bool) -> None:
    """Raise an error if drawing into `path` would destroy a file."""
    if path.name:  # without one, drawing fails
        check_output(_with_suffix(path), force=force)


def save_figure(figure: Figure, path: Path) -> Path:
    """Write a figure in the format of the file's suffix, PNG without one; return the path."""
    try:
        whole = _with_suffix(path)
        figure.savefig(whole)
    except (OSError, ValueError) as error:
        raise ExpressionError(f"cannot draw into {path}: {error}") from error
    return whole


def _with_suffix(path: Path) -> Path:
    return path if path.suffix else path.with_suffix(".png")


def check_folder(folder: Path, *, resume: bool) -> None:
    """Raise an error if a new search would mix with other files, or nothing can be written."""
    if folder.exists() and not folder.is_dir():
        raise SearchError(f"{folder} is a file; choose a folder")
    there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    if not there.is_dir():
        raise SearchError(f"cannot keep the search in {folder}: {there} is a file; choose another folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise SearchError(f"cannot keep the search in {folder}: {there} is read-only; choose another folder")
    if resume or not folder.exists():
        return
    if (folder / RUN).exists():
        raise SearchError(f"{folder} holds a search already; resume it with --resume, or choose another folder")
    try:
        is_empty = next(folder.iterdir(), None) is None
    except OSError as error:
        raise SearchError(f"cannot look into {folder}: {error.strerror or error}") from error
    if not is_empty:
        raise SearchError(f"{folder} is not empty; choose another folder, or one that is not there yet")
