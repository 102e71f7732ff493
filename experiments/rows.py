"""What the experiments that run many small jobs share: rows of a CSV table, and processes of one thread each."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from pathlib import Path


def one_thread() -> None:
    """For a process of a pool: the libraries behind NumPy keep to one core."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a table; none where it is not there yet."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_rows(rows: Sequence[dict[str, str]], path: Path, fields: Sequence[str]) -> None:
    """Write a table, over the one that is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fields, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
