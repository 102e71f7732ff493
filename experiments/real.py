"""Tables of real measurements beside the law that science has for them: errors on rows left out, and answers to read.

python experiments/real.py --data FOLDER --workers 2

FOLDER has a CSV file for each table, and laws.csv with the columns `name`, `target`, `features` and `law`, in which `c`
is any constant; the data are not part of edhie. Each table is fitted once, 15 s with default settings. The ratio is the
error of the chosen equation on rows left out over that of the law; below 1, the equation predicts better.

Errors are those of five-fold cross-validation, with the constants of both fitted again without each fold: 20 times with
other folds for fewer than 50 rows, 10 times for fewer than 200, else 3 times, and the median of these. Of fewer than 12
rows, each is left out once. Numbers of the chosen equation are constants too, except 1 and exponents that are multiples
of a half. The law is fitted from many starting points, under the noise model that describes its residuals best, and all
errors and fits have the weights that rows have under this model.

An equation is the law if, with other constants, it has the values of the law at the rows and between them, and no more
constants; or if it is the law with special constants, such as an exponent of 1, none of them without effect.

`--keep FOLDER` saves the searches; `--judge` selects again among them, without new ones. Sorted by name, tables at even
places, from 0, are for development, the others for the report. The verdicts of a scientist on the answers are in
real.toml.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import kept_searches
from form_errors import fitted_law, form_of, has_form, left_out_error, weighted
from rows import Row, read_rows
from runs import (
    CHOSEN,
    Fit,
    Numbers,
    fit,
    half_of_position,
    markdown,
    parser,
    run_fits,
    sections,
    share,
    versions_of,
)

if TYPE_CHECKING:
    from edhie.fit import Discovery, Equation

READ = Path(__file__).with_suffix(".toml")
VERDICTS = ("sign", "doubtful", "throw away")
SEED = 0
POOR, LIKELY = 1.15, 0.05  # ratios above and weights from which tables are counted
ALTERNATIVES = 3  # that are shown beside an answer
FIELDS = (
    "version", "table", "half", "rows", "law", "fitted_law", "law_noise", "ratio", "error", "law_error", "is_law",
    "law_shown", "law_weight", "shown", "answer", "r2", "weight", "alternatives", *CHOSEN,
)  # fmt: skip

Reading = Mapping[str, Mapping[str, Mapping[str, str]]]
"""Verdict and reason, by version and table."""


class Table(NamedTuple):
    """Measurements, with the law that science has for them."""

    name: str
    target: str
    names: tuple[str, ...]
    """Names of the columns."""
    X: Numbers
    y: Numbers
    law: str


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what the table lacks, and write its summary."""
    options = parser(__doc__, max_time=15.0)
    options.add_argument("--data", type=Path, help="folder of the tables; without it, only the summary is written")
    options.add_argument("--tables", nargs="*", default=[], help="which tables; all if none is named")
    kept_searches.add_options(options)
    given = options.parse_args(arguments)
    kept_searches.check_options(given)
    path = given.results / "real.csv"
    rows = read_rows(path)
    if given.data is not None:
        jobs = [
            {"version": given.label, "table": name, "half": half}
            for name, half in halves_of(given.data).items()
            if given.half in (None, half) and (not given.tables or name in given.tables)
        ]
        if given.judge:
            kept_searches.forget(jobs, path, FIELDS)
        run = partial(run_table, folder=given.data, max_time=given.max_time, keep=given.keep, judge=given.judge)
        rows = run_fits(run, jobs, path, FIELDS, given)
    if rows:
        path.with_suffix(".md").write_text(summary(rows, read_verdicts(READ)), encoding="utf-8")


def halves_of(folder: Path) -> dict[str, str]:
    """Return the tables of a folder in order, each with its half, which depends on its place in the list alone."""
    names = sorted(row["name"] for row in _laws(folder))
    return {name: half_of_position(place) for place, name in enumerate(names)}


def read_table(folder: Path, name: str) -> Table:
    """Return one table of the folder."""
    from edhie.bench.problem import read_measurements

    law = next(row for row in _laws(folder) if row["name"] == name)
    X, y, names = read_measurements(folder / f"{name}.csv", law["target"], law["features"].split())  # noqa: N806
    return Table(name, law["target"], names, X, y, law["law"])


def _laws(folder: Path) -> list[Row]:
    if not (folder / "laws.csv").is_file():
        raise SystemExit(f"{folder / 'laws.csv'} is missing; say with --data where the tables are")
    return read_rows(folder / "laws.csv")


def read_verdicts(path: Path) -> Reading:
    """Return what was read into the answers: by version and table, a verdict and the reason."""
    found: Reading = tomllib.loads(path.read_text(encoding="utf-8"))
    for version, tables in found.items():
        for name, read in tables.items():
            if read.get("verdict") not in VERDICTS or not read.get("why"):
                raise SystemExit(
                    f"{path}, [{version}.{name}]: write why, and one of the verdicts {', '.join(VERDICTS)}"
                )
    return found


# -- one run ----------------------------------------------------------------------------


def run_table(job: Row, *, folder: Path, max_time: float, keep: Path | None = None, judge: bool = False) -> Row:
    """Fit one table, or select again among what was saved of it, and compare the equations shown with its law."""
    table = read_table(folder, job["table"])

    def search() -> Fit:
        return fit(table.X, table.y, table.names, max_time=max_time, seed=SEED)

    done = kept_searches.searched(search, table.name, keep=keep, judge=judge)
    return compared(done.found, table) | done.columns()


def compared(found: Discovery, table: Table) -> Row:
    """Return the columns on the chosen equation, the law, and the alternatives."""
    from edhie.evaluate import read_data
    from edhie.expr import parse
    from edhie.expr.standard_libraries import everything

    data = read_data(table.X, table.y, names=table.names)
    law, noise = fitted_law(parse(table.law, everything(table.names)), data)
    rows = weighted(data, law, noise)
    error, law_error = left_out_error(form_of(found.best.expr), rows), left_out_error(law, rows)
    is_law = has_form([each.expr for each in found.equations], law, data)
    others = sorted((each for each in found.equations if each is not found.best), key=lambda each: -(each.weight or 0))
    return {
        "rows": str(len(table.y)), "law": table.law, "fitted_law": f"{law:.6g}", "law_noise": noise.name,
        "ratio": f"{error / law_error:.4g}", "error": f"{error:.6g}", "law_error": f"{law_error:.6g}",
        "is_law": _yes(is_law[found.index]), "law_shown": _yes(any(is_law)),
        "law_weight": f"{sum(each.weight or 0.0 for each, ok in zip(found.equations, is_law, strict=True) if ok):.4g}",
        "shown": str(len(found.equations)), "answer": _answer(found.best, table), "r2": f"{found.best.r2:.6g}",
        "weight": f"{found.best.weight or 0.0:.4g}",
        "alternatives": json.dumps([[each.weight or 0.0, _answer(each, table)] for each in others[:ALTERNATIVES]]),
    }  # fmt: skip


def _answer(equation: Equation, table: Table) -> str:
    return f"{table.target} = {equation.right_side()}"


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "no"


# -- tables -----------------------------------------------------------------------------


def summary(rows: Sequence[Row], verdicts: Reading) -> str:
    """Return the page of the results: figures by version, then the answers of each version."""
    title = "Tables of real measurements: errors on rows left out over those of the known law"
    figures = sections(title, rows, lambda row: row["table"], lambda row: row["half"], table_of_figures, __doc__)
    parts = [figures.rstrip("\n")]
    for version in versions_of(rows):
        its = sorted((row for row in rows if row["version"] == version), key=lambda row: row["table"])
        parts.append(f"## Answers, {version}\n\n{answers(its, verdicts.get(version, {}))}")
    return "\n\n".join(parts) + "\n"


def table_of_figures(rows: Sequence[Row]) -> str:
    """Return the summary of each version, and the ratio of each table by version."""
    versions = versions_of(rows)
    by_version = {each: [row for row in rows if row["version"] == each] for each in versions}
    lines = [[each, *figures_of(its)] for each, its in by_version.items()]
    heads = ["version", "tables", "median ratio", f"above {POOR}", "law chosen", "law shown",
             f"law shown with {LIKELY:.0%} or more", "equations shown (median)"]  # fmt: skip
    ratios = {(row["table"], row["version"]): row["ratio"] for row in rows}
    rows_of = {row["table"]: row["rows"] for row in rows}
    by_table = [[name, rows_of[name], *(ratios.get((name, each), "") for each in versions)] for name in sorted(rows_of)]
    return "\n\n".join([markdown(heads, lines), markdown(["ratio of", "rows", *versions], by_table)])


def figures_of(rows: Sequence[Row]) -> list[str]:
    """Return the summary of the runs of one version."""
    ratios = [float(row["ratio"]) for row in rows]
    likely = sum(float(row["law_weight"]) >= LIKELY for row in rows)
    return [
        str(len(rows)), f"{np.median(ratios):.3g}", f"{sum(each > POOR for each in ratios)} of {len(rows)}",
        share(rows, "is_law"), share(rows, "law_shown"), f"{likely} of {len(rows)}",
        f"{np.median([int(row['shown']) for row in rows]):g}",
    ]  # fmt: skip


def answers(rows: Sequence[Row], verdicts: Mapping[str, Mapping[str, str]]) -> str:
    """Return all answers of one version, to be read."""
    heads = ["table", "rows", "law, fitted", "ratio", "answer", "R²", "weight", "alternatives", "a scientist would say"]
    lines = []
    for row in rows:
        others = [f"{weight:.0%}: `{text}`" for weight, text in json.loads(row["alternatives"])]
        is_law = ", the law" if row["is_law"] == "yes" else ""
        read = verdicts.get(row["table"], {})
        lines.append(
            [
                row["table"], row["rows"], f"`{row['fitted_law']}`, {row['law_noise']} noise",
                f"{float(row['ratio']):.3g}", f"`{row['answer']}`{is_law}", row["r2"], f"{float(row['weight']):.0%}",
                "<br>".join(others), f"{read['verdict']}: {read['why']}" if read else "",
            ]
        )  # fmt: skip
    counts = {each: [read["verdict"] for read in verdicts.values()].count(each) for each in VERDICTS}
    told = [", ".join(f"{count} × {each}" for each, count in counts.items()) + "."] if verdicts else []
    return "\n\n".join([*told, markdown(heads, lines)])


if __name__ == "__main__":
    main()
