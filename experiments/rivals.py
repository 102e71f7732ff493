"""Table of other packages on Nguyen beside edhie, from the runs of `edhie bench`.

python experiments/rivals.py

Writes `results/rivals.md` from `results/nguyen-METHOD.csv`. PySR has the paper's figures until there are runs of it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from edhie.bench.report import paper_figures
from rows import Row, read_rows
from runs import RESULTS, markdown

METHODS = ("default", "edhie", "proged", "operon", "gplearn", "srtoolkit-edhie", "srtoolkit-proged", "pysr")
PROBLEMS = tuple(f"NG-{k}" for k in range(1, 11))
NEARLY = 1e-6
"""1 − R² on test data below which an equation counts as nearly found: single precision gets no further than that."""
TITLES = ["method", *(name.removeprefix("NG-") for name in PROBLEMS)]
TITLES += ["found", "equivalent", "R² > 1 − 10⁻⁶", "no answer", "evaluated, median", "seconds, median"]
HEAD = """# Other packages on Nguyen

Made by `python experiments/rivals.py` from the tables of `edhie bench`. Columns 1 to 10: runs of each equation whose
answer is equivalent to it. Found: RMSE below 10⁻¹⁰·max(1, deviation of the target); the paper has 10⁻¹⁰. Evaluations
are as each package counts them. [Benchmarks](../../docs/benchmarks.md#other-packages) says what is equal and what is
not.
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the table."""
    argparse.ArgumentParser(description=__doc__).parse_args(arguments)
    lines = []
    for method in METHODS:
        rows = read_rows(RESULTS / f"nguyen-{method}.csv")
        if rows or paper_figures("nguyen", method)[1]:
            lines.append(measured(method, rows) if rows else published(method))
    (RESULTS / "rivals.md").write_text(f"{HEAD}\n{markdown(TITLES, lines)}\n", encoding="utf-8")


def measured(method: str, rows: Sequence[Row]) -> list[str]:
    """Return the cells of a method that was run."""
    total = len(rows)
    cells = [method]
    for problem in PROBLEMS:
        verdicts = [row["equivalent"] for row in rows if row["problem"] == problem]
        cells.append(f"{verdicts.count('yes')}/{len(verdicts)}" if verdicts else "-")
    near = sum(float(row["r2_test"]) > 1 - NEARLY for row in rows)
    evaluated = [float(row["evaluated"]) for row in rows if row["evaluated"]]
    counts = (
        sum(row["success"] == "1" for row in rows),
        sum(row["equivalent"] == "yes" for row in rows),
        near,
        sum(row["stopped"].startswith("no answer") for row in rows),
    )
    cells += [f"{count}/{total}" for count in counts]
    cells.append(f"{np.median(evaluated):,.0f}" if evaluated else "-")
    return [*cells, f"{np.median([float(row['seconds']) for row in rows]):.2f}"]


def published(method: str) -> list[str]:
    """Return the cells of a method that could not be run here: the paper's successes, of ten runs."""
    figures = paper_figures("nguyen", method)[1]
    successes = [figures[problem]["successes"] for problem in PROBLEMS]
    cells = [f"{method} (the paper's figures)", *(f"{count}/10" for count in successes)]
    return [*cells, f"{sum(successes)}/100", *["-"] * 5]


if __name__ == "__main__":
    main()
