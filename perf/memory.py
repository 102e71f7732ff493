"""Memory and time of a fit to a table that is larger than what is held in memory: 10⁷ rows × 20 columns, 1.6 GB.

python perf/memory.py [--quick]

Files of Parquet and NumPy are made in a temporary folder, and `edhie fit` searches each for ten seconds in a process of
its own. The peak is that of the resident set of this process, as the kernel counts it (ru_maxrss); a NumPy file is
mapped anew for each batch, so that pages of earlier batches do not count. The smaller table has as many rows as a
sample. --quick: 10⁶ rows.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from report import Report, arguments, hold_one_core

ROWS, QUICK_ROWS, SMALL_ROWS = 10_000_000, 1_000_000, 40_000
COLUMNS, CHUNK, SECONDS = 20, 250_000, 10
SAMPLE = 40_000  # rows searched and held out
SAMPLES = (2_000, 20_000, 200_000)  # rows searched, whose speed is compared
EVALUATIONS = 3_000
NAMES = [*(f"x{k}" for k in range(COLUMNS - 1)), "y"]


def chunks(rows: int) -> Iterator[np.ndarray]:
    """Yield parts of a table: 19 variables, of which a law uses three, and a target with noise of 5 %."""
    rng = np.random.default_rng(0)
    for start in range(0, rows, CHUNK):
        table = rng.uniform(0.5, 3.0, (min(CHUNK, rows - start), COLUMNS))
        law = 2.37 * table[:, 0] ** 2 / table[:, 1] + 0.71 * table[:, 2]
        table[:, -1] = law + 0.25 * rng.standard_normal(len(table))
        yield table


def write_parquet(path: Path, rows: int) -> None:
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    with ParquetWriter(str(path), pyarrow.schema([(name, pyarrow.float64()) for name in NAMES])) as writer:
        for table in chunks(rows):
            writer.write_table(pyarrow.table(dict(zip(NAMES, table.T, strict=True))))


def write_npy(path: Path, rows: int) -> None:
    header = {"descr": "<f8", "fortran_order": False, "shape": (rows, COLUMNS)}
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        for table in chunks(rows):
            file.write(table.tobytes())
    path.with_suffix(".names.txt").write_text("\n".join(NAMES) + "\n")


class Measured(NamedTuple):
    """One run of `edhie fit`."""

    peak_mb: float
    seconds: float
    found: dict[str, Any]
    told: str

    def told_seconds(self, pattern: str) -> float:
        """Return the seconds that a line on standard error has; 0 if there is no such line."""
        match = re.search(pattern + r" (\d+\.\d) s", self.told)
        return float(match[1]) if match else 0.0


def fit(path: Path, *options: object) -> Measured:
    """Run `edhie fit` in a process of its own, and take its peak memory from the kernel."""
    command = [sys.executable, "-m", "edhie", "fit", path, "--target", "y", "--json", *options]
    began = time.perf_counter()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen([str(each) for each in command], stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        for file in (out, err):
            file.seek(0)
        told = " ".join(err.read().split())
        if process.returncode:
            raise SystemExit(told)
        return Measured(usage.ru_maxrss / 1000, time.perf_counter() - began, json.load(out), told)


def measure(report: Report, name: str, path: Path, rows: int) -> None:
    """Fit a file, and add its figures; those of Parquet have no prefix."""
    ran, sample_mb = fit(path, "--max-time", SECONDS), min(SAMPLE, rows) * COLUMNS * 8 / 1e6
    prefix = "" if name == "Parquet" else f"{name.lower()}_"
    figures = {
        "rows": rows,
        "file_mb": path.stat().st_size / 1e6,
        "peak_rss_mb": ran.peak_mb,
        "sample_mb": sample_mb,
        "beyond_sample_mb": ran.peak_mb - sample_mb,
        "seconds_read": ran.told_seconds("it was taken in"),
        "seconds_search": float(ran.found["seconds"]),
        "seconds_exact_pass": ran.told_seconds(r"passes over the table,"),
        "seconds": ran.seconds,
    }
    for each, value in figures.items():
        report.figure(f"{prefix}{each}", value)
    passes = re.search(r"fitted in (\d+) passes", ran.told)
    equations = re.search(r"fitting (\d+) equations", ran.told)
    best = ran.found["selected"]
    known = f"{equations[1]} equations in {passes[1]} passes" if passes and equations else "all rows in memory"
    report.row(f"{name}, {rows:,} rows", f"{ran.peak_mb:,.0f} MB", f"{figures['file_mb']:,.0f} MB in the file")
    times = f"search {figures['seconds_search']:.1f} s, exact {figures['seconds_exact_pass']:.1f} s ({known})"
    report.row("… seconds", f"{ran.seconds:.1f} s", f"sample {figures['seconds_read']:.1f} s, {times}")
    report.row("… equation", f"{best['r2']:.6f}", best["expression"])


def measure_samples(report: Report, folder: Path) -> None:
    """Compare samples of several sizes: the speed of the search, and the time of everything after it."""
    path = folder / "samples.parquet"
    write_parquet(path, QUICK_ROWS)
    rows = []
    for sample in SAMPLES:
        ran = fit(path, "--sample", sample, "--evaluations", EVALUATIONS)
        seconds, executed = float(ran.found["seconds"]), ran.found["counts"]["executed"]
        best = ran.found["selected"]
        rows.append(
            [f"{sample:,}", f"{executed / seconds:,.0f}", f"{seconds:.1f}", f"{ran.seconds:.1f}", best["expression"]]
        )
        report.figure(f"evaluations_per_s_{sample}", executed / seconds)
    columns = ["rows searched", "expressions/s", "search in s", "all in s", "equation"]
    report.table(f"Samples of {QUICK_ROWS:,} rows, {EVALUATIONS:,} evaluations", columns, rows)


def main() -> None:
    rows = QUICK_ROWS if arguments(__doc__ or "").quick else ROWS
    report = Report("A fit to a large table, one core")
    hold_one_core()
    writers: dict[str, tuple[int, str, Callable[[Path, int], None]]] = {
        "Small": (SMALL_ROWS, "small.parquet", write_parquet),
        "Parquet": (rows, "large.parquet", write_parquet),
        "NumPy": (rows, "large.npy", write_npy),
    }
    with tempfile.TemporaryDirectory() as folder:
        first = Path(folder) / "first.parquet"
        write_parquet(first, 2_000)
        fit(first, "--sample", 500, "--evaluations", 500)  # compiles
        for name, (n_rows, file, write) in writers.items():
            path = Path(folder) / file
            write(path, n_rows)
            measure(report, name, path, n_rows)
            path.unlink()
        measure_samples(report, Path(folder))
    report.close()


if __name__ == "__main__":
    main()
