"""Ablation of the selection criterion on small noisy tables: the whole criterion, and without one part.

python experiments/criterion_ablation.py --workers 2

The problems are the twenty textbook formulas with 20 rows and 5 % noise and with 50 rows and 10 % noise. Taken away are
the resolution of the target (rounded to three digits here), the cost of constants by their precision (each costs half
the logarithm of the number of rows instead), and the learned structure prior (all symbols are equally likely instead).
In one variant the prior is learned without the laws of the textbook and Feynman problems, which its table contains.
Search and selection use the same criterion. A formula is chosen as in textbook.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np

import textbook
from edhie.corpora import formulas
from edhie.evaluate import read_data
from edhie.fit import Settings, discover
from edhie.selection.description import Criterion
from edhie.selection.prior.structure_prior import StructurePrior
from rows import Row
from runs import CHOSEN, Fit, Numbers, markdown, notes, parser, run_fits, share, timed

WHOLE = "everything"
VARIANTS = {
    WHOLE: lambda: Criterion(),
    "without resolution": lambda: Criterion(has_resolution=False),
    "without precision": lambda: Criterion(has_precision=False),
    "prior without these laws": lambda: Criterion(prior=prior_without_problems()),
    "uniform symbols": lambda: Criterion(prior=StructurePrior.uniform()),
}
CASES = (("20", "0.05"), ("50", "0.1"))
DIGITS = 3  # of the target, as an instrument would show it
DRAWS = 10_000  # bootstrap samples of the problems
FIELDS = ("version", "variant", "problem", "rows", "noise", "seed", "found", *CHOSEN)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the missing jobs, and write the summary of the table."""
    options = parser(__doc__, max_time=10.0)
    options.add_argument("--seeds", nargs="*", type=int, default=[0, 1], help="which seeds")
    given = options.parse_args(arguments)
    jobs = [
        {"version": given.label, "variant": each, "problem": name, "rows": rows, "noise": noise, "seed": str(seed)}
        for seed in given.seeds
        for name in textbook.problem_names(given.half)
        for rows, noise in CASES
        for each in VARIANTS
    ]
    path = given.results / "criterion-ablation.csv"
    rows = run_fits(partial(run_variant, max_time=given.max_time), jobs, path, FIELDS, given)
    path.with_suffix(".md").write_text(summary(rows), encoding="utf-8")


def run_variant(job: Row, *, max_time: float) -> Row:
    """Fit one table with one variant of the criterion."""
    problem, seed = textbook.named(job["problem"]), int(job["seed"])
    X, y = replace(problem, n_train=int(job["rows"])).data("train", seed, float(job["noise"]))  # noqa: N806
    data = read_data(X, with_digits(y), names=list(problem.names))
    settings = Settings(max_time=max_time, seed=seed)
    done: Fit = timed(lambda: discover(data, settings, criterion=VARIANTS[job["variant"]]()))
    return {"found": textbook.verdict(done.found.best.expr, problem, seed)} | done.columns()


@cache
def prior_without_problems() -> StructurePrior:
    """Return the prior learned from the formulas that are in no benchmark."""
    return StructurePrior.learnt([formulas().without(problems=["textbook/", "feynman/"]).forest])


def with_digits(y: Numbers) -> Numbers:
    """Return the target with as many decimals as its largest value has at three digits."""
    return np.round(y, DIGITS - 1 - int(np.floor(np.log10(np.abs(y).max()))))


# -- tables -----------------------------------------------------------------------------


def summary(rows: Sequence[Row]) -> str:
    """Return how often each variant chose the formula, and the gain of the whole criterion over it."""
    lines = []
    for each in VARIANTS:
        its = [row for row in rows if row["variant"] == each]
        cases = [[row for row in its if (row["rows"], row["noise"]) == case] for case in CASES]
        gain = "" if each == WHOLE else gain_over(rows, each)
        lines.append([each, *(share(case, "found") for case in cases), share(its, "found"), gain])
    heads = ["criterion", *(f"{n} rows, {float(noise):.0%}" for n, noise in CASES), "all", "gain of everything"]
    note = "The gain is in per cent of the runs, with a 95 % confidence interval by bootstrap over the formulas."
    return f"# Parts of the criterion\n\n{notes(__doc__ or '')}\n\n{markdown(heads, lines)}\n\n{note}\n"


def gain_over(rows: Sequence[Row], variant: str) -> str:
    """Return the gain of the whole criterion in per cent of the runs, with its confidence interval."""
    scores = {
        (row["variant"], row["problem"], row["rows"], row["noise"], row["seed"]): row["found"] == "yes" for row in rows
    }
    by_problem: dict[str, list[int]] = {}
    for (name, *case), right in scores.items():
        if name == WHOLE and (variant, *case) in scores:
            by_problem.setdefault(case[0], []).append(int(right) - int(scores[(variant, *case)]))  # type: ignore[index]
    sums = np.array([sum(each) for each in by_problem.values()], float)
    counts = np.array([len(each) for each in by_problem.values()], float)
    drawn = np.random.default_rng(0).integers(len(sums), size=(DRAWS, len(sums)))
    low, high = np.percentile(100 * sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1), [2.5, 97.5])
    return f"{100 * sums.sum() / counts.sum():+.1f} ({low:+.1f} to {high:+.1f})"


if __name__ == "__main__":
    main()
