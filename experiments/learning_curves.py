"""Learning curves: the best R² so far against expressions evaluated, on the equations of the paper's figure.

python experiments/learning_curves.py --workers 2

The figure is drawn from learning_curves.csv. A method in that table is not run again, unless learning curves of single
runs are in the folder `curves`, which is not committed: then the runs whose curve is missing are run, and the method is
summarised again. The runs are those of `edhie bench`, in the same tables; a run that is repeated replaces its row.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from edhie.bench.figures import Curve, curves_figure, mean_curve, read_curves
from edhie.bench.records import CURVES
from rows import Row, read_rows, write_rows
from search_runs import BENCHMARK, parser, run

METHODS = ("proged", "hvar", "edhie", "default")
PROBLEMS = ("NG-1", "NG-5", "NG-6", "NG-8", "NG-9", "NG-10")
FIELDS = ("method", "problem", "evaluated", "r2", "deviation")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run, write and draw."""
    options = parser(__doc__, METHODS, PROBLEMS).parse_args(arguments)
    table = options.results / "learning_curves.csv"
    known = read_rows(table)
    rows = [row for method in options.method for row in _rows_of(method, options, known)]
    write_rows(rows, table, FIELDS)
    curves_figure(_curves(rows)).savefig(options.results / "learning_curves.png")


def _rows_of(method: str, options: argparse.Namespace, known: Sequence[Row]) -> list[Row]:
    """Return the mean curves of a method wherever they change: those that are known, or of its runs."""
    own = [row for row in known if row["method"] == method and row["problem"] in options.problems]
    has_runs = any((options.results / CURVES).glob(f"{BENCHMARK}-{method}-NG-*.csv"))
    if not has_runs and {row["problem"] for row in own} == set(options.problems):
        print(f"{method}: not run again, since its mean curves are in the table", flush=True)
        return own
    ended = run(method, options, with_curves=True)
    curves = read_curves(ended.path.parent, ended.path.stem, ended.rows)
    means = {problem: mean_curve(runs, options.evaluations) for problem, runs in curves.items()}
    return [row for problem, curve in means.items() for row in _rows(method, problem, curve)]


def _rows(method: str, problem: str, curve: Curve) -> list[Row]:
    """Return a curve as rows: where it changes, and its end."""
    found: list[Row] = []
    for evaluated, r2, deviation in zip(*curve, strict=True):
        values = {"r2": f"{r2:.4f}", "deviation": f"{deviation:.4f}"}
        if not found or evaluated == curve.evaluated[-1] or values.items() - found[-1].items():
            found.append({"method": method, "problem": problem, "evaluated": f"{evaluated:.0f}", **values})
    return found


def _curves(rows: Sequence[Row]) -> dict[str, dict[str, Curve]]:
    """Return the curves in the rows, by method and problem."""
    found: dict[str, dict[str, Curve]] = {}
    for method, problem in dict.fromkeys((row["method"], row["problem"]) for row in rows):
        own = [row for row in rows if (row["method"], row["problem"]) == (method, problem)]
        columns = (np.array([float(row[name]) for row in own]) for name in FIELDS[2:])
        found.setdefault(method, {})[problem] = Curve(*columns)
    return found


if __name__ == "__main__":
    main()
