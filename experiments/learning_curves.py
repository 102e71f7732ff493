"""Learning curves: the best R² so far against expressions evaluated, on the equations of the paper's figure.

python experiments/learning_curves.py --workers 2
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edhie.bench.figures import curves_figure, mean_curve, read_curves
from search_runs import parser, run

METHODS = ("proged", "hvar", "edhie", "default")
PROBLEMS = ("NG-1", "NG-5", "NG-6", "NG-8", "NG-9", "NG-10")
FIELDS = ("method", "problem", "evaluated", "r2")
Curves = Mapping[str, Mapping[str, Sequence[NDArray[np.float64]]]]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run, write and draw."""
    options = parser(__doc__, METHODS, PROBLEMS).parse_args(arguments)
    curves = {}
    for method in options.method:
        ended = run(method, options)
        curves[method] = read_curves(ended.path.parent, ended.path.stem, ended.rows)
    _write(curves, options.evaluations, options.results / "learning_curves.csv")
    curves_figure(curves).savefig(options.results / "learning_curves.png")


def _write(curves: Curves, evaluations: int, path: Path) -> None:
    """Write the mean over runs wherever it changes."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        for method, by_problem in curves.items():
            for problem, runs in by_problem.items():
                grid, r2 = mean_curve(runs, evaluations)
                changes = np.flatnonzero(np.diff(r2, prepend=-1))
                writer.writerows((method, problem, f"{grid[k]:.0f}", f"{r2[k]:.4f}") for k in changes)


if __name__ == "__main__":
    main()
