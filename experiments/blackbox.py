"""SRBench's black-box problems: R² on unseen rows and the size of the equation, beside the published results.

python experiments/blackbox.py --data FOLDER --half develop --workers 2

FOLDER has the regression sets of the Penn Machine Learning Benchmarks (`NAME.tsv.gz`, column `target`), and beside it
lies `srbench_blackbox.csv` with the results published with SRBench (`--published`); neither is part of edhie. The
protocol is SRBench's: 75 % of the rows to fit, at most 10,000 of them, columns and target standardised. Sets at even
places of the sorted list, from 0, are for development, the others for the report. Every choice among the equations of
a fit is scored, so that all of them come from the same search. With `--keep FOLDER`, the equations of each fit are
saved; `--judge` scores the choice `accuracy` among them again, without new searches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from blackbox_tables import CHOICES, page, ranks_figure
from rows import Row, read_rows, write_rows
from runs import CHOSEN, Numbers, fit, half_of_position, parser, run_fits

if TYPE_CHECKING:
    from edhie.fit import Discovery, Equation

LACKING = frozenset({"1191_BNG_pbc", "1196_BNG_pharynx", "1595_poker"})  # published, but not in the folder
FITTED, MOST_ROWS = 0.75, 10_000  # share of the rows to fit, and how many of them at most
OTHERS = tuple(f"{what}_{choice}" for choice in CHOICES[1:] for what in ("r2", "size", "equation"))
FIELDS = ("version", "set", "half", "seed", "rows", "columns", "r2", *CHOSEN, *OTHERS)


class Split(NamedTuple):
    """Rows to fit and rows to predict, standardised by the rows to fit."""

    names: tuple[str, ...]
    X: Numbers
    y: Numbers
    X_test: Numbers
    y_test: Numbers


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what the table lacks, and write its summary and figure."""
    options = parser(__doc__, max_time=60.0)
    options.add_argument("--data", type=Path, required=True, help="folder of the sets")
    options.add_argument(
        "--published", type=Path, help="SRBench's results (default: srbench_blackbox.csv beside FOLDER)"
    )
    options.add_argument("--sets", nargs="*", default=[], help="which sets; all if none is named")
    options.add_argument("--seeds", nargs="*", type=int, default=[0], help="seeds of split and search (default: 0)")
    options.add_argument("--keep", type=Path, metavar="FOLDER", help="save the equations of each fit in this folder")
    options.add_argument("--judge", action="store_true", help="score `accuracy` again, on the fits in --keep")
    given = options.parse_args(arguments)
    published = read_published(given.published or given.data.parent / "srbench_blackbox.csv")
    halves = halves_of(published)
    if given.judge and given.keep is None:
        raise SystemExit("--judge needs the folder of the fits; name it with --keep")
    unknown = [name for name in given.sets if name not in halves]
    if unknown:
        raise SystemExit(f"no set is named {unknown[0]}; the published results name {len(halves)} sets of the folder")
    jobs = [
        {"version": given.label, "set": name, "half": half, "seed": str(seed)}
        for seed in given.seeds
        for name, half in halves.items()
        if given.half in (None, half) and (not given.sets or name in given.sets)
    ]
    run = partial(run_set, folder=given.data, max_time=given.max_time, keep=given.keep)
    rows = run_fits(run, jobs, given.results / "blackbox.csv", FIELDS, given)
    if given.judge:
        rows = [judged_again(row, folder=given.data, keep=given.keep) for row in rows]
        write_rows(rows, given.results / "blackbox.csv", FIELDS)
    (given.results / "blackbox.md").write_text(page(rows, published), encoding="utf-8")
    ranks_figure(rows, published).savefig(given.results / "blackbox.png", metadata={"Software": None})


def read_published(path: Path) -> list[Row]:
    """Return SRBench's published results, one row for each method and set."""
    if not path.is_file():
        raise SystemExit(f"{path} is missing; say with --published where SRBench's results are")
    return read_rows(path)


def halves_of(published: Sequence[Row]) -> dict[str, str]:
    """Return the sets in order, each with its half, which depends on its place in the list alone."""
    names = sorted({row["dataset"] for row in published} - LACKING)
    return {name: half_of_position(place) for place, name in enumerate(names)}


# -- one run ----------------------------------------------------------------------------


def run_set(job: Row, *, folder: Path, max_time: float, keep: Path | None = None) -> Row:
    """Fit one set, and score each choice on the rows that were kept; save the equations in the folder `keep`."""
    from edhie.fit import Discovery
    from edhie.fit.run_folder import save

    seed = int(job["seed"])
    split = split_set(*read_set(folder, job["set"]), seed=seed)
    done = fit(split.X, split.y, split.names, max_time=max_time, seed=seed)
    found = done.found
    if keep is not None:
        front = replace(found.result, candidates=found.result.front.candidates)  # without all that was explored
        save(replace(found, result=front), keep / name_of(job))
    row = {"rows": str(len(split.y)), "columns": str(len(split.names)), "r2": f"{r2_of(found.best, split):.6g}"}
    row |= done.columns() | {"size": str(nodes(found.best))} | scored("accuracy", most_predictive(found), split)
    for choice in CHOICES[2:]:
        chosen = replace(found.settings, selection=choice)
        row |= scored(choice, Discovery.of(found.result, found.problem, chosen).best, split)
    return row


def judged_again(row: Row, *, folder: Path, keep: Path) -> Row:
    """Return a row with the choice `accuracy` among the equations of its fit, which is in the folder `keep`."""
    from edhie.fit.run_folder import load

    split = split_set(*read_set(folder, row["set"]), seed=int(row["seed"]))
    return row | scored("accuracy", most_predictive(load(keep / name_of(row), whole=False)), split)


def most_predictive(found: Discovery) -> Equation:
    """Return the equation that a fit with `selection="accuracy"` would choose."""
    from edhie.fit.select import position_of_most_predictive

    negligible = found.result.front.negligible
    at = position_of_most_predictive(found.equations, found.problem, found.settings, negligible=negligible)
    return found.equations[at]


def scored(choice: str, equation: Equation, split: Split) -> Row:
    """Return the columns of a choice other than the default."""
    return {
        f"r2_{choice}": f"{r2_of(equation, split):.6g}", f"size_{choice}": str(nodes(equation)),
        f"equation_{choice}": f"{equation.expr:.6g}",
    }  # fmt: skip


def name_of(job: Row) -> str:
    """Return the name of the folder in which the equations of a fit are saved."""
    return "-".join((job["version"], job["set"], job["seed"]))


def read_set(folder: Path, name: str) -> tuple[tuple[str, ...], Numbers, Numbers]:
    """Return the names of the columns, the columns and the target of a set."""
    import pandas

    table = pandas.read_csv(folder / f"{name}.tsv.gz", sep="\t")
    columns = table.drop(columns="target")
    return tuple(columns), columns.to_numpy(np.float64), table["target"].to_numpy(np.float64)


def split_set(names: tuple[str, ...], X: Numbers, y: Numbers, *, seed: int) -> Split:  # noqa: N803
    """Return the rows to fit and to predict, by the seed; at most so many are fitted, and all others predicted."""
    order = np.random.default_rng(seed).permutation(len(y))
    cut = round(FITTED * len(y))
    fitted, rest = np.sort(order[: min(cut, MOST_ROWS)]), np.sort(order[cut:])

    def standardised(values: Numbers) -> tuple[Numbers, Numbers]:
        mean, spread = values[fitted].mean(axis=0), values[fitted].std(axis=0)
        scaled = (values - mean) / np.where(spread > 0, spread, 1.0)
        return scaled[fitted], scaled[rest]

    (inputs, others), (targets, others_y) = standardised(X), standardised(y)
    return Split(names, inputs, targets, others, others_y)


def r2_of(equation: Equation, split: Split) -> float:
    """Return R² on the rows to predict; minus infinity if the equation has no value in one of them."""
    from sklearn.metrics import r2_score

    predicted = equation.predict(np.ascontiguousarray(split.X_test.T))
    return float(r2_score(split.y_test, predicted)) if np.isfinite(predicted).all() else -np.inf


def nodes(equation: Equation) -> int:
    """Return the size of an equation as SRBench counts it: the nodes of its SymPy expression."""
    import sympy

    return sum(1 for _ in sympy.preorder_traversal(equation.sympy()))


if __name__ == "__main__":
    main()
