"""Robustness to noise: how often the right equation is evaluated, and its rank among all, by level of noise.

python experiments/noise.py --workers 2

The paper's EDHiE with 100,000 evaluations, as in the paper, and the default search with 20,000. Runs are kept in
nguyen-noise.csv, each as soon as it ends; those that are there are not repeated.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from edhie.bench.methods import method_named
from edhie.bench.problem import load_problems
from edhie.bench.report import Line, Spread, line_of, paper_figures, summarised
from edhie.bench.trial import COLUMNS, Trial, TrialSettings
from rows import Row, read_rows, run_missing, write_rows
from search_runs import BENCHMARK, parser

LEVELS = (0.01, 0.02, 0.05, 0.1, 0.2)
EVALUATIONS = {"default": 20_000, "edhie": 100_000}
NAMES = {"default": "Default search", "edhie": "EDHiE"}
FIELDS = (
    "method", "noise", "problem", "runs", "successes", "mean_rank", "rank_deviation", "selected",
    "paper", "paper_mean_rank",
)  # fmt: skip
TITLE = """\
# Nguyen equations found in noisy data

Noise of η times each value. A cell has the runs that evaluated the right equation, its mean rank by error
among all expressions of the run, and the runs that chose it. In parentheses: the paper's runs that evaluated
it, and its mean rank. The paper's method is EDHiE, with 100,000 expressions a run; the default search is not in the
paper. Made by `python experiments/noise.py`."""
Lines = Sequence[tuple[str, float, Line]]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is missing, and write the tables of all runs."""
    options = parser(__doc__, tuple(EVALUATIONS))
    options.set_defaults(evaluations=None)
    options.add_argument("--levels", nargs="*", type=float, default=list(LEVELS), help="which levels of noise")
    chosen = options.parse_args(arguments)
    table = chosen.results / f"{BENCHMARK}-noise.csv"
    budgets = {each: chosen.evaluations or EVALUATIONS.get(each, TrialSettings.evaluations) for each in chosen.method}
    _check_budgets(read_rows(table), budgets, table)
    problems = [problem.id for problem in load_problems(BENCHMARK)]
    jobs = [
        {"problem": problem, "method": method, "run": str(run), "noise": str(level)}
        for method in chosen.method
        for level in chosen.levels
        for problem in chosen.problems or problems
        for run in range(chosen.runs)
    ]
    rows = run_missing(partial(run_one, budgets=budgets), jobs, table, COLUMNS, workers=chosen.workers)
    rows.sort(key=lambda row: (row["method"], float(row["noise"]), problems.index(row["problem"]), int(row["run"])))
    write_rows(rows, table, COLUMNS)
    lines = _lines(rows)
    _write_csv(lines, chosen.results / "noise.csv")
    spent = {method: max(int(row["evaluated"]) for row in rows if row["method"] == method) for method, _, _ in lines}
    _write_table(lines, spent, chosen.results / "noise.md")


def run_one(job: Row, budgets: dict[str, int]) -> Row:
    """Return the other columns of a run; strict, so that all methods have the same symbols."""
    from edhie.bench.execute import execute

    method = method_named(job["method"])
    settings = TrialSettings(budgets[method.name], strict=None if method.strict else True)
    row = execute(Trial(BENCHMARK, job["problem"], method, int(job["run"]), float(job["noise"]), settings)).row
    cells = {name: int(value) if isinstance(value, bool) else value for name, value in row.items() if name not in job}
    return {name: "" if value is None else str(value) for name, value in cells.items()}


def _check_budgets(rows: Sequence[Row], budgets: dict[str, int], table: Path) -> None:
    """End if the table has runs of these methods with another budget, which under noise is always used up."""
    for row in rows:
        budget = budgets.get(row["method"])
        if budget is not None and row["stopped"] == "evaluations" and int(row["evaluated"]) != budget:
            was = f"{table} has runs of {row['method']} with {row['evaluated']} evaluations, not {budget}"
            raise SystemExit(f"{was}; use the same number, or another --results")


def _lines(rows: Sequence[Row]) -> Lines:
    """Return the rows by method, level of noise and equation, with totals."""
    found: list[tuple[str, float, Line]] = []
    for method, level in dict.fromkeys((row["method"], row["noise"]) for row in rows):
        own = [row for row in rows if (row["method"], row["noise"]) == (method, level)]
        found += [(method, float(level), line) for line in [*summarised(own), line_of("total", own)]]
    return found


def _write_csv(lines: Lines, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        for method, level, line in lines:
            paper = paper_figures(BENCHMARK, method, level)[1].get(line.problem, {})
            ours = ("", "") if line.rank is None else tuple(f"{each:.2f}" for each in line.rank)
            theirs = paper.get("successes", ""), paper.get("rank", [""])[0]
            writer.writerow((method, level, line.problem, line.runs, line.successes, *ours, line.selected, *theirs))


def _write_table(lines: Lines, spent: dict[str, int], path: Path) -> None:
    """Write successes and mean ranks, the paper's in parentheses, by equation and level of noise."""
    parts = [TITLE]
    for method in dict.fromkeys(method for method, _, _ in lines):
        found = {(line.problem, level): line for each, level, line in lines if each == method}
        levels = list(dict.fromkeys(level for _, level in found))
        parts += [
            "",
            f"## {NAMES.get(method, method)}, {spent[method]:,} expressions",
            "",
            "| | " + " | ".join(f"η = {level:g}" for level in levels) + " |",
        ]
        parts.append("|---|" + "---|" * len(levels))
        for problem in dict.fromkeys(problem for problem, _ in found):
            cells = [_cell(found.get((problem, level)), method, level) for level in levels]
            parts.append(f"| {problem} | " + " | ".join(cells) + " |")
    path.write_text("\n".join(parts) + "\n", encoding="utf-8")


def _cell(line: Line | None, method: str, level: float) -> str:
    if line is None:
        return ""
    paper = paper_figures(BENCHMARK, method, level)[1].get(line.problem)
    ours = f"{line.successes}/{line.runs}, {_rank(line.rank)}, {line.selected}"
    return ours if paper is None else f"{ours} ({paper['successes']}, {_rank(paper.get('rank'))})"


def _rank(spread: Spread | Sequence[float] | None) -> str:
    return "-" if spread is None else f"{spread[0]:.1f}"


if __name__ == "__main__":
    main()
