"""What checkpoints of a search cost, how early the first comes, and how much work a kill loses at most; one core.

python perf/checkpoints.py [--quick]

Every search has 60 s (--quick: 10 s) and no limit on rounds. A kill just before a checkpoint loses the time since the
one before it, so the longest gap between two checkpoints is the most that can be lost.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from report import Report, arguments, hold_one_core

hold_one_core()

import numpy as np  # noqa: E402 -- after the limits on threads

from edhie.evaluate import Data  # noqa: E402
from edhie.fit import Settings, discover  # noqa: E402
from edhie.search.checkpoint import ARRAYS, Checkpoints, Snapshot  # noqa: E402
from edhie.search.evolution import Evolve  # noqa: E402
from edhie.search.mosaic.search import Mosaic  # noqa: E402

SECONDS, QUICK = 60.0, 10.0
SEARCHES = [("mosaic", 3, 300), ("mosaic", 6, 10_000), ("evolve", 3, 300)]
"""Strategy, columns, rows."""
FIRST, LOST, SHARE = 3.0, 5.0, 0.05


@dataclass
class Log:
    """The checkpoints of one search."""

    at: list[float] = field(default_factory=lambda: [0.0])
    """Seconds of the search at which there was one; a search begins with nothing to lose."""
    writing: list[float] = field(default_factory=list)
    states: list[float] = field(default_factory=list)
    megabytes: float = 0.0

    @contextmanager
    def watching(self, strategy: type[Any]) -> Iterator[None]:
        """Note the checkpoints of searches within the context."""
        write, state = Checkpoints.write, strategy.state

        def timed_write(checkpoints: Checkpoints, snapshot: Snapshot, evaluator: Any) -> None:
            began = time.perf_counter()
            write(checkpoints, snapshot, evaluator)
            self.writing.append(time.perf_counter() - began)
            self.at.append(snapshot.seconds)
            self.megabytes = (checkpoints.folder / ARRAYS).stat().st_size / 1e6

        def timed_state(search: Any) -> Any:
            began = time.perf_counter()
            taken = state(search)
            self.states.append(time.perf_counter() - began)
            return taken

        Checkpoints.write, strategy.state = timed_write, timed_state  # type: ignore[method-assign]
        try:
            yield
        finally:
            Checkpoints.write, strategy.state = write, state  # type: ignore[method-assign]


def measured(strategy: str, columns: int, rows: int, seconds: float) -> Log:
    """Search in noise beside a law, which does not end by itself; return the checkpoints."""
    rng, log = np.random.default_rng(0), Log()
    X = rng.uniform(1, 5, (columns, rows))  # noqa: N806
    law = X[0] * np.exp(-X[1] / 2) + np.sin(X[columns - 1] * X[0]) * X[1] / (1 + X[2] ** 2)
    data = Data(X, law + 0.1 * rng.normal(size=rows), None, tuple(f"x{k}" for k in range(columns)))
    settings = Settings(max_time=seconds, patience=None, search=strategy)
    with tempfile.TemporaryDirectory() as place, log.watching({"mosaic": Mosaic, "evolve": Evolve}[strategy]):
        discover(data, settings, folder=Path(place) / "run")
    return log


def main() -> None:
    """Print when checkpoints came and what they cost."""
    seconds = QUICK if arguments(__doc__).quick else SECONDS
    report, rows, logs = Report("Checkpoints of a search"), [], []
    for strategy, columns, n_rows in SEARCHES:
        log = measured(strategy, columns, n_rows, seconds)
        logs.append(log)
        cost = sum(log.writing) + sum(log.states)
        cells = [f"{log.at[1]:.1f}", f"{max(np.diff(log.at)):.1f}", f"{len(log.writing)}"]
        cells += [f"{1e3 * log.states[-1]:.0f}", f"{1e3 * log.writing[-1]:.0f}", f"{log.megabytes:.0f}"]
        rows.append([strategy, f"{n_rows:,} × {columns}", *cells, f"{cost / log.at[-1]:.1%}"])
    names = ["search", "table", "first in s", "longest gap in s", "written"]
    report.table(
        f"Searches of {seconds:g} s", [*names, "last state in ms", "last write in ms", "MB", "share of time"], rows
    )
    first, gap = max(log.at[1] for log in logs), max(float(max(np.diff(log.at))) for log in logs)
    share = max((sum(log.writing) + sum(log.states)) / log.at[-1] for log in logs)
    report.row("latest first checkpoint", f"{first:.1f} s", f"at most {FIRST:g} s is the goal")
    report.row("most work that a kill loses", f"{gap:.1f} s", f"at most {LOST:g} s is the goal")
    report.row("largest share of the time", f"{share:.1%}", f"at most {SHARE:.0%} is the goal")
    for name, value in (("first_seconds", first), ("lost_seconds", gap), ("share", share)):
        report.figure(name, value)
    report.close()


if __name__ == "__main__":
    main()
