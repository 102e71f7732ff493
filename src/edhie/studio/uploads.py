"""Tables that users bring: kept in a folder until a run takes them, limited in size, removed after a week."""

from __future__ import annotations

import json
import re
import secrets
import shutil
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from edhie.files import replace_file, small_text
from edhie.safe_text import printable
from edhie.studio.question import Refused
from edhie.studio.runs import writing

FOLDER, NOTE = ".tables", "upload.json"
WEEK = 7 * 24 * 3600
LONGEST_NAME = 200
MOST_PASSED_OVER = 1_000_000_000  # bytes
SUFFIXES = (
    ".csv", ".tsv", ".tab", ".txt", ".xlsx", ".xlsm", ".parquet", ".pq", ".jsonl", ".ndjson", ".npy", ".npz",
)  # fmt: skip
USUAL = ".csv"  # of files with another suffix: their first bytes tell what they are
ID = re.compile(r"t-[0-9a-f]{16}")


@dataclass(frozen=True)
class Limits:
    """The largest table that is taken."""

    bytes: int = 100_000_000
    rows: int = 1_000_000
    columns: int = 1000


@dataclass(frozen=True)
class Upload:
    """A table on disk."""

    id: str
    path: Path
    name: str


class Uploads:
    """The tables that no run has taken yet."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        self.folder, self.limits = folder / FOLDER, limits

    async def take(self, name: str, parts: AsyncIterator[bytes], *, declared: int = 0) -> Upload:
        """Write a table as it comes in; raise if it is too large, by the size that is declared or the bytes that come.

        The rest of a table that is refused is passed over: a browser reads no answer before it has sent everything.
        """
        try:
            with self._taken(name) as upload:
                self._check_size(declared)
                with upload.path.open("wb") as file:
                    async for part in parts:
                        file.write(part)
                        self._check_size(file.tell())
                    if file.tell() == 0:
                        raise Refused("the file is empty; choose one with a row of names and rows of numbers")
        except Refused:
            size = 0
            async for part in parts:
                size += len(part)
                if size > MOST_PASSED_OVER:
                    break
            raise
        return upload

    def _check_size(self, size: int) -> None:
        if size > self.limits.bytes:
            most = f"{self.limits.bytes / 1e6:,.0f} MB"
            raise Refused(f"the file is larger than {most}; save fewer rows or columns of it", 413)

    def copy(self, path: Path, name: str) -> Upload:
        """Take a table that lies on this machine: an example, or that of a run."""
        with self._taken(name) as upload:
            shutil.copyfile(path, upload.path)
        return upload

    def table(self, name: str) -> Upload:
        """Return a table by its id."""
        folder = self.folder / name
        if ID.fullmatch(name):
            with suppress(OSError, ValueError, KeyError, TypeError):
                note: dict[str, Any] = json.loads(small_text(folder / NOTE))
                return Upload(name, folder / f"table{note['suffix']}", str(note["name"]))
        raise Refused("this table is not there any more; bring it again", 404)

    def remove(self, upload: Upload) -> None:
        """Remove a table."""
        shutil.rmtree(upload.path.parent, ignore_errors=True)

    @contextmanager
    def _taken(self, name: str) -> Iterator[Upload]:
        """Make the folder of a table, which the block writes; remove it if that fails, or if a browser is gone."""
        self._remove_old()
        shown = printable(unquote(name).replace("\\", "/").rpartition("/")[2])[:LONGEST_NAME] or "table.csv"
        stem, packed = (shown[:-3], ".gz") if shown.lower().endswith(".gz") else (shown, "")
        own, suffix = f"t-{secrets.token_hex(8)}", next(filter(stem.lower().endswith, SUFFIXES), USUAL) + packed
        upload = Upload(own, self.folder / own / f"table{suffix}", shown)
        try:
            with writing():
                upload.path.parent.mkdir(parents=True)
                yield upload
                replace_file(upload.path.parent / NOTE, json.dumps({"name": shown, "suffix": suffix}).encode())
        except BaseException:
            self.remove(upload)
            raise

    def _remove_old(self) -> None:
        with suppress(OSError):
            for folder in self.folder.iterdir():
                if time.time() - folder.stat().st_mtime > WEEK:
                    shutil.rmtree(folder, ignore_errors=True)
