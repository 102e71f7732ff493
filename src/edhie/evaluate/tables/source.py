"""`Source`: the bytes of a table, from a file, compressed or not, or from standard input."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path
from typing import BinaryIO, TextIO, cast

STANDARD_INPUT = "-"
GZIP = b"\x1f\x8b"


class Source:
    """The bytes of a table, which can be read several times; what comes from a pipe is held in memory."""

    def __init__(self, path: Path) -> None:
        is_input = str(path) == STANDARD_INPUT
        self.path = Path("standard input") if is_input else path
        """The file, as messages name it."""
        self.suffix = Path(path.name.lower().removesuffix(".gz")).suffix
        self._content: bytes | None = None
        if is_input:
            self._content = sys.stdin.buffer.read()
        elif path.exists() and not path.is_file() and not path.is_dir():  # a pipe is empty when it is read again
            self._content = path.read_bytes()
        with self._opened() as file:
            self._is_compressed = file.read(len(GZIP)) == GZIP

    def open(self) -> BinaryIO:
        """Open the bytes, uncompressed."""
        if not self._is_compressed:
            return self._opened()
        return cast(BinaryIO, gzip.open(self.path if self._content is None else io.BytesIO(self._content)))

    def open_text(self, encoding: str) -> TextIO:
        """Open the text, with its own line ends."""
        return io.TextIOWrapper(self.open(), encoding=encoding, newline="")

    def head(self, count: int) -> bytes:
        """Return the first bytes."""
        with self.open() as file:
            return file.read(count)

    def _opened(self) -> BinaryIO:
        return self.path.open("rb") if self._content is None else io.BytesIO(self._content)
