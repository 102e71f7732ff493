"""Rows of a CSV table, and jobs that each add one: shared by the experiments that run many small jobs.

A row is written as soon as its job is done. A command that was stopped runs only the jobs whose rows are missing.
"""

from __future__ import annotations

import csv
import io
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from edhie.files import replace_file
from edhie.processes import end_with

Row = dict[str, str]
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def one_thread() -> None:
    """Keep the libraries behind NumPy to one core, in child processes and where they are not loaded yet."""
    for name in THREADS:
        os.environ[name] = "1"


def read_rows(path: Path) -> list[Row]:
    """Return the rows of a table; none if there is no such file. A last line that was cut off is left out."""
    return list(csv.DictReader(io.StringIO(_whole_lines(path).decode("utf-8"))))


def write_rows(rows: Sequence[Row], path: Path, fields: Sequence[str]) -> None:
    """Write a table, replacing the file as a whole."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fields, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, text.getvalue().encode("utf-8"))


def append_row(row: Row, path: Path, fields: Sequence[str]) -> None:
    """Add one row at the end of a table, which is created if there is none; a line that was cut off is removed."""
    _check_columns(path, fields)
    if not _whole_lines(path):
        write_rows([row], path, fields)
        return
    if not path.read_bytes().endswith(b"\n"):
        os.truncate(path, len(_whole_lines(path)))
    with path.open("a", encoding="utf-8", newline="") as file:
        csv.DictWriter(file, fields, lineterminator="\n").writerow(row)


def _whole_lines(path: Path) -> bytes:
    table = path.read_bytes() if path.exists() else b""
    return table[: table.rfind(b"\n") + 1]


def _check_columns(path: Path, fields: Sequence[str]) -> None:
    header = next(csv.reader(io.StringIO(_whole_lines(path).decode("utf-8"))), list(fields))
    if header != list(fields):
        raise SystemExit(f"{path} has the columns {', '.join(header)}, not {', '.join(fields)}; use another --results")


def run_missing(
    run: Callable[[Row], Row | list[Row]],
    jobs: Iterable[Row],
    path: Path,
    fields: Sequence[str],
    *,
    workers: int,
    prepare: Callable[[], None] = one_thread,
) -> list[Row]:
    """Run the jobs that have no row in the table yet, each in a process of one thread, and return all rows.

    A job is a row's first columns, which tell it from the others; `run` returns the other columns, or those of
    several rows. `prepare` is called once in each process. If a job fails, the others go on, and the command ends after
    them; if a process is killed, the command ends, and if the command is killed, the processes end.
    """
    _check_columns(path, fields)
    jobs = list(jobs)
    key = tuple(jobs[0]) if jobs else ()
    done = {tuple(row[name] for name in key) for row in read_rows(path)}
    missing = [job for job in jobs if tuple(job.values()) not in done]
    if missing:
        one_thread()  # inherited by the processes: theirs load NumPy before `prepare` is called
        failed = 0
        begin = partial(_begin, os.getpid(), prepare)
        with ProcessPoolExecutor(
            min(workers, len(missing)), mp_context=get_context("spawn"), initializer=begin
        ) as pool:
            waiting = {pool.submit(run, job): job for job in missing}
            try:
                for number, each in enumerate(as_completed(waiting), 1):
                    job = waiting[each]
                    if isinstance(each.exception(), BrokenProcessPool):
                        raise SystemExit("a worker process was ended from outside; run the command again to resume")
                    if each.exception() is not None:
                        failed += 1
                        traceback.print_exception(each.exception())
                    else:
                        found = each.result()
                        for row in found if isinstance(found, list) else [found]:
                            append_row(job | row, path, fields)
                    print(f"{number} of {len(missing)}: {' '.join(job.values())}", file=sys.stderr, flush=True)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        if failed:  # a summary would be without them
            raise SystemExit(f"{failed} of {len(missing)} jobs failed; run the command again for these")
    return read_rows(path)


def _begin(parent: int, prepare: Callable[[], None]) -> None:
    """Make a worker process ready."""
    end_with(parent)
    prepare()
