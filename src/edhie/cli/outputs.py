"""Files that commands write: existing files need --force, and files of a run, model or corpus are never replaced."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from edhie.errors import EdhieError

Force = Annotated[
    bool, typer.Option("--force", help="Replace the file if it exists; files of a run, model or corpus are kept.")
]


class Kind(NamedTuple):
    """A kind of folder that edhie writes."""

    what: str
    marks: frozenset[str]
    """Files that show that a folder is of this kind."""
    files: frozenset[str]
    """Names of the files that belong to it."""


# as text, since importing all modules that write them would make every command slower
KINDS = (
    Kind(
        "run",
        frozenset(("discovery.json", "run.json", "result.json")),
        frozenset(
            "discovery.json data.safetensors equations.csv best.txt run.json checkpoint.npz result.json symbols.json "
            "candidates.jsonl front.csv history.csv front.png fit.png report.html revisions.csv difference.png".split()
        ),
    ),
    Kind(
        "model",
        frozenset(("weights.safetensors", "training.safetensors")),
        frozenset(
            "config.json symbols.json weights.safetensors history.csv history.png README.md "
            "training.safetensors".split()
        ),
    ),
    Kind("corpus", frozenset(("corpus.json",)), frozenset(("corpus.json", "expressions.txt"))),
    Kind("regressor", frozenset(("estimator.json",)), frozenset(("estimator.json",))),
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
    """The kind of folder that the file belongs to, whether it is there yet or not; None for a file of the user."""
    whole = path.resolve()  # writing follows links too
    name = whole.name.casefold()  # some file systems do not distinguish Run.json from run.json
    for kind in KINDS:
        is_theirs = name in {each.casefold() for each in kind.files}
        if is_theirs and any((whole.parent / mark).is_file() for mark in kind.marks):
            return kind.what
    return None
