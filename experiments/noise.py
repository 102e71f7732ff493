"""Robustness to noise: how often the right equation is evaluated, and its rank among all, by level of noise.

python experiments/noise.py --workers 2
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from edhie.bench.records import Row
from edhie.bench.report import Line, Spread, line_of, paper_figures, summarised
from edhie.bench.trial import COLUMNS
from search_runs import BENCHMARK, parser, run

LEVELS = (0.01, 0.02, 0.05, 0.1, 0.2)
EVALUATIONS = 20_000
FOLDER = "noise"
FIELDS = (
    "method", "noise", "problem", "runs", "successes", "mean_rank", "rank_deviation", "selected",
    "paper", "paper_mean_rank",
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Run, and write the table."""
    options = parser(__doc__, ("default",))
    options.set_defaults(evaluations=EVALUATIONS)
    options.add_argument("--levels", nargs="*", type=float, default=list(LEVELS), help="which levels of noise")
    chosen = options.parse_args(arguments)
    runs = {
        (method, level): run(method, chosen, noise=level, folder=FOLDER).rows
        for method in chosen.method
        for level in chosen.levels
    }
    _write_runs([row for found in runs.values() for row in found], chosen.results / f"{BENCHMARK}-noise.csv")
    rows = [
        (method, level, line)
        for (method, level), found in runs.items()
        for line in [*summarised(found), line_of("total", found)]
    ]
    _write_csv(rows, chosen.results / "noise.csv")
    _write_table(rows, chosen.results / "noise.md")


def _write_runs(rows: Sequence[Row], path: Path) -> None:
    """Write the runs as `edhie bench` does, one row each."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _write_csv(rows: Sequence[tuple[str, float, Line]], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        for method, level, line in rows:
            paper = paper_figures(BENCHMARK, method, level)[1].get(line.problem, {})
            ours = ("", "") if line.rank is None else tuple(f"{each:.2f}" for each in line.rank)
            theirs = paper.get("successes", ""), paper.get("rank", [""])[0]
            writer.writerow((method, level, line.problem, line.runs, line.successes, *ours, line.selected, *theirs))


def _write_table(rows: Sequence[tuple[str, float, Line]], path: Path) -> None:
    """Write successes and mean ranks, the paper's in parentheses, by equation and level of noise."""
    parts = [
        "# Nguyen equations found in noisy data",
        "",
        "Noise of η times each value. A cell has the runs that evaluated the right equation, its mean rank by error",
        "among all expressions of the run, and the runs that chose it. In parentheses: the paper's runs that evaluated",
        "it, and its mean rank (EDHiE). Made by `python experiments/noise.py`.",
    ]
    for method in dict.fromkeys(method for method, _, _ in rows):
        found = {(line.problem, level): line for each, level, line in rows if each == method}
        levels = list(dict.fromkeys(level for _, level in found))
        parts += ["", f"## {method}", "", "| | " + " | ".join(f"η = {level:g}" for level in levels) + " |"]
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
