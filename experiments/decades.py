"""Laws in SI units over many decades: how many are found with defaults.

python experiments/decades.py --workers 2

Each of the ten laws in decades.toml has 30 rows, drawn uniformly on a logarithmic scale, with noise of 10 % of each
measurement; columns are between 1e-19 and 1e34, targets between 1e-33 and 1e32. There are three seeds, of data and
search, 15 s each, with default settings. A law is found if the chosen equation has its form: with other constants, it
has the values of the law, and it has as many constants, factors of units included. It is listed if that holds for one
of the equations shown. The error is the root mean square of the logarithm of predictions over values of the law.

`--keep FOLDER` saves the searches, and `--judge` selects again among them.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import kept_searches
from form_errors import is_same_form
from rows import Row
from runs import CHOSEN, Fit, Numbers, fit, half_of_position, markdown, parser, run_fits, sections, share, versions_of

if TYPE_CHECKING:
    from edhie.bench.problem import BenchmarkProblem
    from edhie.expr import Expr

PROBLEMS = Path(__file__).with_suffix(".toml")
NOISE, SEEDS = 0.1, 3
FIELDS = ("version", "problem", "seed", "found", "listed", "error", "formula", *CHOSEN)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the missing jobs, and write the summary of the table."""
    options = parser(__doc__, max_time=15.0)
    options.add_argument("--problems", nargs="*", default=[], help="which laws; all if none is named")
    options.add_argument("--seeds", nargs="*", type=int, default=list(range(SEEDS)), help="which seeds")
    kept_searches.add_options(options)
    given = options.parse_args(arguments)
    kept_searches.check_options(given)
    path = given.results / "decades.csv"
    jobs = [
        {"version": given.label, "problem": name, "seed": str(seed)}
        for seed in given.seeds
        for name in problem_names(given.half)
        if not given.problems or name in given.problems
    ]
    if given.judge:
        kept_searches.forget(jobs, path, FIELDS)
    run = partial(run_problem, max_time=given.max_time, keep=given.keep, judge=given.judge)
    rows = run_fits(run, jobs, path, FIELDS, given)
    path.with_suffix(".md").write_text(summary(rows), encoding="utf-8")


def problem_names(half: str | None) -> list[str]:
    """Return the ids of one half of the laws, every other one of the file, or of all."""
    return [name for k, name in enumerate(_problems()) if half in (None, half_of_position(k))]


def _problems() -> dict[str, BenchmarkProblem]:
    from edhie.bench.problem import load_problems

    return {each.id: each for each in load_problems(PROBLEMS)}


def table_of(problem: BenchmarkProblem, seed: int) -> tuple[Numbers, Numbers, Numbers]:
    """Return the columns of a law, the target without noise, and the target with noise."""
    from edhie.expr.interpret import interpret

    assert problem.truth is not None
    digest = int.from_bytes(hashlib.sha256(problem.id.encode()).digest()[:8], "little")
    rng = np.random.default_rng([seed, digest])
    low, high = np.log([(each.low, each.high) for each in problem.variables]).T
    X = np.exp(rng.uniform(low, high, (problem.n_train, len(low))))  # noqa: N806
    exact = np.asarray(interpret(problem.truth, dict(zip(problem.names, X.T, strict=True))), np.float64)
    return X, exact, exact * (1 + NOISE * rng.standard_normal(len(exact)))


# -- one run ----------------------------------------------------------------------------


def run_problem(job: Row, *, max_time: float, keep: Path | None = None, judge: bool = False) -> Row:
    """Fit one table, or select again among what was saved of it, and judge the equations shown."""
    problem, seed = _problems()[job["problem"]], int(job["seed"])
    X, exact, y = table_of(problem, seed)  # noqa: N806

    def search() -> Fit:
        return fit(X, y, problem.names, max_time=max_time, seed=seed)

    done = kept_searches.searched(search, f"{problem.id}-{seed}", keep=keep, judge=judge)
    found = done.found
    is_right = has_law([each.expr for each in found.equations], problem, X, y)
    predicted = found.best.predict(np.ascontiguousarray(X.T))
    with np.errstate(all="ignore"):
        error = float(np.sqrt(np.mean(np.square(np.log(predicted / exact)))))
    return {
        "found": "yes" if is_right[found.index] else "no", "listed": "yes" if any(is_right) else "no",
        "error": f"{error:.4g}" if math.isfinite(error) else "inf", "formula": str(problem.formula),
    } | done.columns()  # fmt: skip


def has_law(exprs: Sequence[Expr], problem: BenchmarkProblem, X: Numbers, y: Numbers) -> list[bool]:  # noqa: N803
    """Return for each equation whether it has the form of the law."""
    from edhie.evaluate import read_data

    assert problem.truth is not None
    data, truth = read_data(X, y, names=problem.names), problem.truth
    return [is_same_form(truth, expr, data) for expr in exprs]


# -- tables -----------------------------------------------------------------------------


def summary(rows: Sequence[Row]) -> str:
    """Return the page of the results."""
    names = problem_names("develop")
    return sections(
        "Laws in SI units over many decades: runs that chose and that listed the law", rows,
        lambda row: (row["problem"], row["seed"]), lambda row: "develop" if row["problem"] in names else "report",
        table, __doc__,
    )  # fmt: skip


def table(rows: Sequence[Row]) -> str:
    """Return how often a law was chosen and listed, and the median error, by version."""
    versions = versions_of(rows)
    laws = dict.fromkeys((row["problem"], row["formula"]) for row in rows)
    lines = [
        [name, f"`{formula}`", *_counts([row for row in rows if row["problem"] == name], versions)]
        for name, formula in laws
    ]
    lines.append(["all", "", *_counts(rows, versions)])
    return markdown(
        ["law", "formula", *(f"{what}, {each}" for each in versions for what in ("chosen", "listed", "error"))], lines
    )


def _counts(rows: Sequence[Row], versions: Sequence[str]) -> list[str]:
    cells = []
    for version in versions:
        its = [row for row in rows if row["version"] == version]
        error = f"{np.median([float(row['error']) for row in its]):.2g}" if its else ""
        cells += [share(its, "found"), share(its, "listed"), error]
    return cells


if __name__ == "__main__":
    main()
