"""Ablation of the default search: the whole search, and the search without one part, on the same problems.

python experiments/ablation.py --workers 2

36 Feynman equations that free polynomials alone do not explain, with constants, and four Nguyen equations with their
own symbols only; two seeds, 6 s each. Time is short, so that what a part saves can be seen. An equation is found if its
error is below 1e-9 of the target's standard deviation.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain
from pathlib import Path

import numpy as np

from edhie.bench.methods import METHODS, LimitedGrammar, answer_library, generator_for
from edhie.bench.problem import BenchmarkProblem, chosen, load_problems
from edhie.corpora.recipes import Recipe, named_recipe
from edhie.evaluate import Evaluator
from edhie.generators import Generator
from edhie.search import Budget, run
from edhie.search.mosaic import Mosaic, MosaicConfig
from rows import Row, run_missing
from runs import markdown, notes
from significance import Outcomes, holm, shown_interval, sign_p

RESULTS = Path(__file__).parent / "results"
EXACT = 1e-9  # error over the target's deviation: an exact answer has 1e-14, a good approximation at best 1e-8
PROBLEMS = {
    "nguyen": ("NG-5", "NG-6", "NG-9", "NG-10"),
    "feynman120": (
        "I.6.2", "I.6.2b", "I.12.11", "I.15.3x", "I.15.3t", "I.26.2", "I.29.16", "I.30.3", "I.32.17", "I.37.4",
        "I.40.1", "I.44.4", "I.50.26", "II.6.11", "II.6.15a", "II.6.15b", "II.11.17", "II.35.18", "II.35.21",
        "II.36.38", "III.4.32", "III.8.54", "III.14.14", "III.15.12", "III.17.37", "B1", "B3", "B4", "B6", "B7", "B8",
        "B13", "B14", "B15", "B17", "B19",
    ),
}  # fmt: skip
LEFT_OUT = (
    "links",
    "products",
    "scales",
    "functions",
    "quotients",
    "polynomials",
    "pairs",
    "fixed_terms",
    "evolution",
    "latent",
    "enumeration",
    "samples",
    "refits",
)
VARIANTS = ("all", "grammar", *(f"no {part}" for part in LEFT_OUT))
FIELDS = ("variant", "problem", "seed", "exact", "error", "executed", "screened", "refits", "seconds", "expression")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the missing jobs, and write the summary of the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variants", nargs="*", default=list(VARIANTS), choices=VARIANTS)
    parser.add_argument("--problems", nargs="*", default=[], help="which problems; all if none is named")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=6.0, help="for a run")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    path = options.results / "ablation.csv"
    jobs = [
        {"variant": variant, "problem": problem, "seed": str(seed)}
        for variant in options.variants
        for problem in chain(*PROBLEMS.values())
        for seed in range(options.seeds)
        if not options.problems or problem in options.problems
    ]
    rows = run_missing(partial(_run, seconds=options.seconds), jobs, path, FIELDS, workers=options.workers)
    (options.results / "ablation.md").write_text(_table(rows), encoding="utf-8")


def _run(job: Row, seconds: float) -> Row:
    variant, seed = job["variant"], int(job["seed"])
    benchmark = next(name for name, problems in PROBLEMS.items() if job["problem"] in problems)
    problem = chosen(load_problems(benchmark), [job["problem"]])[0]
    X, y = problem.data("train", seed)  # noqa: N806
    generator = generator_for(METHODS["default"], problem)
    library = answer_library(generator, strict=benchmark == "nguyen")
    source = _grammar(problem) if variant == "grammar" else generator
    part = variant.removeprefix("no ")
    config = replace(MosaicConfig(), **{part: False}) if part in LEFT_OUT else MosaicConfig()
    _warm_up(benchmark)
    found = run(
        source, Evaluator(library, X, y), strategy=Mosaic(config), budget=Budget(None, seconds=seconds), rng=seed
    )
    error = float("inf") if found.best is None else found.best.error / float(np.std(y))
    counts = found.counts
    return {
        "exact": str(int(error < EXACT)), "error": f"{error:.3g}",
        "executed": str(counts.executed), "screened": str(counts.screened), "refits": str(counts.refits),
        "seconds": f"{found.seconds:.2f}", "expression": "" if found.best is None else str(found.best.expr),
    }  # fmt: skip


def _grammar(problem: BenchmarkProblem) -> Generator:
    """Return the grammar of the generator's corpus."""
    name = f"{problem.library}-{len(problem.variables)}"
    known = problem.library == "nguyen"
    recipe = named_recipe(name) if known else Recipe("general", 1, 7, variables=len(problem.variables), name=name)
    return LimitedGrammar.of(recipe)


@cache
def _warm_up(benchmark: str) -> None:
    """Run a short search once in each process, so that compiling does not count as time of a run."""
    problem = load_problems(benchmark)[0]
    generator = generator_for(METHODS["default"], problem)
    columns = np.random.default_rng(0).uniform(1, 2, (32, len(problem.variables) + 1))
    library = answer_library(generator, strict=benchmark == "nguyen")
    run(generator, Evaluator(library, columns[:, :-1], columns[:, -1]), budget=Budget(2000, seconds=5.0))


# -- tables ---------------------------------------------------------------------------


def _table(rows: Sequence[dict[str, str]]) -> str:
    """Return a table of exact answers, mean seconds over all runs, and tests against the whole search."""
    variants = list(dict.fromkeys(row["variant"] for row in rows))
    found = {
        each: {(row["problem"], row["seed"]): row["exact"] == "1" for row in rows if row["variant"] == each}
        for each in variants
    }
    p = {each: sign_p(*_only_one(found["all"], found[each])) for each in variants[1:]} if "all" in found else {}
    corrected = dict(zip(p, holm(list(p.values())), strict=True))
    lines = []
    for each in variants:
        cells = []
        for of_nguyen in (True, False):
            its = [is_found for (name, _), is_found in found[each].items() if name.startswith("NG-") == of_nguyen]
            cells.append(f"{sum(its)} of {len(its)}")
        seconds = np.mean([float(row["seconds"]) for row in rows if row["variant"] == each])
        tests = [f"{p[each]:.2g}", f"{corrected[each]:.2g}", _difference(found, each)] if each in p else [""] * 3
        lines.append([each, *cells, f"{seconds:.1f}", *tests])
    heads = ["", "Nguyen", "Feynman", "mean seconds", "p", "p, corrected", "difference from `all`"]
    return (
        f"# What each part of the default search adds\n\n{notes(__doc__ or '')}\n\n{markdown(heads, lines)}\n\n{NOTE}\n"
    )


NOTE = """\
`all` is the whole search; `grammar` draws its pieces from the grammar instead of the trained generator; the others
leave one part out. p is that of a difference from `all`, by McNemar's exact test on the same problems and seeds; the
next column corrects it for the number of tests by Holm's method. The last column has the difference of the success
rates in percentage points, with a bootstrap over problems and seeds."""


Found = dict[tuple[str, str], bool]
"""Whether each problem was found, by problem and seed."""


def _difference(found: dict[str, Found], variant: str) -> str:
    """Return the difference of a variant's success rate from that of the whole search."""
    return shown_interval(_by_problem(found[variant]), _by_problem(found["all"]), paired=True)


def _by_problem(found: Found) -> Outcomes:
    by_problem: dict[str, list[bool]] = {}
    for (problem, _), is_found in sorted(found.items()):
        by_problem.setdefault(problem, []).append(is_found)
    return by_problem


def _only_one(first: Found, second: Found) -> tuple[int, int]:
    """Return how many problems only the first has found, and how many only the second."""
    both = [(first[each], second[each]) for each in first.keys() & second.keys()]
    return both.count((True, False)), both.count((False, True))


if __name__ == "__main__":
    main()
