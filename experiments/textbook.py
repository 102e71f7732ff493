"""Twenty textbook formulas that are in no benchmark: how many are found with defaults, by rows and noise.

python experiments/textbook.py --workers 2

Noise is a share of each measurement. A formula is chosen if the chosen equation, with its constants fitted to data
without noise, is equivalent to it; it is listed if that holds for one of the equations shown. All numbers but whole
exponents are constants: 3 may be a rounded 2.89. Each fit has 20 s and default settings; there are three seeds.

`--keep FOLDER` saves the searches, and `--judge` selects again among them. calibration.py compares the weights of the
equations with how often they are right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

import kept_searches
from edhie.bench.metrics import bounded_r2, is_equivalent
from edhie.bench.problem import BenchmarkProblem, load_problems
from edhie.expr import Expr
from forms import forest_of, with_free_numbers
from rows import Row
from runs import CHOSEN, Fit, fit, half_of_position, markdown, parser, run_fits, sections, share, version_p, versions_of

PROBLEMS = Path(__file__).with_suffix(".toml")
ROWS = (10, 20, 50, 200)
LEVELS = (0.01, 0.05, 0.1)
SEEDS = 3
FIELDS = (
    "version", "problem", "rows", "noise", "seed", "found", "listed", "r2_test", "formula", "weight", "law_weight",
    *CHOSEN,
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the missing jobs, and write the summary of the table."""
    options = parser(__doc__, max_time=20.0)
    options.add_argument("--problems", nargs="*", default=[], help="which problems; all if none is named")
    options.add_argument("--rows", nargs="*", type=int, default=list(ROWS), help="rows of a table")
    options.add_argument("--levels", nargs="*", type=float, default=list(LEVELS), help="noise, as a share")
    options.add_argument("--seeds", nargs="*", type=int, default=list(range(SEEDS)), help="which seeds")
    kept_searches.add_options(options)
    given = options.parse_args(arguments)
    kept_searches.check_options(given)
    jobs = [
        {"version": given.label, "problem": name, "rows": str(rows), "noise": f"{noise:g}", "seed": str(seed)}
        for seed in given.seeds
        for rows in given.rows
        for noise in given.levels
        for name in problem_names(given.half)
        if not given.problems or name in given.problems
    ]
    path = given.results / "textbook.csv"
    if given.judge:
        kept_searches.forget(jobs, path, FIELDS)
    run = partial(run_problem, max_time=given.max_time, keep=given.keep, judge=given.judge)
    rows = run_fits(run, jobs, path, FIELDS, given)
    path.with_suffix(".md").write_text(summary(rows), encoding="utf-8")


def problem_names(half: str | None) -> list[str]:
    """Return the ids of one half of the problems, every other one of the file, or of all."""
    names = [each.id for each in load_problems(PROBLEMS)]
    return [name for k, name in enumerate(names) if half in (None, half_of_position(k))]


def run_problem(job: Row, *, max_time: float, keep: Path | None = None, judge: bool = False) -> Row:
    """Fit one table, or select again among what was saved of it, and judge the equations shown."""
    problem, seed = named(job["problem"]), int(job["seed"])
    X, y = replace(problem, n_train=int(job["rows"])).data("train", seed, float(job["noise"]))  # noqa: N806

    def search() -> Fit:
        return fit(X, y, problem.names, max_time=max_time, seed=seed)

    done = kept_searches.searched(search, "-".join(key(job)).replace("/", "_"), keep=keep, judge=judge)
    found = done.found
    verdicts = [verdict(each.expr, problem, seed) for each in found.equations]
    weights = [each.weight or 0.0 for each in found.equations]
    right = sum(weight for weight, said in zip(weights, verdicts, strict=True) if said == "yes")
    X_test, y_test = problem.data("test", seed)  # noqa: N806
    predicted = found.best.predict(np.ascontiguousarray(X_test.T))
    return {
        "found": verdicts[found.index], "listed": max(verdicts, key=("no", "undecided", "yes").index),
        "r2_test": f"{bounded_r2(y_test, predicted, float(y_test.mean())):.6f}", "formula": str(problem.formula),
        "weight": f"{weights[found.index]:.4f}", "law_weight": f"{right:.4f}",
    } | done.columns()  # fmt: skip


def verdict(expr: Expr, problem: BenchmarkProblem, seed: int) -> str:
    """Return whether an equation is the formula, apart from its constants: "yes", "no" or "undecided"."""
    free = with_free_numbers(forest_of([expr]), whole=True)[0]
    return is_equivalent(free, problem, seed=seed, refit=True) or "undecided"


def named(name: str) -> BenchmarkProblem:
    """Return the problem with this id; answers are judged on as many rows as its file says, without noise."""
    return next(each for each in load_problems(PROBLEMS) if each.id == name)


# -- tables -----------------------------------------------------------------------------


def summary(rows: Sequence[Row]) -> str:
    """Return the page of the results."""
    first = problem_names("develop")
    return sections(
        "Twenty textbook formulas: runs that chose and that listed the formula",
        rows,
        key,
        lambda row: "develop" if row["problem"] in first else "report",
        table,
        __doc__,
    )


def key(row: Row) -> tuple[str, ...]:
    """Return the columns that identify a run of a version."""
    return row["problem"], row["rows"], row["noise"], row["seed"]


def table(rows: Sequence[Row]) -> str:
    """Return how often a formula was chosen and listed, by version: by rows and noise, then by formula."""
    cases = sorted({(int(row["rows"]), float(row["noise"])) for row in rows})
    by_case = [
        [str(n), f"{noise:.0%}", *_counts([row for row in rows if _case(row) == (n, noise)], versions_of(rows))]
        for n, noise in cases
    ]
    formulas = dict.fromkeys((row["problem"], row["formula"]) for row in rows)
    by_formula = [
        [name, f"`{formula}`", *_counts([row for row in rows if row["problem"] == name], versions_of(rows))]
        for name, formula in formulas
    ]
    heads = [head for each in versions_of(rows) for head in (f"chosen, {each}", f"listed, {each}")]
    by_case.append(["all", "", *_counts(rows, versions_of(rows))])
    parts = [markdown(["rows", "noise", *heads], by_case), markdown(["", "formula", *heads], by_formula)]
    first, *others = versions_of(rows)
    tests = [
        f"{first} and {other} {version_p([row for row in rows if row['version'] in (first, other)], key, 'found')}"
        for other in others
    ]
    if tests:
        parts.insert(1, f"Differences in what is chosen over all cases, by McNemar's exact test: {', '.join(tests)}.")
    return "\n\n".join(parts)


def _case(row: Row) -> tuple[int, float]:
    return int(row["rows"]), float(row["noise"])


def _counts(rows: Sequence[Row], versions: Sequence[str]) -> list[str]:
    of_versions = [[row for row in rows if row["version"] == each] for each in versions]
    return [share(its, column) for its in of_versions for column in ("found", "listed")]


if __name__ == "__main__":
    main()
