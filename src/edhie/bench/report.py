"""Summary table of a benchmark, with the paper's figures beside ours."""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from rich.table import Table

from edhie.bench.methods import METHODS
from edhie.bench.metrics import STRICT
from edhie.bench.records import Row
from edhie.bench.trial import NO_ANSWER

Spread = tuple[float, float]


@dataclass(frozen=True)
class Line:
    """Summary of the runs of one problem, or of all."""

    problem: str
    runs: int
    successes: int
    """Runs with an RMSE below `success_threshold`; under noise, runs that evaluated a correct expression."""
    strict: int
    """Runs with an RMSE below the paper's 1e-10, whatever the scale of the target; not meaningful under noise."""
    equivalent: int
    """Runs whose best expression is the formula."""
    undecided: int
    selected: int
    """Runs whose selected expression is the formula."""
    r2: Spread
    evaluated: Spread | None
    """Expressions evaluated until success, over the successful runs."""
    screened: float
    """Combinations scored by least squares without being executed, mean over all runs."""
    rank: Spread | None
    """Rank of the correct expression by RMSE, over the successful runs with noise."""
    seconds: float


def summarised(rows: Sequence[Row]) -> list[Line]:
    """Return one line for each problem, in the order of the rows."""
    names = dict.fromkeys(row["problem"] for row in rows)
    return [line_of(name, [row for row in rows if row["problem"] == name]) for name in names]


def line_of(name: str, rows: Sequence[Row]) -> Line:
    """Return these rows as one line."""
    succeeded = [row for row in rows if row["success"] == "1"]
    return Line(
        problem=name,
        runs=len(rows),
        successes=len(succeeded),
        strict=sum(float(row["rmse"]) < STRICT for row in rows),
        equivalent=sum(row["equivalent"] == "yes" for row in rows),
        undecided=sum(row["equivalent"] == "undecided" for row in rows),
        selected=sum(row["selected_equivalent"] == "yes" for row in rows),
        r2=_spread([float(row["r2_test"]) for row in rows]) or (math.nan, math.nan),
        evaluated=_spread([float(row["evaluated_to_success"]) for row in succeeded if row["evaluated_to_success"]]),
        screened=float(np.mean([float(row["screened"]) for row in rows])),
        rank=_spread([float(row["rank"]) for row in succeeded if row["rank"]]),
        seconds=float(np.mean([float(row["seconds"]) for row in rows])),
    )


def _spread(numbers: Sequence[float]) -> Spread | None:
    """Return mean and standard deviation; None if there are no numbers."""
    return (float(np.mean(numbers)), float(np.std(numbers))) if numbers else None


@cache
def paper() -> dict[str, dict[str, Any]]:
    """Return all figures of the paper, by section of `paper.toml`."""
    return tomllib.loads((files("edhie.bench") / "paper.toml").read_text(encoding="utf-8"))


def paper_figures(benchmark: str, method: str, noise: float = 0.0) -> tuple[str, dict[str, dict[str, Any]]]:
    """Return the paper's name for the counterpart of a method, and its figures by problem, if it has any.

    >>> paper_figures("nguyen", "edhie")[1]["NG-5"]["successes"]
    3
    """
    system = (METHODS[method].paper if method in METHODS else "") or method
    name = (METHODS[system].label if system in METHODS else "") or system.upper().replace("-", " ")
    if noise:
        found = paper()["noise"].get(f"{noise:g}", {}) if benchmark == "nguyen" and system == "edhie" else {}
    else:
        found = paper().get(benchmark, {}).get(system, {})
    return f"{name}, paper", found


TOTAL = "total"
MOST_REASONS = 3  # of runs without an answer, below the table
UNITS = (("G", 1e9), ("M", 1e6), ("k", 1e3))


def table_of(rows: Sequence[Row], benchmark: str, method: str, noise: float = 0.0) -> Table:
    """Return a table with a row for each problem and the total; the paper's figures stand in parentheses."""
    label, paper = paper_figures(benchmark, method, noise)
    shown = {problem: paper[problem] for problem in dict.fromkeys(row["problem"] for row in rows) if problem in paper}
    title = f"{benchmark}, {method}" + (f", noise {noise:g}" if noise else "") + (f" ({label})" if shown else "")
    table = Table(box=None, title=title, title_justify="left", padding=(0, 1, 0, 0))
    table.add_column("problem", no_wrap=True)
    total = line_of(TOTAL, rows)
    without = {"strict", "evaluated"} if noise else {"rank"}
    names = [name for name in _cells(total, {}) if name not in without and (name != "screened" or total.screened)]
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    for line in summarised(rows):
        table.add_row(line.problem, *map(_cells(line, shown.get(line.problem, {})).__getitem__, names))
    table.add_section()
    paper_total = {"successes": sum(each["successes"] for each in shown.values())} if shown else {}
    table.add_row(TOTAL, *map(_cells(total, paper_total).__getitem__, names))
    return table


def notes_on(rows: Sequence[Row], noise: float = 0.0) -> list[str]:
    """Return explanations of the columns, to print below the table."""
    found = "found: runs with an RMSE below 1e-10·max(1, deviation of the target); strict: below 1e-10"
    packages = {METHODS[row["method"]].package for row in rows if row["method"] in METHODS}
    counted = "distinct expressions executed until found" if packages <= {""} else "as the package counts them"
    spent = f"evaluated: {counted}, a mean over the runs that found it"
    if noise:
        found = "found: runs that evaluated an expression with an RMSE below 1e-10·max(1, deviation) without noise"
        spent = "rank: the place of that expression by its RMSE with noise, a mean over the runs that found it"
    equal = "equal: runs whose best expression is the formula; chosen: whose selected expression is"
    lines, total = [found, equal, f"R²: on test data, at least 0; {spent}"], line_of(TOTAL, rows)
    if total.screened:
        lines.append("screened: combinations of terms scored by least squares, not executed, a mean over all runs")
    if total.undecided:
        lines.append(f"of {total.undecided} runs it could not be decided whether their best expression is the formula")
    reasons = Counter(row["stopped"] for row in rows if row["stopped"].startswith(NO_ANSWER))
    for reason, count in reasons.most_common(MOST_REASONS):
        lines.append(f"{reason} ({count} {'run' if count == 1 else 'runs'})")
    return lines


def _cells(line: Line, paper: dict[str, Any]) -> dict[str, str]:
    """Return the cells by column; some columns are left out if they are empty."""
    return {
        "found": _beside(f"{line.successes}/{line.runs}", paper.get("successes"), "{}"),
        "strict": str(line.strict),
        "equal": str(line.equivalent),
        "chosen": str(line.selected),
        "R²": _beside(_r2(line.r2[0]), paper.get("r2", [None])[0], "{:.2f}"),
        "evaluated": _beside(_mean(line.evaluated), paper.get("evaluated", [None])[0], "{:,.0f}"),
        "rank": _beside(_mean(line.rank), paper.get("rank", [None])[0], "{:,.0f}"),
        "screened": _short(line.screened),
        "secs": f"{line.seconds:.1f}",
    }


def _mean(spread: Spread | None) -> str:
    return "-" if spread is None else f"{spread[0]:,.0f}"


def _short(number: float) -> str:
    return next((f"{number / size:.1f}{unit}" for unit, size in UNITS if number >= size), f"{number:.0f}")


def _beside(ours: str, theirs: float | None, form: str) -> str:
    """Return our figure, with the paper's in parentheses if it has one."""
    return ours if theirs is None else f"{ours} ({form.format(theirs)})"


def _r2(mean: float) -> str:
    """Format with two digits; close to 1 with four, rounded down, so that only 1 is shown as 1."""
    return f"{mean:.2f}" if mean == 1 or mean < 0.995 else f"{math.floor(mean * 1e4) / 1e4:.4f}"
