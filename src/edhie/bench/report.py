"""The table that a benchmark ends with: our figures and the paper's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rich.table import Table

from edhie.bench.records import Row
from edhie.bench.summary import Line, Spread, line_of, paper_figures, summarised

TOTAL = "total"
COLUMNS = ("found", "strict", "equal", "chosen", "R²", "evaluated", "rank", "screened", "secs")
"""After the problem's name; some are there only where they say something."""
UNITS = (("G", 1e9), ("M", 1e6), ("k", 1e3))


def table_of(rows: Sequence[Row], benchmark: str, method: str, noise: float = 0.0) -> Table:
    """A row a problem, then the total; in parentheses what the paper has."""
    label, paper = paper_figures(benchmark, method, noise)
    shown = {problem: paper[problem] for problem in dict.fromkeys(row["problem"] for row in rows) if problem in paper}
    title = f"{benchmark}, {method}" + (f", noise {noise:g}" if noise else "") + (f" ({label})" if shown else "")
    table = Table(box=None, title=title, title_justify="left", padding=(0, 1, 0, 0))
    table.add_column("problem", no_wrap=True)
    without = {"strict", "evaluated"} if noise else {"rank"}
    if line_of(TOTAL, rows).screened == 0:
        without.add("screened")
    names = [name for name in COLUMNS if name not in without]
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    for line in summarised(rows):
        table.add_row(line.problem, *map(_cells(line, shown.get(line.problem, {})).__getitem__, names))
    table.add_section()
    table.add_row(TOTAL, *map(_cells(line_of(TOTAL, rows), _total(shown)).__getitem__, names))
    return table


def notes_on(rows: Sequence[Row], noise: float = 0.0) -> list[str]:
    """What the columns mean, in a few lines below the table."""
    found = "found: runs with an RMSE below 1e-10·max(1, deviation of the target); strict: below 1e-10"
    spent = "evaluated: distinct expressions executed until found, a mean over the runs that found it"
    if noise:
        found = "found: runs that met an expression with an RMSE below 1e-10·max(1, deviation) without noise"
        spent = "rank: the place of that expression by its RMSE with noise, a mean over the runs that found it"
    equal = "equal: runs whose best expression is the formula; chosen: whose best trade-off is"
    lines = [found, equal, f"R²: on test data, at least 0; {spent}"]
    if line_of(TOTAL, rows).screened:
        lines.append(
            "screened: combinations of terms scored in closed form without being executed, a mean over all runs"
        )
    undecided = line_of(TOTAL, rows).undecided
    if undecided:
        lines.append(f"of {undecided} runs it could not be decided whether their best expression is the formula")
    return lines


def _cells(line: Line, paper: dict[str, Any]) -> dict[str, str]:
    """By the names of `COLUMNS`."""
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
    """A large number with its unit: 1.3M."""
    return next((f"{number / size:.1f}{unit}" for unit, size in UNITS if number >= size), f"{number:.0f}")


def _beside(ours: str, theirs: float | None, form: str) -> str:
    """Our figure, and the paper's in parentheses where it has one."""
    return ours if theirs is None else f"{ours} ({form.format(theirs)})"


def _total(paper: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The paper's successes over the problems that are shown."""
    return {"successes": sum(each["successes"] for each in paper.values())} if paper else {}


def _r2(mean: float) -> str:
    """To two digits; what is close to 1 to four, cut off, since only 1 is 1."""
    return f"{mean:.2f}" if mean == 1 or mean < 0.995 else f"{math.floor(mean * 1e4) / 1e4:.4f}"
