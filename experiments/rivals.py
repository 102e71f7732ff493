"""Table of other packages on Nguyen beside edhie, from the runs of `edhie bench`.

python experiments/rivals.py

Writes `results/rivals.md` from `results/nguyen-METHOD.csv`. PySR has the paper's figures until there are runs of it.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence

import numpy as np

from edhie.bench.report import paper_figures
from rows import Row, read_rows
from runs import RESULTS, markdown
from significance import Counts, holm, p_value, verdict

OWN = ("default", "edhie", "proged")
PACKAGES = ("operon", "gplearn", "srtoolkit-edhie", "srtoolkit-proged", "pysr")
AGAINST = {"edhie": "EDHiE", "default": "the default search"}
PROBLEMS = tuple(f"NG-{k}" for k in range(1, 11))
NEARLY = 1e-6
"""1 − R² on test data below which an equation counts as nearly found: single precision gets no further than that."""
TITLES = ["method", *(name.removeprefix("NG-") for name in PROBLEMS)]
TITLES += ["found", "equivalent", "R² > 1 − 10⁻⁶", "no answer", "evaluated, median", "seconds, median"]
HEAD = """# Other packages on Nguyen

Made by `python experiments/rivals.py` from the tables of `edhie bench`. Columns 1 to 10: runs of each equation whose
answer is equivalent to it. Found: RMSE below 10⁻¹⁰·max(1, deviation of the target); the paper has 10⁻¹⁰. In brackets:
equations in one run, mean ± standard deviation over runs. Evaluations are as each package counts them.

The runs of a package end after 15 s; those of `default`, `edhie` and `proged` have no time limit. The autoencoder of
`srtoolkit-edhie` is trained with a fifth of its default effort.
[Benchmarks](../../docs/benchmarks.md#other-packages) says what else is not equal.
"""
TESTS = """\
Runs whose answer is equivalent to the equation, of each package against edhie's own methods. p is from an exact test
stratified by equation, corrected by Holm's method for all tests in this table. It says how the runs differ as they were
made, with their limits of time, not how the packages would with more. The default search was developed on these
equations.
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the table."""
    argparse.ArgumentParser(description=__doc__).parse_args(arguments)
    (RESULTS / "rivals.md").write_text(page(), encoding="utf-8")


def page() -> str:
    """Return the table and the tests."""
    tables = {method: read_rows(RESULTS / f"nguyen-{method}.csv") for method in (*OWN, *PACKAGES)}
    lines = []
    for method, rows in tables.items():
        if rows or paper_figures("nguyen", method)[1]:
            lines.append(measured(method, rows) if rows else published(method))
    return "\n".join([HEAD, markdown(TITLES, lines), "", TESTS, compared(tables), ""])


def compared(tables: Mapping[str, Sequence[Row]]) -> str:
    """Return the tests of each package that was run against edhie's own methods."""
    counts = {method: equivalent(rows) for method, rows in tables.items() if rows}
    run = [method for method in PACKAGES if method in counts]
    pairs = [(method, own) for method in run for own in AGAINST]
    p = dict(zip(pairs, holm([p_value(counts[first], counts[second]) for first, second in pairs]), strict=True))
    lines = [
        [method, *(verdict(counts[method], counts[own], p[method, own]) for own in AGAINST)] for method in run
    ]  # fmt: skip
    return markdown(["", *(f"against {name}" for name in AGAINST.values())], lines)


def equivalent(rows: Sequence[Row]) -> Counts:
    """Return the runs whose answer is equivalent, and all runs, by equation."""
    verdicts = {name: [row["equivalent"] for row in rows if row["problem"] == name] for name in PROBLEMS}
    return {name: (each.count("yes"), len(each)) for name, each in verdicts.items()}


def measured(method: str, rows: Sequence[Row]) -> list[str]:
    """Return the cells of a method that was run."""
    cells = [f"{method} (15 s)" if method in PACKAGES else method]
    cells += [f"{found}/{runs}" if runs else "-" for found, runs in equivalent(rows).values()]
    cells += [_with_spread(rows, column, value) for column, value in (("success", "1"), ("equivalent", "yes"))]
    near = sum(float(row["r2_test"]) > 1 - NEARLY for row in rows)
    unanswered = sum(row["stopped"].startswith("no answer") for row in rows)
    cells += [f"{count}/{len(rows)}" for count in (near, unanswered)]
    evaluated = [float(row["evaluated"]) for row in rows if row["evaluated"]]
    cells.append(f"{np.median(evaluated):,.0f}" if evaluated else "-")
    return [*cells, f"{np.median([float(row['seconds']) for row in rows]):.2f}"]


def _with_spread(rows: Sequence[Row], column: str, value: str) -> str:
    """Return how many rows have a value in a column; in brackets, mean and standard deviation over runs."""
    runs = sorted({row["run"] for row in rows})
    counts = [sum(row[column] == value for row in rows if row["run"] == run) for run in runs]
    return f"{sum(counts)}/{len(rows)} ({np.mean(counts):.1f} ± {np.std(counts):.1f})"


def published(method: str) -> list[str]:
    """Return the cells of a method that could not be run here: the paper's successes, of ten runs."""
    figures = paper_figures("nguyen", method)[1]
    successes = [figures[problem]["successes"] for problem in PROBLEMS]
    cells = [f"{method} (the paper's figures)", *(f"{count}/10" for count in successes)]
    return [*cells, f"{sum(successes)}/100", *["-"] * 5]


if __name__ == "__main__":
    main()
