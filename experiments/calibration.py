"""Weights of the chosen equations beside how often they are right, on the textbook formulas.

python experiments/calibration.py --workers 2

The tables are those of textbook.py with 10, 20 and 50 rows, 5 and 10 % noise and the first seed. If weights are
calibrated, of the equations chosen with 60 to 80 % between 60 and 80 % are right.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import kept_searches
import textbook
from rows import Row
from runs import CHOSEN, Fit, fit, markdown, parser, run_fits, sections

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS, LEVELS, SEED = (10, 20, 50), (0.05, 0.1), 0
EDGES = (0.0, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0)
"""Bounds of the weights that are counted together."""
FIELDS = ("version", "problem", "rows", "noise", "found", "listed", "weight", "law_weight", "formula", *CHOSEN)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the missing jobs, and write the summary and the diagram of the table."""
    options = parser(__doc__, max_time=20.0)
    kept_searches.add_options(options)
    given = options.parse_args(arguments)
    kept_searches.check_options(given)
    jobs = [
        {"version": given.label, "problem": name, "rows": str(rows), "noise": f"{noise:g}"}
        for rows in ROWS
        for noise in LEVELS
        for name in textbook.problem_names(given.half)
    ]
    path = given.results / "calibration.csv"
    if given.judge:
        kept_searches.forget(jobs, path, FIELDS)
    run = partial(run_problem, max_time=given.max_time, keep=given.keep, judge=given.judge)
    rows = run_fits(run, jobs, path, FIELDS, given)
    path.with_suffix(".md").write_text(summary(rows), encoding="utf-8")
    diagram(rows).savefig(path.with_suffix(".png"), dpi=110, metadata={"Software": None})


def run_problem(job: Row, *, max_time: float, keep: Path | None = None, judge: bool = False) -> Row:
    """Fit one table, or select again among what was saved of it."""
    from dataclasses import replace

    problem = textbook.named(job["problem"])
    X, y = replace(problem, n_train=int(job["rows"])).data("train", SEED, float(job["noise"]))  # noqa: N806

    def search() -> Fit:
        return fit(X, y, problem.names, max_time=max_time, seed=SEED)

    name = "-".join((job["problem"], job["rows"], job["noise"])).replace("/", "_")
    done = kept_searches.searched(search, name, keep=keep, judge=judge)
    found = done.found
    verdicts = [textbook.verdict(each.expr, problem, SEED) for each in found.equations]
    weights = [each.weight or 0.0 for each in found.equations]
    right = sum(weight for weight, verdict in zip(weights, verdicts, strict=True) if verdict == "yes")
    return {
        "found": verdicts[found.index], "listed": max(verdicts, key=("no", "undecided", "yes").index),
        "weight": f"{weights[found.index]:.4f}", "law_weight": f"{right:.4f}", "formula": str(problem.formula),
    } | done.columns()  # fmt: skip


def by_weight(rows: Sequence[Row]) -> list[tuple[float, float, int]]:
    """Return for each range of weights their mean, the share that is right, and the number of equations."""
    weights = np.array([float(row["weight"]) for row in rows])
    right = np.array([row["found"] == "yes" for row in rows])
    found = []
    for low, high in pairwise(EDGES):
        inside = (weights >= low) & ((weights < high) | (high == EDGES[-1]))
        if inside.any():
            found.append((float(weights[inside].mean()), float(right[inside].mean()), int(inside.sum())))
    return found


def summary(rows: Sequence[Row]) -> str:
    """Return the page of the results."""
    names = textbook.problem_names("develop")
    return sections(
        "Weights of the chosen equations, and how often these are right", rows,
        lambda row: (row["problem"], row["rows"], row["noise"]),
        lambda row: "develop" if row["problem"] in names else "report", _table, __doc__,
    )  # fmt: skip


def _table(rows: Sequence[Row]) -> str:
    lines = [[f"{mean:.0%}", f"{share:.0%}", str(n)] for mean, share, n in by_weight(rows)]
    right = sum(row["found"] == "yes" for row in rows) / len(rows)
    mean = float(np.mean([float(row["weight"]) for row in rows]))
    lines.append([f"**{mean:.0%}**", f"**{right:.0%}**", f"**{len(rows)}**"])
    return markdown(["mean weight", "right", "equations"], lines)


def diagram(rows: Sequence[Row]) -> Figure:
    """Return the reliability diagram."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2, 4.0), layout="constrained")
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    for mean, share, n in by_weight(rows):
        spread = 1.96 * np.sqrt(max(share * (1 - share), 0.25 / n) / n)
        axes.plot([mean, mean], [max(share - spread, 0), min(share + spread, 1)], color="C0", linewidth=1)
        axes.plot(mean, share, "o", color="C0")
        axes.annotate(str(n), (mean, share), textcoords="offset points", xytext=(6, -10), fontsize=8)
    axes.set(xlim=(0, 1.02), ylim=(0, 1.02), xlabel="weight of the chosen equation", ylabel="share that is right")
    return figure


if __name__ == "__main__":
    main()
