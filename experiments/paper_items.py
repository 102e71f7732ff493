"""The paper's tables and figures as `paper_items.toml` lists them, with our runs and the paper's figures for each."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from edhie.bench.report import paper

HERE = Path(__file__).parent
RESULTS = HERE / "results"
PAPER_RUNS = 10
Spread = tuple[float, float]
"""Mean and standard deviation."""


@dataclass(frozen=True)
class Run:
    """One run on one equation."""

    problem: str
    number: int
    is_found: bool
    r2: float
    evaluated: float | None
    """Distinct expressions executed until the equation was found."""
    invalid: float | None
    """The share of sampled codes that gave no expression."""


@dataclass(frozen=True)
class System:
    """A method of a table: the paper's figures by equation, and our runs; either may be missing."""

    name: str
    paper: dict[str, dict[str, Any]]
    runs: list[Run]

    @property
    def problems(self) -> list[str]:
        """The equations, in order."""
        return list(dict.fromkeys([*self.paper, *(run.problem for run in self.runs)]))

    def of(self, problem: str) -> list[Run]:
        """Return our runs on an equation."""
        return [run for run in self.runs if run.problem == problem]

    def counts(self) -> dict[str, tuple[int, int]]:
        """Return our successes and runs, by equation."""
        return {each: (sum(run.is_found for run in self.of(each)), len(self.of(each))) for each in self.problems}

    def paper_counts(self) -> dict[str, tuple[int, int]]:
        """Return the paper's successes and runs, by equation."""
        return {each: (figures["successes"], PAPER_RUNS) for each, figures in self.paper.items()}

    def by_run(self) -> list[int]:
        """Return how many equations each of our runs found; only runs that are there for all equations count."""
        numbers = sorted({run.number for run in self.runs})
        whole = [k for k in numbers if sum(run.number == k for run in self.runs) == len(self.problems)]
        return [sum(run.is_found for run in self.runs if run.number == k) for k in whole]


@dataclass(frozen=True)
class Item:
    """A table or figure of the paper."""

    id: str
    number: str
    title: str
    kind: str
    quick: list[str]
    full: list[str]
    results: list[str]
    remark: str
    benchmark: str = ""
    columns: tuple[str, ...] = ()
    system: tuple[dict[str, Any], ...] = ()
    compare: tuple[tuple[str, str], ...] = ()

    def systems(self, folder: Path = RESULTS) -> list[System]:
        """Return the methods of the table."""
        figures = paper().get(self.benchmark, {})
        return [
            System(each["name"], figures.get(each.get("paper", ""), {}), read_runs(folder / each["results"], each))
            for each in self.system
        ]


@cache
def items() -> tuple[Item, ...]:
    """Return all items, in the paper's order."""
    text = (HERE / "paper_items.toml").read_text(encoding="utf-8")
    return tuple(Item(**each) for each in tomllib.loads(text)["item"])


def read_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table; none if it is not there."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def read_runs(path: Path, system: dict[str, Any]) -> list[Run]:
    """Return the runs of a system: from a table of `edhie bench`, or from that of `sampling.py`."""
    where: dict[str, str] = system.get("where", {})
    rows = [row for row in read_rows(path) if all(row[name] == value for name, value in where.items())]
    return [_run(row) for row in rows if not float(row.get("noise") or 0)]


def _run(row: dict[str, str]) -> Run:
    after = row["found_after"] if "found_after" in row else row["evaluated_to_success"]
    return Run(
        row["problem"],
        int(row["run"]),
        row["success"] == "1",
        float(row["r2"] if "r2" in row else row["r2_test"]),
        float(after) if after and row["success"] == "1" else None,
        int(row["invalid"]) / int(row["sampled"]) if "sampled" in row else None,
    )


def spread(numbers: Sequence[float]) -> Spread | None:
    """Return mean and standard deviation; None of no numbers."""
    return (float(np.mean(numbers)), float(np.std(numbers))) if numbers else None


def p_value(first: dict[str, tuple[int, int]], second: dict[str, tuple[int, int]]) -> float:
    """Return the exact two-sided p of successes and runs by equation, on the equations that both have.

    Given how often each equation was found in all, the successes of the first are hypergeometric on every equation if
    both have the same chance on it; p is the probability of all totals that are at most as probable as the one seen.

    >>> p_value({"a": (10, 10)}, {"a": (0, 10)}) < 1e-4
    True
    >>> p_value({"a": (5, 10)}, {"a": (5, 10)})
    1.0
    """
    from scipy.stats import hypergeom

    chances, seen = np.ones(1), 0
    for name in first.keys() & second.keys():
        (found, runs), (other_found, other_runs) = first[name], second[name]
        every = hypergeom.pmf(np.arange(runs + 1), runs + other_runs, found + other_found, runs)
        chances, seen = np.convolve(chances, every), seen + found
    return min(1.0, float(chances[chances <= chances[seen] * (1 + 1e-9)].sum()))
