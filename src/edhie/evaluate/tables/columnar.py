"""Parquet and NumPy files, which are read in batches of rows, so that they may be larger than the memory."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from tokenize import TokenError
from typing import TYPE_CHECKING, Any, BinaryIO, cast
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.typing import NDArray

from edhie.archives import MOST_BYTES_A_CELL, array_header
from edhie.errors import DataError, raised_as
from edhie.evaluate.tables.frames import Frames, FrameTable
from edhie.evaluate.tables.table import Source, checked_names
from edhie.expr.library import variable_names

if TYPE_CHECKING:
    from pandas import DataFrame

BATCH = 1 << 15  # rows at a time: few megabytes, and the time to begin a batch does not matter
BUFFER = 1 << 20  # bytes of a column of Parquet that are read at once; a whole row group may be larger than the memory
MOST_TEXT = 1 << 28  # bytes of a column of text in a batch
NAMES = ".names.txt"
"""The ending of the file of names beside an array."""
FAULTS = (
    ValueError, TypeError, KeyError, OSError, EOFError, MemoryError, BadZipFile, zlib.error, NotImplementedError,
    SyntaxError, TokenError, RecursionError,
)  # fmt: skip
"""Errors of damaged files; pyarrow's own are ValueErrors and OSErrors. A header may lie about sizes."""


def parquet_table(source: Source, missing: Sequence[float | str]) -> FrameTable:
    """Open a Parquet file."""
    try:
        from pyarrow import OSFile
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        needs = "reading Parquet needs pyarrow; install it with: pip install pyarrow"
        raise DataError(f"{source.path}: {needs}, or save the table as CSV") from error

    texts: dict[str, Any] = {}  # the types of columns of text

    def opened() -> Any:
        file = OSFile(str(source.path)) if source.is_plain_file else source.open()
        # pre-buffering would keep the buffers of all row groups; with a dictionary, a repeated text is read once
        return ParquetFile(file, buffer_size=BUFFER, pre_buffer=False, read_dictionary=list(texts))

    with _reading(source, "Parquet"), opened() as file:
        texts.update(_texts(file.schema_arrow))
        kept = (file.schema_arrow.pandas_metadata or {}).get("index_columns", [])
        in_file = [name for name in file.schema_arrow.names if name not in kept]  # the index of pandas is no column
        n_rows = int(file.metadata.num_rows)
    names = checked_names(source.path, in_file)
    own = dict(zip(names, in_file, strict=True))

    def batches(chosen: Sequence[str], read: Callable[[Any], Any]) -> Iterator[Any]:
        columns = [own[name] for name in chosen]
        with _reading(source, "Parquet"), opened() as file:
            for batch in file.iter_batches(BATCH, columns=columns):
                yield read(_unpacked(batch.select(columns), texts))

    def frames(chosen: Sequence[str]) -> Iterator[DataFrame]:
        return batches(chosen, lambda batch: batch.to_pandas().set_axis(list(chosen), axis=1))

    def arrow() -> Iterator[Any]:
        return batches(names, lambda batch: batch.rename_columns(list(names)))

    return FrameTable(source, names, frames, missing, n_rows=n_rows, arrow=arrow)


def _texts(schema: Any) -> dict[str, Any]:
    """Return the types of the columns of text; raise a ValueError for cells that are too large."""
    from pyarrow import types

    for field in schema:
        if types.is_fixed_size_binary(field.type) and field.type.byte_width > MOST_BYTES_A_CELL:
            raise ValueError(f"each cell of {field.name!r} has {field.type.byte_width:,} bytes")
    kinds = (types.is_string, types.is_binary, types.is_large_string, types.is_large_binary)
    return {field.name: field.type for field in schema if any(is_kind(field.type) for is_kind in kinds)}


def _unpacked(batch: Any, texts: Mapping[str, Any]) -> Any:
    """Return a batch with its dictionary columns as plain text; raise a ValueError if that is too large."""
    from pyarrow import compute

    for place, name in enumerate(batch.schema.names):
        column = batch.column(place)
        if name not in texts or column.type == texts[name]:
            continue
        size = compute.sum(compute.take(compute.binary_length(column.dictionary), column.indices)).as_py() or 0
        if size > MOST_TEXT:
            raise ValueError(f"{len(batch):,} cells of {name!r} have {size:,} letters of text; leave the column out")
        batch = batch.set_column(place, name, column.cast(texts[name]))
    return batch


def npy_table(source: Source, missing: Sequence[float | str]) -> FrameTable:
    """Open an array of rows × columns; its names are its own, those in a file beside it, or x0, x1 and so on."""
    import pandas

    what = "an array of NumPy"
    with _reading(source, what):
        array = _array(source)
    if array.ndim != 2 and array.dtype.names is None:
        shape = f"has {array.ndim} dimensions, shape {array.shape}"
        raise DataError(f"{source.path} {shape}; give an array of rows × columns")
    n_rows, names = len(array), checked_names(source.path, _names(source, array))
    held = None if source.is_plain_file else array

    def frames(chosen: Sequence[str]) -> Iterator[DataFrame]:
        for start in range(0, n_rows, BATCH):
            with _reading(source, what):
                # mapped again for each batch, which releases the memory of the last one
                part = (_array(source) if held is None else held)[start : start + BATCH]
                by_name = part.dtype.names is not None
                cells = {name: np.array(part[name] if by_name else part[:, names.index(name)]) for name in chosen}
            yield pandas.DataFrame(cells, index=range(len(part)))

    return FrameTable(source, names, frames, missing, n_rows=n_rows, arrow=partial(_arrow, frames, names))


def npz_table(source: Source, missing: Sequence[float | str]) -> FrameTable:
    """Open an archive of arrays, one for each column."""
    import pandas

    what = "an archive of NumPy"
    with _reading(source, what), source.open() as file, ZipFile(file) as archive:
        in_file = [name.removesuffix(".npy") for name in archive.namelist()]
        shapes = [array_header(cast(BinaryIO, archive.open(f"{name}.npy"))).shape for name in in_file]
    names = checked_names(source.path, in_file)
    lengths = dict(zip(names, shapes, strict=True))
    first, length = next(iter(lengths.items()))
    for name, shape in lengths.items():
        if len(shape) != 1:
            raise DataError(f"{source.path}: {name!r} has shape {shape}; give one array of one dimension for a column")
        if shape != length:
            both = f"{first!r} has {length[0]} rows and {name!r} has {shape[0]}"
            raise DataError(f"{source.path}: {both}; columns must be equally long")
    own = dict(zip(names, in_file, strict=True))

    def frames(chosen: Sequence[str]) -> Iterator[DataFrame]:
        with _reading(source, what), ExitStack() as stack:
            archive = stack.enter_context(ZipFile(stack.enter_context(source.open())))
            files = {name: cast(BinaryIO, stack.enter_context(archive.open(f"{own[name]}.npy"))) for name in chosen}
            dtypes = {name: array_header(file).dtype for name, file in files.items()}
            for start in range(0, length[0], BATCH):
                n = min(BATCH, length[0] - start)
                parts = {name: file.read(n * dtypes[name].itemsize) for name, file in files.items()}
                if any(len(part) < n * dtypes[name].itemsize for name, part in parts.items()):
                    raise EOFError("it ends too early")
                cells = {name: np.frombuffer(part, dtypes[name]) for name, part in parts.items()}
                yield pandas.DataFrame(cells, index=range(n))

    return FrameTable(source, names, frames, missing, n_rows=length[0], arrow=partial(_arrow, frames, names))


def _arrow(frames: Frames, names: Sequence[str]) -> Iterator[Any]:
    """Yield DataFrames of numbers as batches of Arrow."""
    from pyarrow import RecordBatch

    for frame in frames(names):
        yield RecordBatch.from_pandas(frame, preserve_index=False)


def _array(source: Source) -> NDArray[Any]:
    """Return the array of a file, mapped where that is possible; pickled objects are refused."""
    with source.open() as file:
        header = array_header(file)
        held = source.path.stat().st_size - file.tell() if source.is_plain_file else len(file.read())
    if header.n_bytes > held:  # NumPy does not notice this if the product overflows
        raise EOFError(f"it declares the shape {header.shape} but ends too early")
    if source.is_plain_file:
        return cast(NDArray[Any], np.load(source.path, mmap_mode="r", allow_pickle=False))
    with source.open() as file:
        return cast(NDArray[Any], np.load(file, allow_pickle=False))


def _names(source: Source, array: NDArray[Any]) -> Sequence[str]:
    if array.dtype.names is not None:
        return array.dtype.names
    beside = source.path.with_name(source.path.name.removesuffix(".gz").removesuffix(".npy") + NAMES)
    if not beside.is_file():
        return variable_names(array.shape[1])
    names = [line for line in beside.read_text(encoding="utf-8").splitlines() if line.strip()]
    if len(names) != array.shape[1]:
        counts = f"has {array.shape[1]} columns and {beside} {len(names)} names"
        raise DataError(f"{source.path} {counts}; write one name per line")
    return names


def _reading(source: Source, what: str) -> AbstractContextManager[None]:
    return raised_as(DataError, f"{source.path} cannot be read as {what}", FAULTS)
