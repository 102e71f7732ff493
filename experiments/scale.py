"""How many islands one client can serve: measured parts, and a simulation of workers that are slow, far or fail.

python experiments/scale.py

Measured, with the code that runs on a cluster: the bytes that an epoch of an island moves, the seconds for which an
epoch occupies its worker, and the seconds that the client needs for each island between two epochs. Simulated with
these figures: epochs of 10 to 10,000 islands, one worker each. A worker's epoch takes a random time around the measured
one (lognormal, 20 % of deviation, as evaluations differ in cost), plus latency and the transfer of its states; workers
die now and then, and their epoch starts again elsewhere after a delay. All islands wait for the last one, since they
exchange by the number of the epoch. The share of the workers' time that is used is printed, with what it is lost to.
"""

from __future__ import annotations

import argparse
import pickle
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from edhie.evaluate import Evaluator, read_data
from edhie.fit.generator import generator_and_library
from edhie.fit.settings import Settings
from edhie.search import Budget, run, strategy_named
from edhie.search.islands import Islands
from edhie.search.islands.engines import Here

RESULTS = Path(__file__).parent / "results" / "scale.md"
EVALUATIONS = 1_100_000  # of four islands: long enough for full epochs
ISLANDS = (10, 100, 1_000, 3_000, 10_000)
SPREAD = 0.2
LATENCY, BANDWIDTH = 0.05, 100e6  # seconds for a message, bytes a second at the client
FAILURES_AN_HOUR, RESTART = 0.1, 30.0  # of one worker; seconds until its epoch starts again
EPOCHS = 200


@dataclass
class Measured:
    """Figures of one epoch of one island, at its full length."""

    bytes_there: float
    bytes_back: float
    worker_seconds: float
    client_seconds: float


class Recording(Here):
    """Engine that runs epochs here, and records the bytes that they would move and their seconds."""

    def __init__(self) -> None:
        super().__init__()
        self.there: list[int] = []
        self.back: list[int] = []
        self.seconds: list[float] = []
        self.waited = 0.0
        self._left: float | None = None

    def map(self, work: Callable[[Any, Any], Any], setup: Any, jobs: Sequence[Any]) -> list[Any]:
        """Do one job after the other."""
        found = []
        if self._left is not None:
            self.waited += time.perf_counter() - self._left
        self.there.append(sum(len(pickle.dumps(job, 5)) for job in jobs) // len(jobs))
        for job in jobs:
            began = time.perf_counter()
            found.append(work(setup, job))
            self.seconds.append(time.perf_counter() - began)
        self.back.append(sum(len(pickle.dumps(each, 5)) for each in found) // len(jobs))
        self._left = time.perf_counter()
        return found


def measure() -> tuple[Measured, Measured]:
    """Return the figures of the last epoch of a search on 1,000 rows, and of the second to see how states grow."""
    rng = np.random.default_rng(1)
    X = rng.uniform(1, 5, (1000, 5))  # noqa: N806
    y = X[:, 0] * np.exp(-X[:, 1] / X[:, 2]) * np.hypot(X[:, 3], X[:, 4]) * (1 + 0.02 * rng.normal(size=1000))
    y /= X[:, 2] + np.sin(X[:, 3])
    generator, library = generator_and_library(Settings(generator="general-5"), tuple(f"x{k}" for k in range(5)))
    engine, n = Recording(), 4
    run(
        generator, Evaluator(library, read_data(X, y, names=library.variables)),
        strategy=Islands(strategy_named("mosaic"), n, engine), budget=Budget(EVALUATIONS), rng=0,
    )  # fmt: skip
    client = engine.waited / (len(engine.seconds) - n)
    by_epoch = np.array(engine.seconds).reshape(-1, n).mean(axis=1)
    early, late = (Measured(engine.there[k], engine.back[k], float(by_epoch[k]), client) for k in (1, -2))
    return early, late


@dataclass
class Use:
    """Shares of the workers' time."""

    used: float
    waiting: float
    """For the slowest island of an epoch."""
    failures: float
    client: float


def simulate(n: int, measured: Measured, rng: np.random.Generator) -> Use:
    """Return how the time of `n` workers with one island each is used."""
    mean = measured.worker_seconds
    moved = measured.bytes_there + measured.bytes_back
    used = waiting = failures = client = 0.0
    for _ in range(EPOCHS):
        work = mean * rng.lognormal(-(SPREAD**2) / 2, SPREAD, n)
        ends = 2 * LATENCY + work
        fails = rng.random(n) < FAILURES_AN_HOUR * work / 3600
        lost = np.where(fails, rng.random(n) * work + RESTART, 0.0)
        # the client sends to and takes in from one island after the other, while others still work
        serial = n * max(measured.client_seconds, moved / BANDWIDTH)
        slowest, slowest_with_failures = ends.max(), (ends + lost).max()
        total = max(slowest_with_failures, serial) + measured.client_seconds
        used += work.mean()
        waiting += slowest - work.mean()
        failures += slowest_with_failures - slowest
        client += total - slowest_with_failures
    whole = used + waiting + failures + client
    return Use(used / whole, waiting / whole, failures / whole, client / whole)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, simulate, and write the page."""
    argparse.ArgumentParser(description=__doc__).parse_args(arguments)
    early, late = measure()
    rng = np.random.default_rng(0)
    lines = [
        "# How many islands one client can serve", "",
        "Made by `python experiments/scale.py`: parts measured on one machine, the rest simulated. A table of",
        "1,000 rows and 5 columns; full epochs have 128,000 evaluations.", "",
        "| measured | second epoch | full epoch |", "|---|---|---|",
        f"| state sent to an island | {early.bytes_there / 1e6:.2f} MB | {late.bytes_there / 1e6:.2f} MB |",
        f"| state and results sent back | {early.bytes_back / 1e6:.2f} MB | {late.bytes_back / 1e6:.2f} MB |",
        f"| seconds of a worker | {early.worker_seconds:.1f} | {late.worker_seconds:.1f} |",
        f"| seconds of the client for each island | {early.client_seconds:.4f} | {late.client_seconds:.4f} |", "",
        f"Simulated: one worker for each island, epochs that differ by {SPREAD:.0%}, {LATENCY * 1000:.0f} ms for a",
        f"message, {BANDWIDTH / 1e6:.0f} MB/s at the client, {FAILURES_AN_HOUR:g} failures an hour of each worker,",
        f"each repeated after {RESTART:.0f} s. Shares of the workers' time:", "",
        "| islands | used | waiting for the slowest | failures | waiting for the client |", "|---|---|---|---|---|",
    ]  # fmt: skip
    for n in ISLANDS:
        use = simulate(n, late, rng)
        shares = " | ".join(f"{each:.0%}" for each in (use.used, use.waiting, use.failures, use.client))
        lines.append(f"| {n:,} | {shares} |")
    limit = late.worker_seconds / max(late.client_seconds, (late.bytes_there + late.bytes_back) / BANDWIDTH)
    lines += ["", f"The client is busy all the time from about {limit:,.0f} islands on.", ""]
    RESULTS.write_text("\n".join(lines))
    print(RESULTS.read_text())


if __name__ == "__main__":
    main()
