"""Ten data sets that a user would try first: what is chosen for each.

python experiments/classic_fits.py --workers 2

The data are made by tests/classics.py, with evenly spaced and with random rows; 12 s and three seeds for each. A form
is right if, with its constants fitted to the target without noise, its RMSE is below 1e-6 of the target's standard
deviation, and if it has at most twice the symbols of the formula.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from classics import CLASSICS, SPACINGS, Classic
from edhie.expr import Expr, parse
from edhie.expr.interpret import interpret
from forms import forest_of, right_forms
from rows import Row
from runs import CHOSEN, common, fit, markdown, notes, parser, run_fits, share, versions_of

SEEDS = 3
POINTS = 200  # without noise, at which forms are judged
FIELDS = ("version", "set", "spacing", "seed", "right", "on_front", *CHOSEN)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the missing jobs, print the rows and write the summary."""
    options = parser(__doc__, max_time=12.0, halves=False)
    options.add_argument("--sets", nargs="*", default=list(CLASSICS), choices=list(CLASSICS), help="which data sets")
    options.add_argument("--spacings", nargs="*", default=list(SPACINGS), choices=SPACINGS, help="which spacings")
    options.add_argument("--seeds", nargs="*", type=int, default=list(range(SEEDS)), help="which seeds")
    given = options.parse_args(arguments)
    jobs = [
        {"version": given.label, "set": name, "spacing": spacing, "seed": str(seed)}
        for name in given.sets
        for spacing in (SPACINGS[:1] if name == "planets" else given.spacings)
        for seed in given.seeds
    ]
    path = given.results / "classics.csv"
    rows = run_fits(partial(run_classic, max_time=given.max_time), jobs, path, FIELDS, given)
    path.with_suffix(".md").write_text(summary(rows), encoding="utf-8")
    for job in jobs:
        row = next(row for row in rows if job.items() <= row.items())
        print(f"{row['set']:<17} {row['spacing']:<7} {row['seed']}  {row['right']:<4} {row['equation']}")


def run_classic(job: Row, *, max_time: float) -> Row:
    """Fit one data set."""
    seed = int(job["seed"])
    data: Classic = CLASSICS[job["set"]](seed, "even" if job["spacing"] == "even" else "random")
    done = fit(data.X, data.y, [data.column], max_time=max_time, seed=seed, loss=data.loss)
    shown = forest_of([each.expr for each in done.found.equations])
    truth, x = truth_of(data), np.linspace(data.x.min(), data.x.max(), POINTS)
    right = right_forms(shown, x[None], interpret(truth, {data.column: x}), size=truth.size)
    answers = {"right": right[done.found.index], "on_front": right.any()}
    return {name: "yes" if each else "no" for name, each in answers.items()} | done.columns()


def truth_of(data: Classic) -> Expr:
    """Return the formula behind a data set."""
    return parse(data.truth, variables=[data.column])


def summary(rows: Sequence[Row]) -> str:
    """Return by data set and version how often the form was chosen and shown, and what was chosen with one seed."""
    shared, lines = common(rows, lambda row: (row["set"], row["spacing"], row["seed"])), []
    for name, spacing in dict.fromkeys((row["set"], row["spacing"]) for row in shared):
        truth = CLASSICS[name](0, "even").truth
        for version in versions_of(shared):
            its = [row for row in shared if (row["set"], row["spacing"], row["version"]) == (name, spacing, version)]
            right, shown = share(its, "right"), share(its, "on_front")
            lines.append([name, f"`{truth}`", spacing, version, right, shown, f"`{its[0]['equation']}`"])
    heads = ["set", "formula", "rows", "version", "right", "on the front", "chosen with the first seed"]
    return f"# Ten classic data sets\n\n{notes(__doc__ or '')}\n\n{markdown(heads, lines)}\n"


if __name__ == "__main__":
    main()
