"""Numbers in files: codes of expressions, and weights; CSV tables, or NumPy's .npy."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edhie.errors import GeneratorError, shortened
from edhie.generators import Codes

NUMPY = ".npy"
CODE_COLUMN = re.compile(r"z\d+")
WEIGHT_COLUMN = "weight"


def write_codes(path: Path, texts: Sequence[str], mean: Codes, spread: Codes) -> None:
    """A row an expression: its text, its code (z0, z1, …) and its spread (s0, s1, …); .npy has the codes alone."""
    try:
        if path.suffix == NUMPY:
            np.save(path, mean)
            return
        names = [f"{letter}{i}" for letter in "zs" for i in range(mean.shape[1])]
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["expression", *names])
            # as text a 32-bit number is the shortest that reads back as the same
            rows = np.concatenate([mean, spread], axis=1).astype(str)
            writer.writerows([text, *row] for text, row in zip(texts, rows, strict=True))
    except OSError as error:
        raise GeneratorError(f"cannot write codes to {path}: {error.strerror or error}") from error


def read_codes(path: Path, latent: int) -> Codes:
    """The codes in a file: its columns z0, z1, …, or all of them where there are none of that name."""
    table = _read_npy(path) if path.suffix == NUMPY else _read_csv(path, CODE_COLUMN)
    if table.ndim != 2 or table.shape[1] != latent:
        width = f"{table.shape[1]} numbers" if table.ndim == 2 else f"the shape {table.shape}"
        raise GeneratorError(f"{path} holds codes of {width}; this model's have {latent}")
    return table.astype(np.float32)


def read_weights(path: Path) -> NDArray[np.float64]:
    """One number an expression: a line each, or the column `weight` of a CSV table."""
    table = _read_npy(path) if path.suffix == NUMPY else _read_csv(path, re.compile(WEIGHT_COLUMN))
    if table.ndim == 2 and table.shape[1] != 1:
        raise GeneratorError(f"{path} has {table.shape[1]} columns; name that of the weights {WEIGHT_COLUMN!r}")
    return table.ravel()


def _read_npy(path: Path) -> NDArray[np.float64]:
    try:
        return np.load(path, allow_pickle=False).astype(np.float64)  # type: ignore[no-any-return]
    except FileNotFoundError:
        raise GeneratorError(f"there is no file {path}") from None
    except (OSError, ValueError, EOFError, AttributeError, TypeError) as error:
        raise GeneratorError(f"{path} cannot be read as an array of numbers: {error}") from error


def _read_csv(path: Path, wanted: re.Pattern[str]) -> NDArray[np.float64]:
    """The columns of a CSV file whose names match; all, where none does or where no row names them."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            rows = [(reader.line_num, row) for row in reader if any(map(str.strip, row))]
    except FileNotFoundError:
        raise GeneratorError(f"there is no file {path}") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise GeneratorError(f"{path} cannot be read: {reason}") from error
    columns: list[int] | None = None
    if rows and not any(map(_is_number, rows[0][1])):
        columns = [i for i, name in enumerate(rows.pop(0)[1]) if wanted.fullmatch(name.strip())] or None
    if not rows:
        raise GeneratorError(f"{path} holds no numbers")
    width = len(rows[0][1])
    table = []
    for line, row in rows:
        if len(row) != width:
            raise GeneratorError(f"{path}, line {line} has {len(row)} columns, the first row {width}")
        cells = row if columns is None else [row[i] for i in columns if i < width]
        bad = next((cell for cell in cells if not _is_number(cell)), None)
        if bad is not None:
            raise GeneratorError(f"{path}, line {line}: {shortened(bad, 40)!r} is not a number")
        table.append([float(cell) for cell in cells])
    return np.array(table)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
