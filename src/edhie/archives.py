"""Checks of untrusted compressed files before they are unpacked: a small file must not exhaust the memory."""

from __future__ import annotations

import gzip
import math
import zipfile
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

CHECKED_FROM = 1 << 28  # bytes: a file that unpacks to less is harmless
MOST_TIMES = 100  # text files of measurements seldom compress to less than a tenth
CHUNK = 1 << 20
MOST_BYTES_A_CELL = 1 << 14


class Header(NamedTuple):
    """The header of an array in NumPy's format."""

    shape: tuple[int, ...]
    is_fortran: bool
    dtype: np.dtype[Any]

    @property
    def n_bytes(self) -> int:
        """Size of the numbers in bytes."""
        return math.prod(self.shape) * self.dtype.itemsize


def array_header(file: BinaryIO) -> Header:
    """Read the header of an array, up to its first number; refuse arrays of Python objects."""
    is_first = np.lib.format.read_magic(file) == (1, 0)
    read = np.lib.format.read_array_header_1_0 if is_first else np.lib.format.read_array_header_2_0
    header = Header(*read(file))
    if header.dtype.hasobject:
        raise ValueError("it holds Python objects and no numbers")
    kinds = [header.dtype] if header.dtype.names is None else [header.dtype[name] for name in header.dtype.names]
    largest = max((kind.itemsize for kind in kinds), default=0)
    if largest > MOST_BYTES_A_CELL:
        raise ValueError(f"each of its cells has {largest:,} bytes, too many for a number")
    if min(header.shape, default=0) < 0:
        raise ValueError(f"its shape is {header.shape}")
    return header


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file that `np.savez` wrote; raise a ValueError if it declares more than it holds."""
    with path.open("rb") as file, zipfile.ZipFile(file) as archive:
        entries = archive.infolist()
        is_packed = any(each.compress_type != zipfile.ZIP_STORED for each in entries)
        if is_packed or sum(each.file_size for each in entries) > path.stat().st_size:
            raise ValueError("it would unpack to more than it holds")
        for entry in entries:
            with archive.open(entry) as member:
                header = array_header(cast(BinaryIO, member))
                if header.n_bytes > entry.file_size:
                    raise ValueError(f"{entry.filename} declares the shape {header.shape} but is shorter")
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        return dict(arrays)


def check_zip(file: BinaryIO) -> None:
    """Raise a ValueError if a zip archive would unpack to over 256 MiB and over a hundred times its size."""
    packed = file.seek(0, 2)
    file.seek(0)
    with zipfile.ZipFile(file) as archive:
        _check_times(sum(each.file_size for each in archive.infolist()), packed)
    file.seek(0)


def check_gzip(file: BinaryIO) -> None:
    """Raise a ValueError if a gzip file unpacks to over 256 MiB and over a hundred times its size."""
    packed = file.seek(0, 2)
    file.seek(0)
    if packed * 1032 < CHECKED_FROM:  # deflate compresses by a factor of 1032 at most
        return
    unpacked, enough = 0, max(CHECKED_FROM, MOST_TIMES * packed)
    with gzip.open(file) as content:
        while unpacked <= enough and (chunk := content.read(CHUNK)):
            unpacked += len(chunk)
    _check_times(unpacked, packed)


def _check_times(unpacked: int, packed: int) -> None:
    if unpacked > max(CHECKED_FROM, MOST_TIMES * packed):
        times = f"{MOST_TIMES} times its size, unusual for measurements"
        raise ValueError(f"it unpacks to more than {times}; if you trust it, unpack it first")
