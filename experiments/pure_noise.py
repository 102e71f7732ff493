"""Tables of pure noise: how often a constant is chosen, as it should be.

python experiments/pure_noise.py --workers 2

200 tables with 10 to 200 rows and 1 to 5 columns, 5 s each. The target is drawn independently of the columns, so that a
constant is the right choice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from rows import Row
from runs import CHOSEN, Numbers, fit, markdown, parser, run_fits, sections, share, versions_of

TABLES = 200
DEVELOP = 100  # the first tables are for development, the others for the report
LEAST_ROWS, MOST_ROWS, MOST_COLUMNS = 10, 200, 5
FIELDS = ("version", "table", "rows", "columns", "target", "constant", *CHOSEN)
Draw = Callable[[np.random.Generator, int], Numbers]
COLUMNS: dict[str, Draw] = {
    "uniform": lambda rng, n: rng.uniform(0, 1, n),
    "wide": lambda rng, n: rng.uniform(-50, 50, n),
    "normal": lambda rng, n: rng.normal(0, 1, n),
    "far": lambda rng, n: rng.normal(300, 5, n),
    "lognormal": lambda rng, n: rng.lognormal(0, 1, n),
    "whole": lambda rng, n: rng.integers(0, 10, n).astype(np.float64),
    "even": lambda _, n: np.arange(n, dtype=np.float64),
}
TARGETS: dict[str, Draw] = {
    "normal": lambda rng, n: rng.normal(rng.choice([0.0, 10.0]), 1, n),
    "lognormal": lambda rng, n: rng.lognormal(0, 0.5, n),
    "uniform": lambda rng, n: rng.uniform(0, 1, n),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the missing jobs, and write the summary of the table."""
    options = parser(__doc__, max_time=5.0)
    options.add_argument("--tables", type=int, default=TABLES, help="how many tables (default: %(default)s)")
    given = options.parse_args(arguments)
    jobs = [
        {"version": given.label, "table": str(number)}
        for number in range(given.tables)
        if given.half in (None, half_of({"table": str(number)}))
    ]
    run = partial(run_table, max_time=given.max_time)
    path = given.results / "pure-noise.csv"
    rows = run_fits(run, jobs, path, FIELDS, given)
    path.with_suffix(".md").write_text(summary(rows), encoding="utf-8")


def half_of(row: Row) -> str:
    """Return the half that a table is in."""
    return "develop" if int(row["table"]) < DEVELOP else "report"


def noise_table(number: int) -> tuple[Numbers, Numbers, str]:
    """Return the columns, the target and the distribution of the target of a table."""
    rng = np.random.default_rng([number, 20])
    rows = round(float(np.exp(rng.uniform(np.log(LEAST_ROWS), np.log(MOST_ROWS)))))
    kinds = rng.choice(list(COLUMNS), rng.integers(1, MOST_COLUMNS + 1))
    columns = np.column_stack([COLUMNS[kind](rng, rows) for kind in kinds])
    target = list(TARGETS)[number % len(TARGETS)]
    return columns, TARGETS[target](rng, rows), target


def run_table(job: Row, *, max_time: float) -> Row:
    """Fit one table."""
    X, y, target = noise_table(int(job["table"]))  # noqa: N806
    rows, columns = X.shape
    done = fit(X, y, [f"x{k + 1}" for k in range(columns)], max_time=max_time, seed=int(job["table"]))
    return {
        "rows": str(rows), "columns": str(columns), "target": target,
        "constant": "no" if done.found.best.expr.variables else "yes",
    } | done.columns()  # fmt: skip


# -- tables -----------------------------------------------------------------------------


def summary(rows: Sequence[Row]) -> str:
    """Return the page of the results."""
    title = "Tables of pure noise: runs that chose a constant"
    return sections(title, rows, lambda row: row["table"], half_of, table, __doc__)


def table(rows: Sequence[Row]) -> str:
    """Return how often a constant was chosen, by version and by rows, columns and target."""
    versions, groups = versions_of(rows), dict[str, list[Row]]()
    for row in rows:
        few = "fewer than 30 rows" if int(row["rows"]) < 30 else "30 rows or more"
        many = "one column" if row["columns"] == "1" else "several columns"
        for group in (few, many, f"{row['target']} target", "all"):
            groups.setdefault(group, []).append(row)
    lines = [
        [name, *(share([row for row in groups[name] if row["version"] == each], "constant") for each in versions)]
        for name in [*sorted(set(groups) - {"all"}), "all"]
    ]
    return markdown(["tables", *versions], lines)


if __name__ == "__main__":
    main()
