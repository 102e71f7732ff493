"""What every script here prints: a table to read, then one line of JSON with the named figures."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from rich.console import Console
from rich.table import Table

Result = TypeVar("Result")


class Report:
    """Figures as they are measured; `close` prints them."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.rows: list[tuple[str, str, str]] = []
        self.figures: dict[str, float | None] = {}
        self.tables: list[Table] = []

    def row(self, what: str, figure: str, remark: str = "") -> None:
        """A line of the table."""
        self.rows.append((what, figure, remark))

    def figure(self, name: str, value: float | None) -> None:
        """A named figure of the JSON line; None for one that could not be taken."""
        self.figures[name] = None if value is None else float(f"{value:.4g}")

    def table(self, title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """A further table with columns of its own."""
        table = Table(*columns, title=title, title_justify="left")
        for row in rows:
            table.add_row(*row)
        self.tables.append(table)

    def close(self) -> None:
        """Print the tables and, as the last line, the JSON object."""
        table = Table("what", "figure", "remark", title=self.title, title_justify="left")
        for row in self.rows:
            table.add_row(*row)
        for each in (table, *self.tables):
            Console(width=110).print(each)
        print(json.dumps(self.figures))


def arguments(description: str) -> argparse.Namespace:
    """The command line that all scripts share."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="smaller sizes; ends within a minute")
    return parser.parse_args()


def hold_one_core() -> None:
    """Keep this process, and what it starts, to one core, so that rates compare."""
    for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def best_of(repeats: int, run: Callable[[], Result]) -> tuple[float, Result]:
    """The shortest of several runs in seconds, which noise disturbs least, and the last result."""
    shortest = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        result = run()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest, result
