"""Files and folders that commands write: existing ones are not replaced without --force."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from edhie.errors import EdhieError, ExpressionError, raised_as
from edhie.files import is_lock, locked

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
    part: str = ""
    """The part of the folder that is locked; empty for all of it."""

    def is_in(self, folder: Path) -> bool:
        """Return whether a folder is of this kind."""
        return any((folder / mark).is_file() for mark in self.marks)


# as text, since importing all modules that write them would make every command slower
RUN = Kind(
    "run",
    ("discovery.json", "run.json", "result.json"),
    "discovery.json data.safetensors equations.csv best.txt run.json checkpoint.npz result.json symbols.json "
    "candidates.jsonl front.csv history.csv front.png fit.png report.html revisions.csv revision.json "
    "difference.png".split(),
)
MODEL = Kind(
    "model",
    ("weights.safetensors", "training.safetensors"),
    "config.json symbols.json weights.safetensors history.csv history.png README.md training.safetensors".split(),
)
CORPUS = Kind("corpus", ("corpus.json", ".unfinished/recipe.json"), ("corpus.json", "expressions.txt"))
STUDIO = "studio"  # the subfolder of a run in which `edhie studio` keeps what was asked
KINDS = (RUN, MODEL, CORPUS, Kind("regressor", ("estimator.json",), ("estimator.json",)))


def benchmark(table: str) -> Kind:
    """Return the kind of a folder of benchmark results, for one of its tables."""
    ends = (".json", ".png", "-curves.png")
    return Kind("benchmark", (f"{table}.csv",), [f"{table}{end}" for end in ends], part=table)


def check_output(path: Path | None, *, force: bool) -> None:
    """Raise an error if writing to `path` would destroy a file; call it before anything takes time.

    Devices and pipes, such as /dev/stdout, may be written to. None is no file.
    """
    if path is None:
        return
    whole = path.resolve()  # writing follows links too
    for kind in KINDS:
        names = {each.casefold() for each in kind.files}  # some file systems do not distinguish Run.json from run.json
        if whole.name.casefold() in names and kind.is_in(whole.parent):
            raise EdhieError(f"{path} belongs to the {kind.what} in {whole.parent}; choose another file")
    if path.is_file() and not force:
        raise EdhieError(f"{path} already exists; choose another file, or replace it with --force")


def check_figure(path: Path | None, *, force: bool) -> None:
    """Raise an error if drawing into `path` would destroy a file."""
    if path is not None and path.name:  # without one, drawing fails
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


@contextmanager
def own_folder(folder: Path | None, kind: Kind, *, force: bool | None = None) -> Iterator[None]:
    """Hold a folder for a command; raise if another process works in it, or if files would be destroyed.

    Folders of another kind are never written to. Files that the kind has, in a folder that is not of the kind, are
    replaced only by `force`, None where there is no such option. What a folder of the kind holds is for the command to
    judge. None is no folder.
    """
    if folder is None:
        yield
        return
    _check_writable(folder)
    with locked(folder, kind.part):
        other = next((each.what for each in KINDS if each.what != kind.what and each.is_in(folder)), None)
        if other is not None:
            raise EdhieError(f"{folder} holds a {other}; choose another folder")
        mine = next((name for name in kind.files if (folder / name).exists()), None)
        if mine is not None and not kind.is_in(folder) and not force:
            or_force = "" if force is None else ", or replace it with --force"
            raise EdhieError(f"{folder / mine} is not a file of a {kind.what}; choose another folder{or_force}")
        yield


def _check_writable(folder: Path) -> None:
    with raised_as(EdhieError, f"cannot write to {folder}"):  # such as a name that is too long
        there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    if there == folder and not folder.is_dir():
        raise EdhieError(f"{folder} is a file; choose a folder")
    if not there.is_dir():
        raise EdhieError(f"cannot write to {folder}: {there} is a file; choose another folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise EdhieError(f"cannot write to {folder}: {there} is read-only; choose another folder")


def check_new_run(folder: Path) -> None:
    """Raise an error if a new search would mix with other files of a folder."""
    if RUN.is_in(folder):
        raise EdhieError(f"{folder} holds a search already; resume it with --resume, or choose another folder")
    with raised_as(EdhieError, f"cannot look into {folder}"):
        is_empty = all(is_lock(path) or path.name == STUDIO for path in folder.iterdir())
    if not is_empty:
        raise EdhieError(f"{folder} is not empty; choose another folder, or one that is not there yet")
