"""Small tables of real measurements: errors on unseen rows against those of the certified model.

python experiments/small.py --data FOLDER --workers 2

The tables are NIST's Statistical Reference Datasets for nonlinear regression. FOLDER has one CSV file for each and
models.csv with the certified models; the data are not part of edhie. Of each table 70 % of the rows are fitted. The
ratio is the RMSE of the chosen equation on the other rows over that of the certified model, whose constants are fitted
to the same 70 % by least squares, from the certified values; below 1, the chosen equation predicts better. The tables
have the median over five splits, 30 s each.
"""

from __future__ import annotations

import csv
import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from rows import Row
from runs import CHOSEN, Numbers, fit, markdown, parser, run_fits, sections, versions_of

SETS = {
    "develop": ("BoxBOD", "Chwirut2", "Eckerle4", "Kirby2", "MGH09", "Misra1a", "Nelson"),
    "report": ("ENSO", "Gauss2", "Lanczos3", "Misra1c", "Rat42", "Roszman1"),
}  # written down before any run
SPLITS = 5
FITTED = 0.7  # share of the rows
ENOUGH_ROWS, POOR = 12, 1.5  # sets with so many rows to fit whose median ratio exceeds this are counted
FIELDS = ("version", "set", "split", "rows", "ratio", "rmse", "certified_rmse", *CHOSEN)


@dataclass(frozen=True)
class Measured:
    """One of the sets, with its certified model."""

    name: str
    names: tuple[str, ...]
    """Names of the variables."""
    X: Numbers
    y: Numbers
    """The target; the logarithm of the measurements where the model is one of that."""
    model: str
    constants: tuple[float, ...]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the missing jobs, and write the summary of the table."""
    options = parser(__doc__, max_time=30.0)
    options.add_argument("--data", type=Path, required=True, help="folder of the measurements and models.csv")
    options.add_argument("--sets", nargs="*", default=[], help="which sets; all if none is named")
    options.add_argument("--splits", nargs="*", type=int, default=list(range(SPLITS)), help="which splits")
    given = options.parse_args(arguments)
    jobs = [
        {"version": given.label, "set": name, "split": str(split)}
        for split in given.splits
        for name in set_names(given.half)
        if not given.sets or name in given.sets
    ]
    run = partial(run_split, folder=given.data, max_time=given.max_time)
    rows = run_fits(run, jobs, given.results / "small.csv", FIELDS, given)
    (given.results / "small.md").write_text(summary(rows), encoding="utf-8")


def set_names(half: str | None) -> list[str]:
    """Return the names of one half of the sets, or of all."""
    return [name for each, names in SETS.items() if half in (None, each) for name in names]


def half_of(row: Row) -> str:
    """Return the half that a row's set is in."""
    return next(half for half, names in SETS.items() if row["set"] in names)


# -- one run ----------------------------------------------------------------------------


def run_split(job: Row, *, folder: Path, max_time: float) -> Row:
    """Fit one split of a set, and compare it with the certified model."""
    data, seed = read_set(folder, job["set"]), int(job["split"])
    fitted, rest = split_rows(data.name, len(data.y), seed)
    done = fit(data.X[fitted], data.y[fitted], data.names, max_time=max_time, seed=seed)
    ours = rmse(data.y[rest], done.found.best.predict(np.ascontiguousarray(data.X[rest].T)))
    certified = rmse(data.y[rest], model_values(data, refitted(data, fitted), rest))
    return {
        "rows": str(len(fitted)), "ratio": f"{ours / certified:.6g}", "rmse": f"{ours:.6g}",
        "certified_rmse": f"{certified:.6g}",
    } | done.columns()  # fmt: skip


def split_rows(name: str, rows: int, seed: int) -> tuple[Numbers, Numbers]:
    """Return the rows to fit and the others; they depend on the set's name, its number of rows and the seed alone."""
    digest = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")
    order = np.random.default_rng([seed, digest]).permutation(rows)
    cut = round(FITTED * rows)
    return np.sort(order[:cut]), np.sort(order[cut:])


def read_set(folder: Path, name: str) -> Measured:
    """Return one set of the folder."""
    from edhie.bench.problem import read_measurements
    from edhie.expr import parse
    from edhie.expr.interpret import interpret
    from edhie.expr.standard_libraries import everything

    with (folder / "models.csv").open(encoding="utf-8", newline="") as file:
        model = next(row for row in csv.DictReader(file) if row["name"] == name)
    X, y, names = read_measurements(folder / f"{name}.csv", "y")  # noqa: N806
    target = interpret(parse(model["target"], everything(["y"])), {"y": y})
    constants = tuple(map(float, model["certified_constants"].split()))
    return Measured(name, names, X, np.asarray(target, np.float64), model["certified_model"], constants)


def model_values(data: Measured, constants: Sequence[float], rows: Numbers) -> Numbers:
    """Return the values of the certified model with these constants, on these rows."""
    from edhie.expr import parse
    from edhie.expr.interpret import interpret
    from edhie.expr.standard_libraries import everything

    free = {f"b{k}": value for k, value in enumerate(constants, 1)}
    columns = dict(zip(data.names, data.X[rows].T, strict=True))
    found: Numbers = interpret(parse(data.model, everything([*columns, *free])), {**columns, **free})
    return found


def refitted(data: Measured, rows: Numbers) -> Numbers:
    """Return the constants of the certified model by least squares on these rows, from the certified ones."""
    from scipy.optimize import least_squares

    start = np.array(data.constants)

    def residuals(scale: Numbers) -> Numbers:
        return np.nan_to_num(model_values(data, scale * start, rows) - data.y[rows], nan=1e100, posinf=1e100)

    scales = least_squares(
        residuals, np.ones(len(start)), method="lm", ftol=1e-15, xtol=1e-15, gtol=1e-15, max_nfev=5000
    )
    found: Numbers = scales.x * start
    return found


def rmse(y: Numbers, values: Numbers) -> float:
    """Return the root of the mean squared error; infinite where a value is not finite."""
    return float(np.sqrt(np.mean(np.square(values - y)))) if np.isfinite(values).all() else math.inf


# -- tables -----------------------------------------------------------------------------


def summary(rows: Sequence[Row]) -> str:
    """Return the page of the results."""
    title = "Small tables of measurements: RMSE on unseen rows over that of the certified model"
    return sections(title, rows, lambda row: (row["set"], row["split"]), half_of, table, __doc__)


def table(rows: Sequence[Row]) -> str:
    """Return the median ratio of each set and the median of these, by version."""
    versions = versions_of(rows)
    names = [name for name in set_names(None) if any(row["set"] == name for row in rows)]
    medians = {(name, version): median_ratio(rows, name, version) for name in names for version in versions}
    fitted = {row["set"]: row["rows"] for row in rows}
    lines = [[name, fitted[name], *(f"{medians[name, each]:.3g}" for each in versions)] for name in names]
    overall = [np.median([medians[name, each] for name in names]) for each in versions]
    large = [name for name in names if int(fitted[name]) >= ENOUGH_ROWS]
    poor = [sum(medians[name, each] > POOR for name in large) for each in versions]
    lines.append(["median of sets", "", *(f"{each:.3g}" for each in overall)])
    lines.append([f"above {POOR} with {ENOUGH_ROWS} rows or more", "", *(f"{each} of {len(large)}" for each in poor)])
    return markdown(["set", "rows fitted", *versions], lines)


def median_ratio(rows: Sequence[Row], name: str, version: str) -> float:
    """Return the median ratio over the splits of a set."""
    return float(np.median([float(row["ratio"]) for row in rows if (row["set"], row["version"]) == (name, version)]))


if __name__ == "__main__":
    main()
