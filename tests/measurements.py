"""What tests of the command line share: a file of measurements, and searches that take no time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

NOISE = np.random.default_rng(1).normal(size=60)  # in which nothing is to be found, so that nothing ends a search early
GOOD = "a,b,y\n1,2,3\n2,3,5\n4,1,5.5\n3,3,1\n"


def table(folder: Path, name: str = "cup.csv", rows: int = 60, **columns: Any) -> Path:
    """A file of a cup that cools, and of whatever else is given."""
    t = np.random.default_rng(rows).uniform(0, 30, rows)
    named = {"t": t, "T": 20 + 60 * np.exp(-t / 7)} | columns
    lines = [",".join(named), *(",".join(map(str, row)) for row in zip(*named.values(), strict=True))]
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def small(strategy: str = "draw", evaluations: int = 300) -> list[Any]:
    return ["--search", strategy, "--evaluations", evaluations, "--no-report"]
