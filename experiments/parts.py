"""What each part of the default search adds, from runs with random parts left out.

python experiments/parts.py --data FOLDER --workers 2

Each run leaves out every part with a probability of 0.2, independently. A regression on the parts, with a level of its
own for each problem, gives the effects of all parts from all runs. That needs far fewer runs than a comparison for each
part. Problems are of the halves for development: Feynman equations that took a second or more, without noise, and those
with 10 % noise that were sometimes missed; textbook formulas with 20 rows and 5 % noise and with 50 rows and 10 %; laws
of `invariance.py`; black-box sets; and four deep functions of one column (`parts.toml`). FOLDER has the black-box
sets; 20 s each.

A score is between 0 and 1: without noise, the share of the time that was left when an exact equation was found; for
deep functions, the digits of the fit over 12; with noise, 1 for the shortest description that any run has found for the
problem, 0 for one that is 10 bits longer; for black-box sets, R² on unseen rows. Effects are in hundredths.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from blackbox import halves_of, r2_of, read_published, read_set, split_set
from feynman_noise import with_noise
from rows import Row, run_missing
from runs import MOST_SHIPPED, Numbers, markdown, notes, parser, prepare

PROBLEMS = Path(__file__).with_suffix(".toml")
LEFT_OUT = 0.2  # probability
DIGITS, BITS = 12.0, 10.0  # of a deep function's fit that count as exact; by which a description is too long
EXACT = 1e-9  # error over the target's deviation
FEYNMAN = (
    "B11", "II.35.21", "B1", "B19", "B13", "I.32.17", "I.15.3x", "I.40.1", "B3", "I.6.2b", "I.29.16", "B15", "I.50.26",
    "II.6.15b", "B17", "III.4.33", "III.15.12", "III.8.54", "B7", "I.18.14",
)  # fmt: skip
NOISY = (
    "I.9.18", "I.15.3x", "I.29.16", "I.32.17", "II.11.28", "II.13.23", "III.4.33", "III.8.54", "B1", "B3", "B7", "B9",
    "B11", "B15", "B17", "B19",
)  # fmt: skip
SETS = 20  # black-box sets
FIELDS = ("family", "problem", "run", "left_out", "exact", "error", "bits", "r2", "seconds", "cpu", "equation")
RESAMPLES = 2000


class Table(NamedTuple):
    """The rows of a problem."""

    names: Sequence[str]
    X: Numbers
    y: Numbers
    split: Any = None
    """Of a black-box set: the rows to fit and to predict."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the missing jobs, and write the summary of the table."""
    options = parser(__doc__, max_time=20.0, halves=False)
    options.add_argument("--data", type=Path, required=True, help="folder of the black-box sets")
    options.add_argument("--families", nargs="*", default=list(FAMILIES), choices=list(FAMILIES))
    options.add_argument("--runs", type=int, default=12, help="of each problem (default: %(default)s)")
    options.add_argument("--first", type=int, default=0, help="number of the first run (default: %(default)s)")
    given = options.parse_args(arguments)
    path = given.results / "parts.csv"
    jobs = [
        {"family": family, "problem": name, "run": str(number)}
        for number in range(given.first, given.first + given.runs)
        for family in given.families
        for name in FAMILIES[family](given.data)
    ]
    run = partial(run_problem, folder=given.data, max_time=given.max_time)
    rows = run_missing(run, jobs, path, FIELDS, workers=given.workers, prepare=prepare)
    path.with_suffix(".md").write_text(summary(rows), encoding="utf-8")


# -- problems -----------------------------------------------------------------------------


def _every_other(name: str) -> list[str]:
    from edhie.bench.problem import load_problems

    return [each.id for each in load_problems(Path(__file__).with_name(name))][::2]


def _sets(folder: Path) -> list[str]:
    halves = halves_of(read_published(folder.parent / "srbench_blackbox.csv"))
    names = [name for name, half in halves.items() if half == "develop"]
    return names[:: max(1, len(names) // SETS)][:SETS]


FAMILIES: dict[str, Callable[[Path], Sequence[str]]] = {
    "feynman": lambda folder: FEYNMAN,
    "deep": lambda folder: [each["id"] for each in tomllib.loads(PROBLEMS.read_text(encoding="utf-8"))["problem"]],
    "feynman, noise": lambda folder: NOISY,
    "textbook, 20 rows": lambda folder: _every_other("textbook.toml"),
    "textbook, 50 rows": lambda folder: _every_other("textbook.toml"),
    "laws": lambda folder: _every_other("invariance.toml"),
    "black-box": _sets,
}


def table_of(family: str, name: str, folder: Path) -> Table:
    """Return the rows of a problem; they are the same for all runs."""
    from edhie.bench.problem import load_problems

    if family == "black-box":
        split = split_set(*read_set(folder, name), seed=0)
        return Table(split.names, split.X, split.y, split)
    files = {
        "deep": PROBLEMS,
        "laws": PROBLEMS.with_name("invariance.toml"),
        "textbook": PROBLEMS.with_name("textbook.toml"),
    }
    source = files.get(family.partition(",")[0], "feynman120")
    problem = next(each for each in load_problems(source) if each.id == name)
    n_rows, noise = {"textbook, 20 rows": (20, 0.05), "textbook, 50 rows": (50, 0.1), "laws": (40, 0.03)}.get(
        family, (problem.n_train, 0.0)
    )
    X, y = replace(problem, n_train=n_rows).data("train", 0, noise)  # noqa: N806
    return Table(problem.names, X, with_noise(y, name, 0.1, 0) if family == "feynman, noise" else y)


# -- parts --------------------------------------------------------------------------------


def nothing(*given: Any, **options: Any) -> list[Any]:
    """Return no expressions, in place of a part that would write some."""
    del given, options
    return []


def _patches() -> dict[str, list[tuple[Any, str, Any]]]:
    """Return what replaces each part that has no switch of its own: object, attribute and value."""
    from edhie.search.mosaic import search
    from edhie.search.mosaic.config import Opening, Quotients, Rounds
    from edhie.search.mosaic.fitting import findings, improving, scoring

    written = {name: [(findings, name, nothing)] for name in (
        "wave_expressions", "exponential_expressions", "peak_expressions", "quadratics", "named_curves",
        "product_waves", "noisy_quotients",
    )}  # fmt: skip
    return written | {
        "integer_columns": [(findings.Findings, "write_integer_columns", nothing)],
        "plain_sums": [(findings.Findings, "write_sums", nothing)],
        "tuning": [(findings.Findings, "tune", nothing)],
        "function_pairs": [(Rounds, "FUNCTION_PAIRS", ())],
        "products_of_pieces": [(Rounds, "PRODUCTS", ())],
        "short_pieces": [(Rounds, "SIMPLE", ())],
        "improving": [(search, "improve", nothing)],
        "similar_functions": [(improving, "alike", nothing)],
        "plainer": [(scoring.Leaders, "plainer", lambda self, *given: self.forest.take([]))],
        "relative_frames": [(Opening, "RELATIVE_LINKS", ())],
        "functions_in_quotients": [(Quotients, "FUNCTIONS", ())],
        "likely_scales": [(Opening, "MOVES", ())],
        "weighted_fits": [(scoring.Scorer, "weighted", lambda self, data: data)],
    }


def switches() -> list[str]:
    """Return the names of the parts that are switches of the settings."""
    from edhie.search.mosaic import MosaicConfig

    return [each.name for each in fields(MosaicConfig) if each.type in (bool, "bool")]


def parts() -> list[str]:
    """Return the names of all parts."""
    return [*switches(), *_patches(), "trained_generator"]


def left_out(family: str, problem: str, number: int) -> list[str]:
    """Return the parts that a run leaves out; they follow from its name."""
    rng = np.random.default_rng([number, *f"{family} {problem}".encode()])
    return [name for name, draw in zip(parts(), rng.random(len(parts())), strict=True) if draw < LEFT_OUT]


@contextmanager
def without(names: Sequence[str]) -> Iterator[None]:
    """Leave out parts that have no switch, within this context."""
    with ExitStack() as stack:
        for name, replaced in _patches().items():
            for owner, attribute, value in replaced if name in names else ():
                stack.enter_context(patch.object(owner, attribute, value))
        yield


# -- one run ------------------------------------------------------------------------------


def run_problem(job: Row, *, folder: Path, max_time: float) -> Row:
    """Fit one table without some parts."""
    import pandas

    from edhie import EDHiERegressor
    from edhie.bench.methods import LimitedGrammar
    from edhie.corpora.recipes import Recipe
    from edhie.expr import Forest
    from edhie.generators.saving import general_for
    from edhie.search.mosaic import Mosaic, MosaicConfig
    from edhie.selection.description import describe
    from runs import timed

    table, number = table_of(job["family"], job["problem"], folder), int(job["run"])
    names = left_out(job["family"], job["problem"], number)
    config = replace(MosaicConfig(), **{name: False for name in switches() if name in names})
    n = min(len(table.names), MOST_SHIPPED)
    generator: Any = general_for(n)
    if "trained_generator" in names:
        generator = LimitedGrammar.of(Recipe("general", 1, 7, variables=n, name=f"general-{n}"))
    model = EDHiERegressor(max_time=max_time, random_state=number, generator=generator, search=Mosaic(config))
    with without(names):
        done = timed(lambda: model.fit(pandas.DataFrame(table.X, columns=list(table.names)), table.y).discoveries_[0])
    found = done.found
    bits = describe(Forest.from_exprs([each.expr for each in found.equations]), found.train).bits
    least = min(each.loss for each in found.equations) / float(np.std(table.y))
    r2 = "" if table.split is None else f"{r2_of(found.best, table.split):.6g}"
    return {
        "left_out": " ".join(names), "exact": str(int(least < EXACT)), "error": f"{least:.6g}",
        "bits": f"{float(np.min(bits)):.6g}", "r2": r2, "seconds": f"{found.result.seconds:.2f}",
        "cpu": f"{done.cpu:.1f}", "equation": f"{found.best.expr:.6g}",
    }  # fmt: skip


# -- tables -------------------------------------------------------------------------------


def scores(rows: Sequence[Row], max_time: float = 20.0) -> Numbers:
    """Return the score of each run, as described at the top."""
    least: dict[tuple[str, str], float] = {}
    for row in rows:
        key = row["family"], row["problem"]
        least[key] = min(least.get(key, np.inf), float(row["bits"]))
    found = []
    for row in rows:
        family, error = row["family"], max(float(row["error"]), 1e-300)
        if family == "feynman":
            found.append((1 - min(float(row["seconds"]) / max_time, 1.0)) if row["exact"] == "1" else 0.0)
        elif family == "deep":
            found.append(float(np.clip(-np.log10(error) / DIGITS, 0, 1)))
        elif family == "black-box":
            found.append(float(np.clip(float(row["r2"]), 0, 1)))
        else:
            found.append(1 - min((float(row["bits"]) - least[family, row["problem"]]) / BITS, 1.0))
    return np.array(found)


def relative(rows: Sequence[Row], names: Sequence[str], problems: Sequence[str]) -> tuple[Numbers, Numbers]:
    """Return which parts each run has, (runs, parts), and its score in hundredths, relative to the problem's means."""
    has = np.array([[name not in row["left_out"].split() for name in names] for row in rows], np.float64)
    both = np.column_stack([has, 100 * scores(rows)])
    _, level = np.unique(problems, return_inverse=True)
    sums = np.zeros((level.max() + 1, both.shape[1]))
    np.add.at(sums, level, both)
    both -= (sums / np.bincount(level)[:, np.newaxis])[level]
    return both[:, :-1], both[:, -1]


def effects(has: Numbers, score: Numbers) -> Numbers:
    """Return how much higher the score is with each part than without, by least squares."""
    found: Numbers = np.linalg.lstsq(has, score, rcond=None)[0]
    return found


def summary(rows: Sequence[Row]) -> str:
    """Return the page of the results: the effect of each part over all families, with its interval, and by family."""
    names, family_of = parts(), np.array([row["family"] for row in rows])
    problems = [f"{row['family']} {row['problem']}" for row in rows]
    has, score = relative(rows, names, problems)
    every, rng = effects(has, score), np.random.default_rng(0)
    groups = [np.flatnonzero(np.array(problems) == each) for each in dict.fromkeys(problems)]
    drawn = [np.concatenate([groups[k] for k in rng.integers(0, len(groups), len(groups))]) for _ in range(RESAMPLES)]
    low, high = np.quantile([effects(has[each], score[each]) for each in drawn], [0.025, 0.975], axis=0)
    families = [family for family in FAMILIES if (family_of == family).any()]
    own = [effects(has[family_of == each], score[family_of == each]) for each in families]
    lines = [
        [names[k], f"{every[k]:+.1f}", f"{low[k]:+.1f} to {high[k]:+.1f}", *(f"{each[k]:+.1f}" for each in own)]
        for k in np.argsort(-every, kind="stable").tolist()
    ]
    table = markdown(["part", "effect", "95 % interval", *families], lines)
    count = f"{len(rows)} runs of {len(groups)} problems."
    return f"# What each part of the default search adds\n\n{notes(__doc__ or '')}\n\n{count}\n\n{table}\n"


if __name__ == "__main__":
    main()
