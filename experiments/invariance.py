"""Changes that should not matter: twenty laws, each fitted again with other units, orders, seeds and columns of noise.

python experiments/invariance.py --workers 2

Each of the laws in invariance.toml has 40 rows with noise of 3 % of each measurement. They are fitted with default
settings, 10 s each: as they are; with another seed of the search; with the rows in another order; with the columns in
another order (for a law of one column nothing changes, so this is a repetition); with the target times 1e12 and 1e-12;
with all columns times 1e6 and 1e-6; and with four more columns of noise. Each chosen equation is written in the first
units and compared with that of the first fit. The form is the same if one of the two has, with other constants and in
other units, the values of the other, and if both have as many constants, factors of units included. The difference is
the root mean square of the difference of predictions, over the standard deviation of the noise, at 200 points without
noise. A form is right if it is that of the law.

`--keep FOLDER` saves the searches, and `--judge` selects again among them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import kept_searches
from form_errors import is_same_form, written_form
from rows import Row, write_rows
from runs import CHOSEN, Fit, Numbers, fit, half_of_position, markdown, parser, run_fits, sections, versions_of

if TYPE_CHECKING:
    from edhie.bench.problem import BenchmarkProblem
    from edhie.evaluate import Data
    from edhie.expr import Expr

PROBLEMS = Path(__file__).with_suffix(".toml")
NOISE, SEED = 0.03, 0
OTHERS = ("noise1", "noise2", "noise3", "noise4")  # the columns of noise
CLOSE = 0.5  # of the noise: predictions that differ by less are counted as close
FIELDS = ("version", "problem", "variant", "right", "same", "difference", "form", "expression", *CHOSEN)


@dataclass(frozen=True)
class Variant:
    """A change of the table or of the search."""

    target: float = 1.0
    """Factor of the target."""
    columns: float = 1.0
    """Factor of all columns."""
    seed: int = SEED
    is_shuffled: bool = False
    """True if the rows are in another order."""
    is_reversed: bool = False
    """True if the columns are in another order."""
    is_noisy: bool = False
    """True if there are columns of noise."""


FIRST = "first"
VARIANTS = {
    FIRST: Variant(),
    "seed": Variant(seed=1),
    "row order": Variant(is_shuffled=True),
    "column order": Variant(is_reversed=True),
    "y·1e12": Variant(target=1e12),
    "y·1e-12": Variant(target=1e-12),
    "columns·1e6": Variant(columns=1e6),
    "columns·1e-6": Variant(columns=1e-6),
    "columns of noise": Variant(is_noisy=True),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the missing jobs, compare the variants with the first, and write the summary."""
    options = parser(__doc__, max_time=10.0)
    options.add_argument("--problems", nargs="*", default=[], help="which laws; all if none is named")
    options.add_argument("--variants", nargs="*", default=list(VARIANTS), choices=list(VARIANTS), help="which changes")
    kept_searches.add_options(options)
    given = options.parse_args(arguments)
    kept_searches.check_options(given)
    path = given.results / "invariance.csv"
    jobs = [
        {"version": given.label, "problem": name, "variant": variant}
        for name in problem_names(given.half)
        for variant in given.variants
        if not given.problems or name in given.problems
    ]
    if given.judge:
        kept_searches.forget(jobs, path, FIELDS)
    run = partial(run_variant, max_time=given.max_time, keep=given.keep, judge=given.judge)
    rows = compared(run_fits(run, jobs, path, FIELDS, given), again=jobs if given.judge else [])
    write_rows(rows, path, FIELDS)
    path.with_suffix(".md").write_text(summary(rows), encoding="utf-8")


def problem_names(half: str | None) -> list[str]:
    """Return the ids of one half of the laws, every other one of the file, or of all."""
    return [name for k, name in enumerate(_problems()) if half in (None, half_of_position(k))]


def _problems() -> dict[str, BenchmarkProblem]:
    from edhie.bench.problem import load_problems

    return {each.id: each for each in load_problems(PROBLEMS)}


# -- one run ----------------------------------------------------------------------------


def run_variant(job: Row, *, max_time: float, keep: Path | None = None, judge: bool = False) -> Row:
    """Fit a variant of one table, or select again among what was saved of it, and judge the form that is chosen."""
    law, variant = Law(_problems()[job["problem"]]), VARIANTS[job["variant"]]
    X, y, names = law.table(variant)  # noqa: N806

    def search() -> Fit:
        return fit(X, y, names, max_time=max_time, seed=variant.seed)

    name = f"{job['problem']}-{list(VARIANTS).index(job['variant'])}"
    done = kept_searches.searched(search, name, keep=keep, judge=judge)
    chosen = law.parsed(str(done.found.best.expr))
    is_right = law.is_same(law.truth, in_first_units(chosen, variant, law.problem.names))
    return {
        "right": "yes" if is_right else "no", "same": "", "difference": "",
        "form": written_form(chosen), "expression": str(chosen),
    } | done.columns()  # fmt: skip


@dataclass(frozen=True)
class Law:
    """One of the laws: its tables, and equations for them."""

    problem: BenchmarkProblem

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns, those of noise included."""
        return *self.problem.names, *OTHERS

    @cached_property
    def data(self) -> Data:
        """The rows of the first variant, with the columns of noise."""
        from edhie.evaluate import read_data

        X, y = self.problem.data("train", SEED, NOISE)  # noqa: N806
        return read_data(np.column_stack([X, _noise(len(y))]), y, names=self.names)

    def table(self, variant: Variant) -> tuple[Numbers, Numbers, list[str]]:
        """Return columns, target and names of a variant."""
        X, y = self.problem.data("train", SEED, NOISE)  # noqa: N806
        names = list(self.problem.names)
        X, y = X * variant.columns, y * variant.target  # noqa: N806
        if variant.is_noisy:
            X, names = np.column_stack([X, _noise(len(y))]), [*names, *OTHERS]  # noqa: N806
        if variant.is_reversed:
            X, names = np.ascontiguousarray(X[:, ::-1]), names[::-1]  # noqa: N806
        if variant.is_shuffled:
            order = np.random.default_rng(SEED).permutation(len(y))
            X, y = X[order], y[order]  # noqa: N806
        return X, y, names

    def parsed(self, text: str) -> Expr:
        """Return an equation over all columns, in the order of the problem."""
        from edhie.expr import parse
        from edhie.expr.standard_libraries import everything

        return parse(text, everything(self.names))

    def is_same(self, one: Expr, other: Expr) -> bool:
        """Return whether two equations in the first units have the same form."""
        return written_form(one) == written_form(other) or is_same_form(one, other, self.data)

    @property
    def truth(self) -> Expr:
        """The law over all columns."""
        assert self.problem.formula is not None
        return self.parsed(self.problem.formula)

    def difference(self, one: Expr, other: Expr) -> float:
        """Return the difference of two equations over the standard deviation of the noise, at rows without noise."""
        from edhie.evaluate import values
        from edhie.expr import Forest

        X, y = self.problem.data("test", SEED)  # noqa: N806
        columns = np.ascontiguousarray(np.column_stack([X, _noise(len(y))]).T)
        with np.errstate(all="ignore"):
            first, second = values(Forest.from_exprs([one, other]), columns)
            found = float(np.sqrt(np.mean(np.square((first - second) / (NOISE * y)))))
        return found if math.isfinite(found) else math.inf


def in_first_units(expr: Expr, variant: Variant, scaled: Sequence[str]) -> Expr:
    """Return an equation of a variant for the first units of the target and of the columns in `scaled`.

    >>> law = Law(_problems()["kepler"])
    >>> str(in_first_units(law.parsed("a/M + noise1"), Variant(target=0.5, columns=4.0), law.problem.names))
    '2*(4*a/(4*M) + noise1)'
    """
    from edhie.expr import Expr
    from edhie.expr.numerals import numeral

    tokens = ["*", numeral(1 / variant.target), *expr.tokens] if variant.target != 1 else list(expr.tokens)
    if variant.columns != 1:
        factor = numeral(variant.columns)
        tokens = [part for token in tokens for part in (("*", factor, token) if token in scaled else (token,))]
    return Expr(expr.library, tokens, expr.constants)


def _noise(n_rows: int) -> Numbers:
    """Return the columns of noise."""
    return np.random.default_rng([SEED, n_rows]).standard_normal((n_rows, len(OTHERS)))


def compared(rows: Sequence[Row], again: Sequence[Row] = ()) -> list[Row]:
    """Return the rows with the comparison with the first variant, where it is missing or the jobs were done `again`."""
    asked = {(job["version"], job["problem"]) for job in again}
    firsts = {(row["version"], row["problem"]): row for row in rows if row["variant"] == FIRST}
    found = []
    for row in rows:
        first = firsts.get((row["version"], row["problem"]))
        is_new = not row["same"] or (row["version"], row["problem"]) in asked
        found.append(row | _comparison(row, first) if first is not None and is_new else row)
    return found


def _comparison(row: Row, first: Row) -> Row:
    law = Law(_problems()[row["problem"]])
    one, other = (
        in_first_units(law.parsed(each["expression"]), VARIANTS[each["variant"]], law.problem.names)
        for each in (first, row)
    )
    return {"same": "yes" if law.is_same(one, other) else "no", "difference": f"{law.difference(one, other):.4g}"}


# -- tables -----------------------------------------------------------------------------


def summary(rows: Sequence[Row]) -> str:
    """Return the page of the results."""
    title = "Changes that should not matter: the same form, and the right one"
    names = problem_names("develop")
    return sections(
        title, rows, lambda row: (row["problem"], row["variant"]),
        lambda row: "develop" if row["problem"] in names else "report", table, __doc__,
    )  # fmt: skip


def table(rows: Sequence[Row]) -> str:
    """Return how often the form is the same and how often it is right: by variant, then by law."""
    versions = versions_of(rows)
    heads = [f"{what}, {each}" for each in versions for what in ("same form", "close", "right form")]
    by_variant = [[name, *_counts([row for row in rows if row["variant"] == name], versions)] for name in VARIANTS]
    by_variant.append(["all but the first", *_counts([row for row in rows if row["variant"] != FIRST], versions)])
    laws = dict.fromkeys(row["problem"] for row in rows)
    by_law = [[name, *_counts([row for row in rows if row["problem"] == name], versions)] for name in laws]
    firsts = {(row["problem"], row["version"]): row["equation"] for row in rows if row["variant"] == FIRST}
    chosen = [[name, *(f"`{firsts.get((name, each), '')}`" for each in versions)] for name in laws]
    told = f"Close: predictions differ from those of the first by less than {CLOSE:g} of the noise."
    return "\n\n".join(
        [
            told, markdown(["variant", *heads], by_variant), markdown(["law", *heads], by_law),
            markdown(["chosen first", *versions], chosen),
        ]
    )  # fmt: skip


def _counts(rows: Sequence[Row], versions: Sequence[str]) -> list[str]:
    """Return how many of the rows have the same form as the first, are close to it, and are right, by version."""
    cells = []
    for version in versions:
        its = [row for row in rows if row["version"] == version]
        known = [row for row in its if row["same"]]
        cells.append(f"{sum(row['same'] == 'yes' for row in known)} of {len(known)}")
        cells.append(f"{sum(float(row['difference']) < CLOSE for row in known)} of {len(known)}")
        cells.append(f"{sum(row['right'] == 'yes' for row in its)} of {len(its)}")
    return cells


if __name__ == "__main__":
    main()
