"""The paper's tables and figures as `paper_items.toml` lists them, with our runs and the paper's figures for each."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from edhie.bench.report import paper
from rows import read_rows

HERE = Path(__file__).parent
RESULTS = HERE / "results"
PAPER_RUNS = 10
PAPER_LIMIT = 1e-10  # root-mean-square error of a successful run
Spread = tuple[float, float]
"""Mean and standard deviation."""


@dataclass(frozen=True)
class Run:
    """One run on one equation."""

    problem: str
    number: int
    is_below: bool
    """The error is below the limit."""
    is_equivalent: bool | None
    """The expression is equivalent to the equation; None if that was not asked or not decided."""
    rmse: float | None = None
    r2: float | None = None
    evaluated: float | None = None
    """Distinct expressions executed until the equation was found."""
    invalid: float | None = None
    """The share of sampled codes that gave no expression."""
    unusable: float | None = None
    """The number of codes that gave no expression, and of expressions that are not a number on some row."""

    @property
    def is_found(self) -> bool:
        """The error is below the limit, and the expression is not known to differ from the equation."""
        return self.is_below and self.is_equivalent is not False


@dataclass(frozen=True)
class System:
    """A method of a table: the paper's figures by equation, and our runs; either may be missing."""

    name: str
    paper: dict[str, dict[str, Any]]
    runs: list[Run]
    means: dict[str, Spread] = field(default_factory=dict)
    """By column: mean and standard deviation over the equations, as the paper prints them."""
    reason: str = ""
    """Why it was not run here."""
    is_recount: bool = False
    """The runs are those of another method of the table, counted within another limit."""

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

    def strict_counts(self) -> dict[str, tuple[int, int]] | None:
        """Return our successes by the paper's limit on the error; None if the errors were not recorded."""
        if not self.runs or any(run.is_found and run.rmse is None for run in self.runs):
            return None
        return {
            each: (sum(run.is_found and (run.rmse or 0) < PAPER_LIMIT for run in self.of(each)), len(self.of(each)))
            for each in self.problems
        }

    def paper_counts(self) -> dict[str, tuple[int, int]]:
        """Return the paper's successes and runs, by equation."""
        return {each: (figures["successes"], PAPER_RUNS) for each, figures in self.paper.items()}

    def notes(self) -> list[str]:
        """Return what the total of our runs does not show: runs that meet one part of the criterion only."""
        false = sum(run.is_below and not run.is_found for run in self.runs)
        imprecise = sum(not run.is_below and run.is_equivalent is True for run in self.runs)
        return [
            *([f"{false} more reached the error with an expression that is not equivalent"] if false else []),
            *([f"{imprecise} more gave an equivalent expression with a larger error"] if imprecise else []),
        ]

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
    pool: dict[str, list[str]] = field(default_factory=dict)
    """Methods that are compared together: the name of the group, and those of its methods."""
    claim: str = ""
    """What the paper's figure shows, in a few words."""
    seen: str = ""
    """What ours shows."""

    def systems(self, folder: Path = RESULTS) -> list[System]:
        """Return the methods of the table."""
        figures = paper().get(self.benchmark, {})
        found = []
        for each in self.system:
            name = each.get("paper", "")
            means = paper()["means"].get(f"{self.benchmark}.{name}", {})
            runs, reason = read_runs(folder / each["results"], each), each.get("reason", "")
            found.append(System(each["name"], figures.get(name, {}), runs, means, reason, "most" in each))
        return found


@cache
def items() -> tuple[Item, ...]:
    """Return all items, in the paper's order."""
    text = (HERE / "paper_items.toml").read_text(encoding="utf-8")
    return tuple(Item(**each) for each in tomllib.loads(text)["item"])


def read_runs(path: Path, system: dict[str, Any]) -> list[Run]:
    """Return the runs of a system: from a table of `edhie bench`, `sampling.py` or `dso.py`.

    `where` of the system chooses rows, and `join` is a table with more columns of the same runs. With `most`, a run has
    found the equation only if these columns are at most so large; the table has later figures of the other runs.
    """
    where, most = system.get("where", {}), system.get("most", {})
    joined = read_rows(path.parent / system["join"]) if "join" in system else []
    more = {(row["problem"], row["run"]): row for row in joined}
    rows = [row for row in read_rows(path) if all(row[name] == value for name, value in where.items())]
    rows = [more.get((row["problem"], row["run"]), {}) | row for row in rows if not float(row.get("noise") or 0)]
    return [_run_within(row, most) if most else _run(row) for row in rows]


def _run(row: dict[str, str]) -> Run:
    is_below, verdict = _is_below(row), VERDICTS.get(row.get("equivalent", ""))
    after = row["found_after"] if "found_after" in row else row["evaluated_to_success"]
    return Run(
        row["problem"],
        int(row["run"]),
        is_below,
        verdict,
        float(row["rmse"]) if row.get("rmse") else None,
        float(row["r2"] if "r2" in row else row["r2_test"]),
        float(after) if after and is_below and verdict is not False else None,
        int(row["invalid"]) / int(row["sampled"]) if "sampled" in row else None,
        None if "sampled" in row or not row.get("invalid") else float(row["invalid"]),
    )


def _run_within(row: dict[str, str], most: dict[str, int]) -> Run:
    is_within = all(row[name] and int(row[name]) <= limit for name, limit in most.items())
    if not (_is_below(row) and is_within):
        return Run(row["problem"], int(row["run"]), False, None)
    verdict, rmse = VERDICTS.get(row.get("equivalent", "")), row.get("rmse")
    return Run(row["problem"], int(row["run"]), True, verdict, float(rmse) if rmse else None)


def _is_below(row: dict[str, str]) -> bool:
    return row["success"] in ("1", "True")


VERDICTS = {"yes": True, "no": False}


def spread(numbers: Sequence[float]) -> Spread | None:
    """Return mean and standard deviation; None of no numbers."""
    return (float(np.mean(numbers)), float(np.std(numbers))) if numbers else None
