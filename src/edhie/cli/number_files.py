"""Numbers in files: codes of expressions, and weights; tables, or NumPy's .npy."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edhie.errors import GeneratorError, raised_as, shortened
from edhie.evaluate.tables import open_table
from edhie.evaluate.tables.table import HeaderError
from edhie.generators import Codes
from edhie.safe_text import as_text_cell

NUMPY = ".npy"
CODE_COLUMN = re.compile(r"z(\d+)")
WEIGHT_COLUMN = re.compile("weight")


def write_codes(path: Path, texts: Sequence[str], mean: Codes, spread: Codes) -> None:
    """Write a row for each expression: text, code (z0, z1, …) and spread (s0, s1, …); .npy holds the codes alone."""
    with raised_as(GeneratorError, f"cannot write codes to {path}"):
        if path.suffix.lower() == NUMPY:
            with path.open("wb") as array:  # given a name, np.save would not take every spelling of the suffix
                np.save(array, mean)
            return
        names = [f"{letter}{i}" for letter in "zs" for i in range(mean.shape[1])]
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["expression", *names])
            # as text a 32-bit number is the shortest that reads back as the same
            rows = np.concatenate([mean, spread], axis=1).astype(str)
            writer.writerows([as_text_cell(text), *row] for text, row in zip(texts, rows, strict=True))


def read_codes(path: Path, latent: int) -> Codes:
    """Return the codes in a file: its columns z0, z1, …, or all columns if none has such a name."""
    table = _read(path, CODE_COLUMN)
    if table.ndim != 2 or table.shape[1] != latent:
        width = f"{table.shape[1]} numbers" if table.ndim == 2 else f"the shape {table.shape}"
        raise GeneratorError(f"{path} holds codes of {width}; this model's have {latent}")
    with np.errstate(over="ignore"):
        codes: Codes = table.astype(np.float32)
    far = np.flatnonzero(~np.isfinite(codes).all(axis=1))
    if len(far):
        raise GeneratorError(f"{path}, code {far[0] + 1} of {len(codes)}: codes must be finite numbers")
    return codes


def read_weights(path: Path) -> NDArray[np.float64]:
    """Return one number for each expression: one a line, or the column `weight` of a CSV table."""
    table = _read(path, WEIGHT_COLUMN)
    if table.ndim == 2 and table.shape[1] != 1:
        raise GeneratorError(f"{path} has {table.shape[1]} columns; name that of the weights {WEIGHT_COLUMN.pattern!r}")
    return table.ravel()


def _read(path: Path, wanted: re.Pattern[str]) -> NDArray[np.float64]:
    """Return an array, or the columns of a table whose names match, z0 before z1; all if no name matches."""
    if path.suffix.lower() == NUMPY:
        try:
            array = np.load(path, allow_pickle=False)
            if array.dtype.kind not in "biuf":
                raise TypeError(f"it holds {array.dtype}")
            return array.astype(np.float64)  # type: ignore[no-any-return]
        except FileNotFoundError:
            raise GeneratorError(f"there is no file {path}") from None
        except (OSError, ValueError, EOFError, AttributeError, TypeError) as error:
            raise GeneratorError(f"{path} cannot be read as an array of numbers: {error}") from error
    try:
        table = open_table(path)
    except HeaderError as error:
        if not error.is_missing:
            raise
        table = open_table(path, header="no")
    found = [(int(match[1]) if wanted.groups else 0, name) for name in table.names if (match := wanted.fullmatch(name))]
    if [number for number, _ in sorted(found)] != list(range(len(found))):
        listed = shortened(", ".join(name for _, name in found), 60)
        raise GeneratorError(f"{path} has the columns {listed}: one is missing or duplicated")
    numbers = table.numbers([name for _, name in sorted(found)] or table.names, with_gaps=True)
    if not len(numbers):
        raise GeneratorError(f"{path} holds no numbers")
    return numbers
