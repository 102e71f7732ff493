"""Saved things as folders: readable files, a description with a format number, no pickle.

A folder is written in two steps. All files go into a temporary folder inside it; then they take their places, the
description last. So a folder that has its description is whole, whenever the program was stopped; and if it was stopped
in the second step, the next reader finishes it. The description has digests of all files and of itself.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edhie.errors import EdhieError, SymbolError
from edhie.files import PART, locked, remove_link, replace_file, small_text
from edhie.safe_text import as_text_cell

Arrays = Mapping[str, NDArray[Any]]
FILES, CHECKSUM = "files", "checksum"  # in a description: digests of the other files, and of the description
FAULTS = (
    EdhieError, ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError, RuntimeError, EOFError,
    zipfile.BadZipFile, SyntaxError, TokenError,
)  # fmt: skip
"""Errors that reading a damaged file raises."""


@dataclass(frozen=True)
class FolderFormat:
    """One kind of saved folder: its names, its format number and its errors."""

    kind: str
    """Name in messages and in the description, such as "model"."""
    version: int
    """Format number; folders with another one are refused."""
    description: str
    """Name of the JSON file whose presence makes a folder whole."""
    error: type[EdhieError]
    """Raised where a folder cannot be read."""
    remedy: str
    """Advice for a damaged folder, such as "delete it and train again"."""
    write_error: type[EdhieError] | None = None
    """Raised where a folder cannot be written; None for `error`."""

    def files(self, description: Mapping[str, Any], files: Mapping[str, str | bytes]) -> dict[str, bytes]:
        """Return the content of all files of a folder, the description last."""
        try:
            encoded = {name: each.encode() if isinstance(each, str) else each for name, each in files.items()}
            digests = {name: hashlib.sha256(content).hexdigest() for name, content in encoded.items()}
            head = {"kind": self.kind, "format": self.version, **description, FILES: digests}
            plain = json.loads(json.dumps(head, default=as_json))
            text = json.dumps({**plain, CHECKSUM: digest(json.dumps(plain))}, indent=2, ensure_ascii=False) + "\n"
            return {**encoded, self.description: text.encode()}
        except (TypeError, ValueError) as error:
            raise self.error(f"the {self.kind} cannot be written as text: {error}") from error

    def write(self, folder: Path, description: Mapping[str, Any], files: Mapping[str, str | bytes]) -> Path:
        """Write files and description into a folder; its earlier files stay until all new ones are complete."""
        contents, part = self.files(description, files), folder / PART
        try:
            remove_link(part)
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir(parents=True)
            try:
                for name, content in contents.items():
                    replace_file(part / name, content)  # a file with its name is complete
            except BaseException:
                shutil.rmtree(part, ignore_errors=True)
                raise
            (folder / self.description).unlink(missing_ok=True)
            self._take_places(folder)
        except OSError as error:
            raise self.unwritable(folder, error) from error
        return folder

    def _take_places(self, folder: Path) -> None:
        """Move complete files to their places, the description last; two processes may do it at once."""
        names = sorted(each.name for each in (folder / PART).iterdir())
        for name in sorted(names, key=lambda name: name == self.description):
            with suppress(FileNotFoundError):
                (folder / PART / name).replace(folder / name)
        shutil.rmtree(folder / PART, ignore_errors=True)

    def is_whole(self, folder: Path) -> bool:
        """Return whether a folder has its description; a write that was stopped after its first step is finished."""
        is_begun = _is(folder / PART / self.description, Path.is_file) and not _is(folder / PART, Path.is_symlink)
        if not _is(folder / self.description, Path.is_file) and is_begun:
            with suppress(OSError):
                self._take_places(folder)
        return _is(folder / self.description, Path.is_file)

    def read(self, folder: Path, *names: str, unchecked: Sequence[str] = ()) -> dict[str, Any]:
        """Return the description of a folder; raise unless these files are there and as they were written.

        Files that are `unchecked` have to be there. Folders of earlier releases have no digests.
        """
        path = folder / self.description
        if not _is(folder, Path.is_dir):
            raise self.error(f"there is no {self.kind} folder {folder}")
        self.is_whole(folder)
        self._check_has(folder, self.description)
        with self.reading(path):
            description = json.loads(small_text(path))
            version, kind = description["format"], description.get("kind", self.kind)  # earlier releases wrote no kind
        if (version, kind) != (self.version, self.kind):
            told = f"format {version!r}" if kind == self.kind else f"the kind {kind!r}"
            raise self.error(f"{path} has {told}; this edhie reads format {self.version} of a {self.kind}")
        self._check_has(folder, *names, *unchecked)
        with self.reading(path):
            checksum = description.pop(CHECKSUM, None)
            if checksum not in (None, digest(json.dumps(description))):
                raise ValueError("it was changed after it was written")
            digests = dict(description.pop(FILES, {}))
        for name in names:
            with self.reading(folder / name), (folder / name).open("rb") as file:
                is_same = digests.get(name) in (None, hashlib.file_digest(file, "sha256").hexdigest())
            if not is_same:
                raise self.damaged(folder, f"{name} is not what {self.description} describes")
        return dict(description)

    def _check_has(self, folder: Path, *names: str) -> None:
        for name in names:
            if not _is(folder / name, Path.is_file):
                raise self.error(f"{folder} is not a {self.kind}: it has no {name}")

    @contextmanager
    def reading(self, path: Path) -> Iterator[None]:
        """Raise errors inside the block as damage of `path`; a file without permission to read is not damaged."""
        from safetensors import SafetensorError

        try:
            yield
        except (SymbolError, OSError) as error:  # such as a user's operator that has to be passed
            raise self.error(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
        except (*FAULTS, SafetensorError) as error:
            raise self.damaged(path, error) from error

    def damaged(self, path: Path, fault: object) -> EdhieError:
        """Return the error for a file or folder that is not what was written."""
        fault = "it is nested too deeply" if isinstance(fault, RecursionError) else fault
        is_told = not isinstance(fault, Exception) or isinstance(fault, ValueError | EdhieError)
        reason = fault if is_told else repr(fault)  # KeyError('x') says more than 'x'
        return self.error(f"{path} is damaged: {reason}; {self.remedy}")

    def unwritable(self, folder: Path, error: OSError) -> EdhieError:
        """Return the error for a folder that cannot be written to."""
        made = self.write_error or self.error
        return made(f"cannot write the {self.kind} to {folder}: {error.strerror or error}")

    def in_use(self, folder: Path) -> AbstractContextManager[None]:
        """Lock a folder while a process works in it; see `files.locked`."""
        return locked(folder, unwritable=self.unwritable)


def _is(path: Path, what: Callable[[Path], bool]) -> bool:
    try:
        return what(path)
    except OSError:  # a name that is too long, or a place where one may not look
        return False


def pack(arrays: Arrays, notes: Mapping[str, str] | None = None) -> bytes:
    """Return arrays and notes as the content of a safetensors file."""
    from safetensors.numpy import save

    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    packed: bytes = save(contiguous, None if notes is None else dict(notes))
    return packed


def unpack(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """Return the arrays and the notes of a safetensors file."""
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118


def digest(*parts: NDArray[Any] | str) -> str:
    """Return the SHA-256 of arrays and texts, in hexadecimal."""
    state = hashlib.sha256()
    for part in parts:
        state.update(part.encode() if isinstance(part, str) else np.ascontiguousarray(part).tobytes())
    return state.hexdigest()


def csv_text(names: Sequence[str], rows: Iterable[Sequence[Any]], *, for_people: bool = False) -> str:
    """Return a table as CSV; `for_people` keeps a spreadsheet from taking texts for formulas."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(
        ([as_text_cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
        if for_people
        else rows
    )
    return text.getvalue()


def as_json(value: Any) -> Any:
    """Convert NumPy's numbers for `json.dumps`."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} has no place in JSON")
