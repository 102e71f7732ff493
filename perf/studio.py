"""The studio: until its page is there, from an event to the browser, and a search against the command line.

python perf/studio.py [--quick]

Everything runs on two cores. A page is asked for by its whole address, from the start of the server's process on. An
event is late by the time between the moment that the search writes it and the arrival of its line at a reader of
server-sent events. A search has a budget of evaluations, so that it does the same work in the studio, with one reader
connected, and in the command line, `edhie fit --out`; rounds of both alternate, and the least time of each is compared,
since other processes only add to it. In the studio it lasts from the answer to the question until the reader is told of
the end. --quick has fewer rounds of smaller searches.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from report import Report, arguments

CORES = 2
STARTS = 7
ROUNDS, QUICK_ROUNDS = 9, 2
EVALUATIONS, QUICK_EVALUATIONS = 20_000, 3000
MOST_SECONDS, MOST_LATE, MOST_RATIO = 1.0, 200.0, 1.02
COLUMNS = ("a", "b", "d")


def main() -> None:
    """Measure starts, events and searches."""
    given = arguments(__doc__ or "")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:CORES]))
    report = Report("The studio, on two cores")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = write_table(folder)
        starts = [start_seconds(folder / f"start-{k}") for k in range(STARTS)]
        report.row("page after the start of the server, s", f"{statistics.median(starts):.2f}",
                   f"median of {STARTS}, worst {max(starts):.2f}; the goal is {MOST_SECONDS:g}")  # fmt: skip
        report.figure("page_seconds", statistics.median(starts))
        report.figure("page_seconds_worst", max(starts))
        rounds = QUICK_ROUNDS if given.quick else ROUNDS
        evaluations = QUICK_EVALUATIONS if given.quick else EVALUATIONS
        with server(folder / "studio") as client:
            in_studio(client, table, QUICK_EVALUATIONS)  # so that everything is compiled and imported once
            pairs, late = [], []
            for k in range(rounds):
                alone = alone_seconds(folder / f"alone-{k}", table, evaluations)
                seconds, late_now = in_studio(client, table, evaluations)
                pairs.append((alone, seconds))
                late += late_now
        tell(report, pairs, late, evaluations)
    report.close()


def tell(report: Report, pairs: list[tuple[float, float]], late: list[float], evaluations: int) -> None:
    """Report how late events were, and how long the searches took."""
    half, most = (1000 * float(np.quantile(late, share)) for share in (0.5, 0.95))
    report.row("event, from writing to the reader, ms", f"{half:.0f}",
               f"median of {len(late)}, 95 % within {most:.0f}; the goal is {MOST_LATE:g}")  # fmt: skip
    report.figure("event_ms", half)
    report.figure("event_ms_95", most)
    alone, seconds = (min(each) for each in zip(*pairs, strict=True))
    medians = [statistics.median(each) for each in zip(*pairs, strict=True)]
    report.row("search in the command line, s", f"{alone:.2f}",
               f"{evaluations:,} evaluations; least of {len(pairs)}, median {medians[0]:.2f}")  # fmt: skip
    report.row("search in the studio, s", f"{seconds:.2f}", f"with one reader; median {medians[1]:.2f}")
    report.row("ratio of the least", f"{seconds / alone:.3f}",
               f"of the medians {medians[1] / medians[0]:.3f}; the goal is {MOST_RATIO:g}")  # fmt: skip
    for name, value in (("alone_seconds", alone), ("studio_seconds", seconds), ("ratio", seconds / alone)):
        report.figure(name, value)
    report.figure("ratio_of_medians", medians[1] / medians[0])


def write_table(folder: Path) -> Path:
    """Return a table of a noisy law, which takes a search all of its evaluations."""
    rng = np.random.default_rng(1)
    rows = rng.uniform(0.5, 3.0, (200, len(COLUMNS)))
    y = rows[:, 0] * np.exp(-rows[:, 1]) + np.sin(rows[:, 2]) / rows[:, 0] + 0.05 * rng.standard_normal(200)
    path = folder / "noisy.csv"
    np.savetxt(path, np.column_stack([rows, y]), delimiter=",", header=",".join((*COLUMNS, "y")), comments="")
    return path


@contextmanager
def server(folder: Path) -> Iterator[httpx.Client]:
    """Serve a folder, and yield a client that has its page."""
    command = [sys.executable, "-m", "edhie", "studio", "--no-browser", "--port", "0", "--folder", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            line = "" if process.stdout is None else process.stdout.readline()
            (address,) = re.findall(r"http://\S+", line)
            base = address.partition("/?")[0]
            with httpx.Client(base_url=base, headers={"Origin": base}, timeout=60, follow_redirects=True) as client:
                client.get(address).raise_for_status()
                yield client
        finally:
            process.terminate()


def start_seconds(folder: Path) -> float:
    """Return the seconds from the start of a server's process to its page."""
    began = time.perf_counter()
    with server(folder):
        return time.perf_counter() - began


def alone_seconds(out: Path, table: Path, evaluations: int) -> float:
    """Return the seconds of a fit of the command line."""
    options = ["--target", "y", "--evaluations", str(evaluations), "--out", str(out), "--no-report"]
    began = time.perf_counter()
    with (out.parent / "output.txt").open("wb") as output:
        command = [sys.executable, "-m", "edhie", "fit", str(table), *options]
        subprocess.run(command, check=True, stderr=output, stdout=output)
    return time.perf_counter() - began


def in_studio(client: httpx.Client, table: Path, evaluations: int) -> tuple[float, list[float]]:
    """Return the seconds of the same search in the studio, and by how many each event was late."""
    upload = answer(client.post("/api/tables", content=table.read_bytes(), headers={"X-Name": table.name}))["id"]
    question = {"table": upload, "target": "y", "features": COLUMNS, "evaluations": evaluations}
    run = answer(client.post("/api/runs", json=question))["id"]
    began, late, kind = time.perf_counter(), list[float](), ""
    with client.stream("GET", f"/api/runs/{run}/events") as stream:
        for line in stream.iter_lines():
            name, _, value = line.partition(": ")
            kind = value if name == "event" else kind
            if name == "data" and kind == "progress":
                late.append(time.time() - json.loads(value)["time"])
            elif name == "data" and kind == "done":
                break
    seconds = time.perf_counter() - began
    if answer(client.get(f"/api/runs/{run}"))["state"] != "finished":
        raise SystemExit(f"the search of the studio did not finish: {client.get(f'/api/runs/{run}').text}")
    return seconds, late


def answer(response: httpx.Response) -> Any:
    """Return the JSON of an answer."""
    response.raise_for_status()
    return response.json()


if __name__ == "__main__":
    main()
