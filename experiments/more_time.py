"""The effect of more time: 5, 20 and 80 seconds on small tables of measurements and on noisy problems.

python experiments/more_time.py --data FOLDER --workers 2

The small tables are those of small.py, one split each; the problems are the twenty textbook formulas with 50 rows and
5 % noise, and twenty Feynman equations with noise of 10 % of the target's root mean square. Each is judged as there.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

import feynman_noise
import small
import textbook
from rows import Row
from runs import CHOSEN, half_of_position, markdown, parser, run_fits, sections, share, versions_of

TIMES = (5.0, 20.0, 80.0)
KINDS = ("measurements", "textbook", "feynman")
TEXTBOOK_ROWS, TEXTBOOK_NOISE, FEYNMAN_NOISE = "50", "0.05", "0.1"
FIELDS = ("version", "kind", "problem", "time", "ratio", "right", *CHOSEN)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the missing jobs, and write the summary of the table."""
    options = parser(__doc__, max_time=None)
    options.add_argument("--data", type=Path, help="folder of the measurements; without it, they are left out")
    options.add_argument("--kinds", nargs="*", default=list(KINDS), choices=KINDS, help="which problems")
    options.add_argument("--times", nargs="*", type=float, default=list(TIMES), help="seconds for a fit")
    given = options.parse_args(arguments)
    jobs = [
        {"version": given.label, "kind": kind, "problem": name, "time": f"{seconds:g}"}
        for seconds in given.times
        for kind in given.kinds
        for name in problem_names(kind, given.half)
        if kind != "measurements" or given.data
    ]
    path = given.results / "more-time.csv"
    rows = run_fits(partial(run_problem, folder=given.data), jobs, path, FIELDS, given)
    path.with_suffix(".md").write_text(summary(rows), encoding="utf-8")


def problem_names(kind: str, half: str | None) -> list[str]:
    """Return the problems of one kind, of one half or of both; of the Feynman equations ten of each half."""
    if kind == "measurements":
        return small.set_names(half)
    if kind == "textbook":
        return textbook.problem_names(half)
    names = feynman_noise.problem_names(None)
    positions = [12 * k + first for k in range(len(names) // 12) for first in (0, 7)]
    return [names[k] for k in positions if half in (None, half_of_position(k))]


def run_problem(job: Row, *, folder: Path | None) -> Row:
    """Fit one table for some seconds, and judge it as its own experiment does."""
    name, seconds = job["problem"], float(job["time"])
    if job["kind"] == "measurements":
        assert folder is not None
        row = small.run_split({"set": name, "split": "0"}, folder=folder, max_time=seconds)
        return {"ratio": row["ratio"], "right": ""} | _chosen(row)
    if job["kind"] == "textbook":
        its = {"problem": name, "rows": TEXTBOOK_ROWS, "noise": TEXTBOOK_NOISE, "seed": "0"}
        row = textbook.run_problem(its, max_time=seconds)
        return {"ratio": "", "right": row["found"]} | _chosen(row)
    row = feynman_noise.run_problem({"problem": name, "noise": FEYNMAN_NOISE, "seed": "0"}, max_time=seconds)
    return {"ratio": "", "right": row["right"]} | _chosen(row)


def _chosen(row: Row) -> Row:
    return {name: row[name] for name in CHOSEN}


# -- tables -----------------------------------------------------------------------------


def summary(rows: Sequence[Row]) -> str:
    """Return the page of the results."""
    first = {(kind, name) for kind in KINDS for name in problem_names(kind, "develop")}
    return sections(
        "What more time brings: right forms, and the median ratio of errors on small tables",
        rows,
        lambda row: (row["kind"], row["problem"], row["time"]),
        lambda row: "develop" if (row["kind"], row["problem"]) in first else "report",
        table,
        __doc__,
    )


def table(rows: Sequence[Row]) -> str:
    """Return by version and seconds the median ratio of the measurements and how often a form was right."""
    lines = []
    for version in versions_of(rows):
        for seconds in sorted({row["time"] for row in rows}, key=float):
            its = [row for row in rows if (row["version"], row["time"]) == (version, seconds)]
            of_kind = {kind: [row for row in its if row["kind"] == kind] for kind in KINDS}
            ratios = [float(row["ratio"]) for row in of_kind["measurements"]]
            median = f"{np.median(ratios):.3g}" if ratios else ""
            lines.append([version, seconds, median, *(share(of_kind[kind], "right") for kind in KINDS[1:])])
    return markdown(["version", "seconds", "median ratio, measurements", "right, textbook", "right, Feynman"], lines)


if __name__ == "__main__":
    main()
